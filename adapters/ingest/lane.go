package ingest

// This file has one message heard, whichever way it came. A lane is what must
// stay in order: a thread, or a conversation. A message that cannot be heard
// holds up its own lane and nobody else's, is tried again a few times, and is
// then answered in words.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

var (
	// ErrBehind says that a message waits for an earlier one of its lane.
	ErrBehind = errors.New("an earlier message of the thread is to be taken in first")
	// ErrAway says that a message could not be heard because the store is away:
	// it is tried again for as long as that takes.
	ErrAway = errors.New("the store does not answer")
)

const (
	maxTries    = 5               // in vain, before a message is answered in words
	maxLanes    = 4096            // and messages of which it is remembered how often they were tried
	probeWithin = 5 * time.Second // for the store to say whether it is there
)

// Hearing has one message heard; with the reason why that is in vain it answers
// the message in words instead, and writes it down as heard.
type Hearing func(ctx context.Context, inVain error) error

// attempt hears a message, unless an earlier one of its lane waits. One that
// failed too often although the store is there is answered in words.
func (in *Intake[E]) attempt(ctx context.Context, m Mark, hear Hearing) error {
	if in.Marks.Behind(m) {
		in.Marks.Settle(m, false)
		return ErrBehind
	}
	err := in.heard(ctx, m, hear)
	in.Marks.Settle(m, err == nil)
	return err
}

func (in *Intake[E]) heard(ctx context.Context, m Mark, hear Hearing) error {
	err := in.guarded(ctx, m.Lane, hear, nil)
	if err == nil {
		in.tries.heard(m)
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, agent.ErrBusy) { // another attempt of it may be written yet
		return err
	}
	if !in.StoreAnswers(ctx) {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	if n, spent := in.tries.failed(m); !spent {
		in.log.Warn("a message could not be taken in; it is tried again", "where", m.Lane, "tries", n, "err", err)
		return err
	}
	if other := in.guarded(ctx, m.Lane, hear, err); other != nil {
		return errors.Join(err, other)
	}
	in.tries.givenUp(m)
	in.log.Error("a message could not be taken in; it is answered in words", "where", m.Lane, "err", err)
	return nil
}

func (in *Intake[E]) guarded(ctx context.Context, lane string, hear Hearing, inVain error) error {
	return guard.Do(in.log, "a message", func() error { return hear(ctx, inVain) }, "where", lane)
}

// StoreAnswers reports whether the store is there: what fails then has another
// cause.
func (in *Intake[E]) StoreAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	return in.Marks.Answers(ctx)
}

// tries count how often messages were tried in vain. A lane in which one was
// given up has no more patience with later ones until one of them is heard.
type tries struct {
	mu    sync.Mutex
	times map[Mark]int
	lost  map[string]int64 // lanes, with the newest message that was given up
}

// failed counts an attempt, and reports whether it was the last one.
func (t *tries) failed(m Mark) (n int, spent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times == nil || len(t.times) >= maxLanes {
		t.times = map[Mark]int{m: t.times[m]}
	}
	t.times[m]++
	at, lost := t.lost[m.Lane]
	return t.times[m], t.times[m] >= maxTries || lost && m.At > at
}

// heard forgets a message, and what was given up before it in its lane.
func (t *tries) heard(m Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.times, m)
	if at, lost := t.lost[m.Lane]; lost && m.At > at {
		delete(t.lost, m.Lane)
	}
}

func (t *tries) givenUp(m Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.times, m)
	if t.lost == nil || len(t.lost) >= maxLanes {
		t.lost = map[string]int64{}
	}
	t.lost[m.Lane] = max(t.lost[m.Lane], m.At)
}
