package posting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// What the errors of a platform mean for a post: whether it happened, and when
// to try again.

// errElsewhere says that another process has to show a run.
var errElsewhere = errors.New("this process is not connected to its platform")

// The pauses before a post is tried again.
const (
	lostPause = time.Second     // after an answer that was lost; doubled each time
	mostPause = 5 * time.Minute // a revoked token is not renewed in a hurry
)

// lost reports whether it may have happened.
func lost(err error) bool {
	return errors.Is(err, bot.ErrLost) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// backoff is the pause after so many failures before.
func backoff(times int) time.Duration {
	return min(lostPause<<min(times, 16), mostPause)
}

// undetermined reports whether the platform may yet say something else.
func undetermined(err error) bool {
	_, busy := errors.AsType[*bot.BusyError](err)
	return busy || (err != nil && lost(err)) || errors.Is(err, bot.ErrRefused)
}

// missing is the error of a search, nil where it says that the place is no more.
func missing(err error) error {
	if errors.Is(err, bot.ErrGone) {
		return nil
	}
	return err
}

// unreachable is the error of a post that neither its place nor the requester
// took; what may yet become of it stays visible.
func unreachable(gone, direct error) error {
	if undetermined(direct) {
		return direct
	}
	return fmt.Errorf("%w, and the requester: %w", gone, direct)
}

// onOtherPlatform reports whether the post tells somebody of another platform than the
// report's: that one may never get connected, and others wait to be told.
func onOtherPlatform(r agent.Run, p agent.Post) bool {
	name, _, _ := strings.Cut(r.Brief.ReplyTo, ":")
	return p.Raises() && !strings.HasPrefix(card.Informed(r, p), name+":")
}
