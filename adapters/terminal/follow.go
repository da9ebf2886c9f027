package terminal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/runs"
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
func follow(ctx context.Context, j runs.Journals, run agent.RunID, out chan<- batch) {
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
		events, err := news(ctx, j, run, after)
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

// news waits for entries after the seq, except for the first, and reads them.
func news(ctx context.Context, j runs.Journals, run agent.RunID, after uint64) ([]agent.Event, error) {
	if after > 0 {
		if err := j.Await(ctx, run, after); err != nil {
			return nil, err
		}
	}
	return j.Read(ctx, run, after)
}
