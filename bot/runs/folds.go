package runs

import (
	"context"
	"fmt"
	"sync"

	"github.com/deckhand-bot/deckhand/agent"
)

// maxFolds is how many runs the desk remembers.
const maxFolds = 256

// folds keeps the newest folds of the runs that were looked at last. The zero
// value is empty and may be used from many goroutines.
type folds struct {
	mu   sync.Mutex
	runs map[agent.RunID]*kept
	uses uint64
}

type kept struct {
	run  agent.Run
	used uint64
}

// known is the fold that is remembered, of Seq 0 if there is none.
func (f *folds) known(id agent.RunID) agent.Run {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.runs[id]
	if k == nil {
		return agent.Run{}
	}
	f.uses++
	k.used = f.uses
	return k.run
}

// keep remembers a fold, in place of the one that was used longest ago.
func (f *folds) keep(id agent.RunID, r agent.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.uses++
	if f.runs == nil {
		f.runs = map[agent.RunID]*kept{}
	}
	if k := f.runs[id]; k != nil {
		if r.Seq > k.run.Seq {
			k.run = r
		}
		k.used = f.uses
		return
	}
	if len(f.runs) >= maxFolds {
		oldest, least := id, f.uses
		for other, k := range f.runs {
			if k.used < least {
				oldest, least = other, k.used
			}
		}
		delete(f.runs, oldest)
	}
	f.runs[id] = &kept{r, f.uses}
}

func (f *folds) forget(id agent.RunID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.runs, id)
}

// Load is the run's newest fold. It reads what is newer than the fold that the
// desk remembers; where the newest event that it knows is not there any more (a
// store that lost what it had acknowledged), it begins anew.
func (d *Client) Load(ctx context.Context, run agent.RunID) (agent.Run, error) {
	r := d.folds.known(run)
	events, err := d.Journals.Read(ctx, run, max(r.Seq, 1)-1)
	if r.Seq > 0 && err == nil {
		if len(events) > 0 && events[0].Seq == r.Seq && events[0].At.Equal(r.Last) {
			events = events[1:]
		} else {
			d.folds.forget(run)
			r = agent.Run{}
			events, err = d.Journals.Read(ctx, run, 0)
		}
	}
	if err != nil {
		d.folds.forget(run)
		return agent.Run{}, fmt.Errorf("run %s: %w", run, err)
	}
	r = r.Fold(events)
	d.folds.keep(run, r)
	return r, nil
}
