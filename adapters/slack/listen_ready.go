package slack

import (
	"context"
	"errors"
	"fmt"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// patience is how long the adapter waits for what.
type patience struct {
	hello   time.Duration // for a connection to be greeted
	silence time.Duration // without a ping a connection is dead
	drain   time.Duration // an old connection stays open beside the new one
	gap     time.Duration // without any connection: longer, and messages are read back
	failed  time.Duration // after an event could not be heard, for Slack to send it again
	save    time.Duration // between two notes of what was read
	first   time.Duration // the first pause between attempts
	longest time.Duration // and the last
}

func defaultPatience() patience {
	return patience{hello: 10 * time.Second, silence: 30 * time.Second, drain: 15 * time.Second, gap: 10 * time.Second,
		failed: 15 * time.Second, save: 5 * time.Second, first: 250 * time.Millisecond, longest: time.Minute}
}

// pauses lie between attempts, and are longer where Slack asks for more.
func (p patience) pauses() ingest.Backoff {
	return ingest.Backoff{First: p.first, Longest: p.longest, Asked: func(err error) time.Duration {
		if busy, is := errors.AsType[*slackapi.RateLimitedError](err); is {
			return busy.RetryAfter
		}
		return 0
	}}
}

// Ready is nil while events come in.
func (s *Slack) Ready() error {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	switch {
	case s.in.work == nil:
		return errors.New("not listening to Slack yet")
	case s.in.refused != nil:
		return s.in.refused
	case s.cfg.AppToken != "" && s.in.links == 0 && s.in.trouble != nil:
		return fmt.Errorf("not connected to Slack: %w", s.in.trouble)
	case s.cfg.AppToken != "" && s.in.links == 0:
		return errors.New("connecting to Slack")
	}
	return nil
}

// linked notes a connection. After a while without any, or at the start, what
// was missed is owed.
func (in *intake) linked(now time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.links++
	in.trouble = nil
	if in.links == 1 && (in.lost.IsZero() || now.Sub(in.lost) > in.times.gap) {
		in.missed.Hold()
		in.missed.NoteGap()
	}
}

func (in *intake) unlinked(err error, now time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.links--; in.links == 0 {
		in.lost, in.trouble = now, err
	}
}

func (in *intake) troubled(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.links == 0 {
		in.trouble = err
	}
}

// connected reports whether events can come in.
func (s *Slack) connected() bool { return s.Ready() == nil }

// noteCall learns from a call's result whether the bot's token still works.
func (s *Slack) noteCall(err error) {
	code := codeOf(err)
	if err != nil && !tokenRefused(code) {
		return
	}
	s.in.mu.Lock()
	before := s.in.refused
	s.in.refused = nil
	if err != nil {
		s.in.refused = fmt.Errorf("SLACK_BOT_TOKEN is refused (%s): %w; install the app again and set the new token", code, bot.ErrRefused)
	}
	s.in.mu.Unlock()
	if err != nil && before == nil {
		s.log.Error("Slack refuses the bot's token; trying again until it is accepted", "variable", "SLACK_BOT_TOKEN", "error", code)
		ingest.Signal(s.in.revoked)
	}
}

// mend asks again and again while the token is refused.
func (s *Slack) mend(ctx context.Context) {
	for {
		select {
		case <-s.in.revoked:
		case <-ctx.Done():
			return
		}
		wait := s.in.times.pauses()
		for {
			_, err := s.api.AuthTestContext(ctx)
			s.noteCall(err)
			if err == nil {
				s.log.Info("Slack accepts the bot's token again", "variable", "SLACK_BOT_TOKEN")
				s.in.missed.NoteGap()
				break
			}
			if !ingest.Sleep(ctx, wait.After(err)) {
				return
			}
		}
	}
}
