// Package past looks up what earlier runs of a goal came to.
//
//	past.go  Looker: a run's memory of those before it
package past

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// Bounds of what is read of earlier runs.
const (
	maxEpisodes = 8
	maxRecalled = 1000 // newest events of each journal when its run ended
	maxNames    = 4 * maxEpisodes
)

// Looker looks up earlier runs.
type Looker struct {
	Journals interface {
		Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error)
	}
	Names interface {
		Values(ctx context.Context, prefix string) (map[string]string, error)
	}
	Log *slog.Logger
}

// Look looks up earlier runs of the goal before the run's first model call. It
// returns what they came to, with a finding for each failure that came before
// (L12), to be journalled, and the names that are to be given up. It costs one
// look at the store's names where there are none.
func (r Looker) Look(ctx context.Context, view *agent.Run) (found []agent.Body, old []string, err error) {
	if view.Plans > 0 || view.Strands.Of(agent.Main).Calls > 0 || view.Recalled != nil {
		return nil, nil, nil
	}
	names, err := r.Names.Values(ctx, agent.GoalPrefix(view.Brief))
	if err != nil {
		return nil, nil, err
	}
	old = oldNames(names)
	var past []reflect.Episode
	for _, p := range agent.Newest(names, maxEpisodes) {
		e, known, err := r.readEpisode(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		if known {
			e.Own = e.Own && e.Requester == view.Brief.Requester && e.Requester != ""
			e.Goal = view.Brief.Goal // the name says so; the journal's beginning may not have been read
			past = append(past, e)
		}
	}
	if len(past) == 0 {
		return nil, old, nil
	}
	recalled := reflect.Recall(view.Brief.Goal, past)
	found = []agent.Body{recalled}
	for _, p := range recalled.Precedents {
		found = append(found, reflect.Precedes(p))
	}
	return found, old, nil
}

// readEpisode reads how a run ended; known is false where nobody can tell any more.
func (r Looker) readEpisode(ctx context.Context, p agent.Past) (e reflect.Episode, known bool, err error) {
	events, err := r.Journals.Read(ctx, p.Run, p.Length-min(p.Length, maxRecalled))
	var entry *agent.EntryError
	switch {
	case errors.Is(err, agent.ErrNoRun): // it has just expired
		return e, false, nil
	case errors.As(err, &entry):
		r.Log.Warn("an earlier run of the goal cannot be read to its end; going on with what can be", "run", p.Run, "err", err)
	case err != nil:
		return e, false, err
	}
	e = reflect.Remember(events)
	e.Own = e.Own && err == nil // what cannot be read may be anybody's
	return e, e.State != "", nil
}

// oldNames are the oldest names of a goal that has many: only the newest count,
// and a look at them must not cost more with every run.
func oldNames(names map[string]string) []string {
	if len(names) <= maxNames {
		return nil
	}
	return slices.Sorted(maps.Keys(names))[:len(names)-maxNames/2]
}
