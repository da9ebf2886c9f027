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

// The pauses before a place is tried again that does not take a post, doubled
// each time, and how long after a run's end that goes on.
const (
	barredPause  = 30 * time.Second
	longestPause = time.Hour
	giveUpAfter  = 7 * 24 * time.Hour
)

// pauseAfter is the pause after so many tries.
func pauseAfter(tries int) time.Duration {
	return min(barredPause<<min(max(tries-1, 0), 16), longestPause)
}

// over reports whether nobody waits for the run's posts any more.
func over(r agent.Run, now time.Time) bool {
	return r.Ended != nil && now.Sub(r.Finished) > giveUpAfter
}

// pending is the outcome of a post that its place does not take now, and that
// nobody could be told elsewhere: it is tried again after growing pauses, and
// when the bot is let in.
func pending(r agent.Run, p agent.Post, err error, now time.Time) agent.Result {
	tries := r.Shown[p.Key].Tries + 1
	text := agent.Shown{Failed: err.Error(), Again: now.Add(pauseAfter(tries)).UTC(), Tries: tries}.Text()
	return agent.Result{State: agent.OutcomeError, Trust: agent.Trusted, Text: text}
}

// againAtHome is what was told elsewhere, with the time from which its own place
// is tried. A card stays where it is: its run lives there from then on.
func againAtHome(p agent.Post, s agent.Shown, why error) agent.Shown {
	if errors.Is(why, bot.ErrBarred) && p.Kind != agent.PostCard && p.To == "" && !p.Reminds() {
		s.Again, s.Tries = time.Now().Add(barredPause).UTC(), 1
	}
	return s
}

// waitsForPlace reports whether a post that its place does not take is tried
// again by its outcome. A scheduled report is raised instead, and nobody waits
// long for a file that came with a goal.
func waitsForPlace(p agent.Post) bool {
	return p.Kind != agent.PostScheduled && p.Kind != agent.PostAttach
}

// outOfReach reports whether the place took nothing, for now or for good.
func outOfReach(err error) bool { return errors.Is(err, bot.ErrGone) || errors.Is(err, bot.ErrBarred) }

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

// missing is the error of a search, nil where it says that the bot cannot look.
func missing(err error) error {
	if outOfReach(err) {
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
