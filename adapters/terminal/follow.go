package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// batch is what was new in the journal, or why it could not be read. A trouble
// is told and tried again, an err ends it.
type batch struct {
	events  []agent.Event
	trouble string
	err     error
}

// How long a store may be away before watching is given up, and the longest
// pause between two attempts.
const (
	patience = time.Minute
	maxPause = 5 * time.Second
)

// follow sends the journal's events from the first on, until ctx ends or the
// journal cannot be read. A store that is away for less than a minute is no
// reason to stop.
func follow(ctx context.Context, j Journal, run agent.RunID, out chan<- batch) {
	var after uint64
	var since time.Time
	pause := maxPause / 64
	send := func(b batch) {
		select {
		case out <- b:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		events, err := newer(ctx, j, run, after)
		if len(events) > 0 {
			after = events[len(events)-1].Seq
			send(batch{events: events})
		}
		if err == nil {
			since, pause = time.Time{}, maxPause/64
			continue
		}
		var entry *agent.EntryError
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &entry), errors.Is(err, agent.ErrNoRun), !since.IsZero() && time.Since(since) > patience:
			send(batch{err: fmt.Errorf("watch run %s: %w", run, err)})
			return
		case since.IsZero():
			since = time.Now()
			send(batch{trouble: fmt.Sprintf("the store does not answer (%v); trying again", err)})
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, maxPause)
	}
}

// newer waits for entries after the seq, except for the first, and reads them.
func newer(ctx context.Context, j Journal, run agent.RunID, after uint64) ([]agent.Event, error) {
	if after > 0 {
		if err := j.Await(ctx, run, after); err != nil {
			return nil, err
		}
	}
	return j.Read(ctx, run, after)
}

// executes reports whether a model is being asked or a tool runs.
func executes(r agent.Run) bool {
	for _, s := range r.Strands.All() {
		if !s.Ended && (s.Call != nil || slices.ContainsFunc(openCalls(s), func(c agent.OpenCall) bool {
			return c.Intent != nil && c.Until.IsZero() && !asks(r, c.Checkpoint)
		})) {
			return true
		}
	}
	return false
}

// openCalls are the strand's open calls, of all its conversations.
func openCalls(s agent.Strand) []agent.OpenCall {
	var open []agent.OpenCall
	for _, in := range s.Talks {
		open = append(open, in.Talk.Open...)
	}
	return open
}
