// Package past looks up what earlier runs of a goal came to, and what else is
// remembered that bears on the work ahead; and keeps what a run leaves.
//
//	past.go  Looker: a run's memory of those before it
package past

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/recollect"
	"github.com/deckhand-bot/deckhand/agent/records"
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
	// Memory is what else outlives runs; nil: nothing.
	Memory records.Memory
	Log    *slog.Logger
}

// Look looks up, before the first question of a strand, what bears on its work:
// for the run earlier runs of the goal, with a finding for each failure that came
// before (L12), and what else is remembered; for a task the latter. It returns
// what is to be journalled, and the names that are to be given up. It costs one
// look at the store's names where there are none.
func (r Looker) Look(ctx context.Context, view *agent.Run, s agent.StrandID) (found []agent.Body, old []string, err error) {
	if _, task := s.Task(); task {
		return r.lookForTask(ctx, view, s), nil, nil
	}
	if s != agent.Main || view.Plans > 0 || view.Strands.Of(agent.Main).Calls > 0 || view.Recalled != nil {
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
	recalled := reflect.Recall(view.Brief.Goal, past)
	recalled.Records, recalled.Scores = r.recollect(ctx, view, s, recalled.Episodes)
	if len(past) == 0 && len(recalled.Records) == 0 {
		return nil, old, nil
	}
	found = []agent.Body{recalled}
	for _, p := range recalled.Precedents {
		found = append(found, reflect.Precedes(p))
	}
	return found, old, nil
}

// lookForTask looks up what bears on a task.
func (r Looker) lookForTask(ctx context.Context, view *agent.Run, s agent.StrandID) []agent.Body {
	if agent.RecalledFor(view, s) != nil {
		return nil
	}
	var told []agent.Episode
	if view.Recalled != nil {
		told = view.Recalled.Episodes
	}
	if list, scores := r.recollect(ctx, view, s, told); len(list) > 0 {
		return []agent.Body{agent.Recalled{Records: list, Scores: scores}}
	}
	return nil
}

// recollect looks up what is remembered beside earlier runs of the goal, which are
// told anyway. It is a help: without it the run goes on.
func (r Looker) recollect(ctx context.Context, view *agent.Run, s agent.StrandID, told []agent.Episode) ([]agent.Remembered, []float64) {
	if r.Memory == nil || view.Strands.Of(s).Calls > 0 {
		return nil, nil
	}
	list, scores, err := recollect.Before(ctx, r.Memory, view, s, told)
	if err != nil {
		r.Log.Warn("cannot look up what is remembered; the run goes on without", "run", view.ID, "err", err)
	}
	return list, scores
}

// Keep writes down what came of a run that is about to end. A second attempt
// writes nothing twice.
func (r Looker) Keep(ctx context.Context, view *agent.Run, at time.Time) {
	if r.Memory == nil {
		return
	}
	list := recollect.After(view, at)
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recollect.Patience)
	defer cancel()
	if err := r.Memory.Keep(ctx, false, list...); err != nil {
		r.Log.Warn("cannot keep what came of a run", "run", view.ID, "err", err)
	}
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
