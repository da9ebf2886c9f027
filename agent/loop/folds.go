package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// foldVersion changes whenever Apply gives another Run for the same journal:
// snapshots of other versions are not read.
const foldVersion = 11

// The cache keeps this many folds, and a journal gets a snapshot each time it
// has grown by this many events.
const (
	maxFolds      = 4096
	snapshotEvery = 256
	remembered    = 600 // events before a snapshot that detectors look at again
)

// folds keeps the newest folds of the runs that were worked last, so that a
// step reads only what is newer.
type folds struct {
	store agent.Store
	blobs Blobs
	log   *slog.Logger

	mu   sync.Mutex
	runs map[agent.RunID]*fold
	old  []agent.RunID // in the order of their first use, for eviction
}

type fold struct {
	mu    sync.Mutex
	run   agent.Run
	kept  uint64          // seq of the newest snapshot
	trace reflect.Journal // what the strands did, as far as this process saw it
	talks map[agent.StrandID]prompt.Rendering
}

type snapshot struct {
	Version int       `json:"version"`
	Run     agent.Run `json:"run"`
}

func newFolds(store agent.Store, blobs Blobs, log *slog.Logger) *folds {
	return &folds{store: store, blobs: blobs, log: log, runs: map[agent.RunID]*fold{}}
}

func (f *folds) entry(run agent.RunID) *fold {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.runs[run]
	if e == nil {
		if len(f.runs) >= maxFolds {
			delete(f.runs, f.old[0])
			f.old = f.old[1:]
		}
		e = &fold{}
		f.runs[run] = e
		f.old = append(f.old, run)
	}
	return e
}

// load returns the run's newest fold.
func (f *folds) load(ctx context.Context, run agent.RunID) (agent.Run, error) {
	e := f.entry(run)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run.Seq == 0 {
		f.restore(ctx, run, e)
	}
	err := f.catchUp(ctx, run, e)
	return e.run, err
}

// restore begins with the kept snapshot, if this build can read it.
func (f *folds) restore(ctx context.Context, run agent.RunID, e *fold) {
	seq, data, err := f.blobs.Snapshot(ctx, run)
	if err != nil || seq == 0 {
		return // the journal alone is enough
	}
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil || s.Version != foldVersion || s.Run.Seq != seq {
		f.log.Info("snapshot of another version is not used", "run", run, "seq", seq)
		return
	}
	e.run, e.kept = s.Run, seq
	// What was done shortly before still counts for stuck detection.
	recent, err := f.store.Read(ctx, run, seq-min(seq, remembered))
	if err != nil {
		return // catchUp reports it
	}
	for _, ev := range recent {
		if ev.Seq <= seq {
			e.trace.Apply(ev)
		}
	}
}

// catchUp folds what is newer. It looks whether the newest event that it knows
// is still there: a server that was killed, or a replica that took its place,
// may have lost what it had acknowledged, and a fold of that would wait for
// ever for what is not going to happen.
func (f *folds) catchUp(ctx context.Context, run agent.RunID, e *fold) error {
	known := e.run
	events, err := f.store.Read(ctx, run, max(known.Seq, 1)-1)
	if err != nil {
		return err
	}
	if known.Seq > 0 {
		if len(events) > 0 && events[0].Seq == known.Seq && events[0].At.Equal(known.Last) {
			events = events[1:]
		} else {
			f.log.Error("the store has lost events that it had acknowledged; going on with what it has", "run", run, "known", known.Seq)
			e.run, e.kept, e.trace = agent.Run{}, 0, reflect.Journal{}
			if events, err = f.store.Read(ctx, run, 0); err != nil {
				return err
			}
		}
	}
	for _, ev := range events {
		e.apply(ev)
	}
	return nil
}

func (e *fold) apply(ev agent.Event) {
	e.run = e.run.Apply(ev)
	e.trace.Apply(ev)
}

// stuck judges what the strand did, with a batch that is not committed yet.
func (f *folds) stuck(run agent.RunID, s agent.StrandID, batch []agent.Event, at time.Time) []agent.Finding {
	e := f.entry(run)
	e.mu.Lock()
	defer e.mu.Unlock()
	trial := e.trace.Fork(s)
	for i, ev := range batch {
		ev.Run, ev.Seq, ev.At = run, e.run.Seq+uint64(i)+1, at
		trial.Apply(ev)
	}
	return reflect.Watch(trial.Trace(s), reflect.Defaults(), e.run.Findings)
}

// advance folds events that were just committed and returns the newest fold.
func (f *folds) advance(ctx context.Context, run agent.RunID, receipt agent.Receipt, events []agent.Event) (agent.Run, error) {
	e := f.entry(run)
	e.mu.Lock()
	defer e.mu.Unlock()
	first := receipt.Seq - uint64(len(events)) + 1
	switch {
	case e.run.Seq >= receipt.Seq:
	case e.run.Seq+1 == first:
		for i, ev := range events {
			ev.Run, ev.Seq, ev.At = run, first+uint64(i), receipt.At
			e.apply(ev)
		}
	default: // others wrote in between
		if err := f.catchUp(ctx, run, e); err != nil {
			return agent.Run{}, err
		}
	}
	return e.run, nil
}

// takeTalk hands out the strand's rendered conversation; whoever has it is the
// only one to add to it.
func (f *folds) takeTalk(run agent.RunID, s agent.StrandID) prompt.Rendering {
	e := f.entry(run)
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.talks[s]
	delete(e.talks, s)
	return d
}

// putTalk keeps a rendered conversation for the strand's next turn.
func (f *folds) putTalk(run agent.RunID, s agent.StrandID, d prompt.Rendering) {
	e := f.entry(run)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run.Strands[s].Ended || e.run.Ended != nil {
		return
	}
	if e.talks == nil {
		e.talks = map[agent.StrandID]prompt.Rendering{}
	}
	e.talks[s] = d
}

// keep writes a snapshot where the journal has grown enough since the last.
func (f *folds) keep(ctx context.Context, run agent.RunID) error {
	e := f.entry(run)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run.Seq < e.kept+snapshotEvery || e.run.Ended != nil {
		return nil
	}
	data, err := format.JSON(snapshot{Version: foldVersion, Run: e.run}) // arguments and values come back byte for byte
	if err != nil {
		return fmt.Errorf("snapshot of run %s: %w", run, err)
	}
	if err := f.blobs.KeepSnapshot(ctx, run, e.run.Seq, data); err != nil {
		return err
	}
	e.kept = e.run.Seq
	return nil
}
