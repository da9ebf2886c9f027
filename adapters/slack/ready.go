package slack

// This file keeps the connection to Slack, takes envelopes from it for whoever
// listens, and says whether events come in. A while without any connection is
// noted, so that the messages missed meanwhile are read back.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/socket"
)

// envelope is something from Slack that was proved to be from Slack. Done is
// called once: without an error it is written down, or of no concern, and can
// be acknowledged, with what Slack is to do at once (nil: nothing).
type envelope struct {
	kind    string
	payload []byte
	again   bool // it was delivered before
	done    func(now json.RawMessage, err error)
}

// intake is the state of the listening side.
type intake struct {
	ingest.Intake[envelope]

	times timeouts

	mu      sync.Mutex
	links   int       // connections that are open
	lost    time.Time // when the last of them went
	trouble error     // why there is none
}

// timeouts are how long the adapter waits for what.
type timeouts struct {
	socket.Times

	gap    time.Duration // without any connection: longer, and messages are read back
	failed time.Duration // after an event could not be heard, for Slack to send it again
	save   time.Duration // between two notes of what was read
	// parents is how long before the bot went threads may have begun in which it
	// is looked for replies that were missed: a channel's history shows only in
	// which threads there are some.
	parents time.Duration
	first   time.Duration // the first pause between attempts
	longest time.Duration // and the last
}

func defaultTimeouts() timeouts {
	return timeouts{Times: socket.Times{Hello: 10 * time.Second, Silence: 30 * time.Second, Drain: 15 * time.Second},
		gap: 10 * time.Second, failed: 15 * time.Second, save: 5 * time.Second, parents: 7 * 24 * time.Hour, first: 250 * time.Millisecond, longest: time.Minute}
}

// backoff lies between attempts, and is longer where Slack asks for more.
func (t timeouts) backoff() ingest.Backoff {
	return ingest.NewBackoff(t.first, t.longest, func(err error) time.Duration {
		if busy, is := errors.AsType[*slackapi.RateLimitedError](err); is {
			return busy.RetryAfter
		}
		return 0
	})
}

// take gives an envelope to whoever listens.
func (in *intake) take(e envelope) {
	if err := in.Take(e); err != nil {
		e.done(nil, err)
	}
}

// Ready is nil while events come in.
func (s *Slack) Ready() error {
	if !s.in.Listening() {
		return errors.New("not listening to Slack yet")
	}
	if err := s.in.Token.Refused(); err != nil {
		return err
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	switch {
	case s.cfg.AppToken == "" || s.in.links > 0:
		return nil
	case s.in.trouble != nil:
		return fmt.Errorf("not connected to Slack: %w", s.in.trouble)
	}
	return errors.New("connecting to Slack")
}

// connected reports whether events can come in.
func (s *Slack) connected() bool { return s.Ready() == nil }

// recheckToken asks again and again while the token is refused; after that,
// something was missed.
func (s *Slack) recheckToken(ctx context.Context) {
	s.in.Token.Recheck(ctx, s.in.times.backoff(), s.TryToken, func() {
		s.log.Info("Slack accepts the bot's token again", "variable", "SLACK_BOT_TOKEN")
		s.in.Missed.NoteGap()
	})
}

// connect keeps a connection of Socket Mode until ctx ends.
func (s *Slack) connect(ctx context.Context) error {
	return socket.Run(ctx, socket.Config{
		Open: s.OpenSocket,
		Take: func(kind string, payload []byte, again bool, done func(json.RawMessage, error)) {
			s.in.take(envelope{kind: kind, payload: payload, again: again, done: done})
		},
		Links: &s.in, Times: s.in.times.Times, Backoff: s.in.times.backoff(), Log: s.log, Limited: &s.in.Log,
	})
}

// Linked notes a connection. After a while without any, or at the start,
// something was missed.
func (in *intake) Linked() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.links++
	in.trouble = nil
	if in.links == 1 && (in.lost.IsZero() || time.Since(in.lost) > in.times.gap) {
		in.Missed.Hold()
		in.Missed.NoteGap()
	}
}

// Unlinked notes that a connection ended.
func (in *intake) Unlinked(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.links--; in.links == 0 {
		in.lost, in.trouble = time.Now(), err
	}
}

// Troubled notes that no connection came about.
func (in *intake) Troubled(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.links == 0 {
		in.trouble = err
	}
}
