package loop

import (
	"context"
	"errors"
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

// recaller looks up earlier runs of the goal.
type recaller struct{ *turn }

// recall looks up earlier runs of the goal before the run's first model call
// and journals what they came to, with a finding for each failure that came
// before (L12). It costs one look at the store's names where there are none.
func (r recaller) recall(ctx context.Context, view *agent.Run) error {
	if r.lease.Strand != agent.Main || view.Plans > 0 || view.Strands.Of(agent.Main).Calls > 0 || view.Recalled != nil {
		return nil
	}
	names, err := r.Blobs.Values(ctx, agent.GoalPrefix(view.Brief))
	if err != nil {
		return err
	}
	r.dropOldNames(names)
	var past []reflect.Episode
	for _, p := range agent.Newest(names, maxEpisodes) {
		e, known, err := r.readEpisode(ctx, p)
		if err != nil {
			return err
		}
		if known {
			e.Goal = view.Brief.Goal // the name says so; the journal's beginning may not have been read
			past = append(past, e)
		}
	}
	if len(past) == 0 {
		return nil
	}
	recalled := reflect.Recall(view.Brief.Goal, past)
	r.event(recalled)
	for _, p := range recalled.Precedents {
		r.event(reflect.Precedes(p))
	}
	return nil
}

// readEpisode reads how a run ended; known is false where nobody can tell any more.
func (r recaller) readEpisode(ctx context.Context, p agent.Past) (e reflect.Episode, known bool, err error) {
	events, err := r.Store.Read(ctx, p.Run, p.Length-min(p.Length, maxRecalled))
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
	return e, e.State != "", nil
}

// dropOldNames drops the oldest names of a goal that has many: only the newest count,
// and a look at them must not cost more with every run.
func (r recaller) dropOldNames(names map[string]string) {
	if len(names) <= maxNames {
		return
	}
	sorted := slices.Sorted(maps.Keys(names))
	r.names = map[string]string{}
	for _, old := range sorted[:len(sorted)-maxNames/2] {
		r.names[old] = ""
	}
}
