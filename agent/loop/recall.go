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

// recall looks up earlier runs of the goal before the run's first model call
// and journals what they came to, with a finding for each failure that came
// before (L12). It costs one look at the store's names where there are none.
func (t *turn) recall(ctx context.Context, view agent.Run) error {
	if t.lease.Strand != agent.Main || view.Plans > 0 || view.Strands[agent.Main].Calls > 0 || view.Recalled != nil {
		return nil
	}
	names, err := t.Blobs.Values(ctx, agent.GoalPrefix(view.Brief))
	if err != nil {
		return err
	}
	t.forget(names)
	var past []reflect.Episode
	for _, p := range agent.Newest(names, maxEpisodes) {
		e, known, err := t.remember(ctx, p)
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
	t.event(recalled)
	for _, p := range recalled.Precedents {
		t.event(reflect.Precedes(p))
	}
	return nil
}

// remember reads how a run ended; known is false where nobody can tell any more.
func (t *turn) remember(ctx context.Context, p agent.Past) (e reflect.Episode, known bool, err error) {
	events, err := t.Store.Read(ctx, p.Run, p.Length-min(p.Length, maxRecalled))
	var entry *agent.EntryError
	switch {
	case errors.Is(err, agent.ErrNoRun): // it has just expired
		return e, false, nil
	case errors.As(err, &entry):
		t.Log.Warn("an earlier run of the goal cannot be read to its end; going on with what can be", "run", p.Run, "err", err)
	case err != nil:
		return e, false, err
	}
	e = reflect.Remember(events)
	return e, e.State != "", nil
}

// forget drops the oldest names of a goal that has many: only the newest count,
// and a look at them must not cost more with every run.
func (t *turn) forget(names map[string]string) {
	if len(names) <= maxNames {
		return
	}
	sorted := slices.Sorted(maps.Keys(names))
	t.names = map[string]string{}
	for _, old := range sorted[:len(sorted)-maxNames/2] {
		t.names[old] = ""
	}
}

// naming are the names that the batch sets: of threads that it opened, of a
// goal's run that ends with it, and those that are given up.
func (t *turn) naming() map[string]string {
	names := t.stir()
	ended, is := "", false
	if t.ends {
		ended, is = t.view().GoalName()
	}
	if len(t.names) == 0 && !is {
		return names
	}
	all := map[string]string{}
	maps.Copy(all, t.names)
	maps.Copy(all, names)
	if is {
		all[ended] = string(t.lease.Run)
	}
	return all
}
