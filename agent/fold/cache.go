package fold

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Journals is where a Cache reads; every store is one.
type Journals interface {
	Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error)
}

// Observer is what the user of a Cache keeps beside a run: it sees every event
// that the fold sees, in order, and begins anew where the fold does.
type Observer interface {
	Apply(e agent.Event)
}

// None is the Observer of those who need nothing but the run.
type None struct{}

// Apply does nothing.
func (None) Apply(agent.Event) {}

// Config wires a Cache.
type Config struct {
	Journals  Journals
	Snapshots Snapshots    // nil: folds begin with the journal
	Log       *slog.Logger // nil: nothing is logged
	Most      int          // folds that are kept
}

// Cache keeps the folds of the runs that were used last, each with an Observer
// that observe makes. It may be used from many goroutines; those who use the
// same run take turns.
type Cache[O Observer] struct {
	Config
	observe func() O

	mu   sync.Mutex
	runs map[agent.RunID]*list.Element // of *entry[O]
	used list.List                     // the run that was used last in front
}

type entry[O Observer] struct {
	id agent.RunID

	mu       sync.Mutex
	run      agent.Run
	stamps   []int64 // of the newest entries, up to run.Seq, in ns since 1970
	kept     uint64  // seq of the newest snapshot
	observer O
}

// New is an empty Cache. Observe makes the Observer of a run whose fold begins.
func New[O Observer](c Config, observe func() O) *Cache[O] {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Cache[O]{Config: c, observe: observe, runs: map[agent.RunID]*list.Element{}}
}

// entry is the run's place in the cache. A new one takes the place of the run
// that was used longest ago.
func (c *Cache[O]) entry(id agent.RunID) *entry[O] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := c.runs[id]; known {
		c.used.MoveToFront(at)
		return at.Value.(*entry[O]) //nolint:errcheck,forcetypeassert // the list holds nothing else
	}
	if c.used.Len() >= c.Most {
		oldest := c.used.Remove(c.used.Back()).(*entry[O]) //nolint:errcheck,forcetypeassert // the list holds nothing else
		delete(c.runs, oldest.id)
	}
	e := &entry[O]{id: id, observer: c.observe()}
	c.runs[id] = c.used.PushFront(e)
	return e
}

// forget drops the run.
func (c *Cache[O]) forget(id agent.RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := c.runs[id]; known {
		c.used.Remove(at)
		delete(c.runs, id)
	}
}

// Load returns the run's newest fold. Where the journal cannot be read, the
// error comes with what was folded before; a run that is gone is forgotten.
func (c *Cache[O]) Load(ctx context.Context, id agent.RunID) (agent.Run, error) {
	e := c.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	err := c.renew(ctx, e)
	if err != nil && e.run.Seq == 0 || errors.Is(err, agent.ErrNoRun) {
		c.forget(id)
	}
	return e.run, err
}

// LoadAt is Load for who knows what the journal's newest event is: nothing is
// read where the fold has come exactly that far. The zero Receipt says nothing.
func (c *Cache[O]) LoadAt(ctx context.Context, id agent.RunID, head agent.Receipt) (agent.Run, error) {
	e := c.entry(id)
	e.mu.Lock()
	run := e.run
	e.mu.Unlock()
	if run.Seq > 0 && run.Seq == head.Seq && run.Last.Equal(head.At) {
		return run, nil
	}
	return c.Load(ctx, id)
}

// Peek is the run's newest fold, which the cache does not keep.
func (c *Cache[O]) Peek(ctx context.Context, id agent.RunID) (agent.Run, error) {
	e := &entry[O]{id: id, observer: c.observe()}
	err := c.renew(ctx, e)
	return e.run, err
}

// Advance folds events that were just committed and returns the newest fold. An
// event that is known by its seq and stamp stands for all before it: where the
// receipt says that the commit came behind another one than the fold ends with,
// the journal is asked.
func (c *Cache[O]) Advance(ctx context.Context, id agent.RunID, r agent.Receipt, committed []agent.Event) (agent.Run, error) {
	e := c.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	before := r.Seq - uint64(len(committed))
	switch {
	case !e.knows(before, r.Before): // others wrote in between, or the store has lost what is folded
	case e.run.Seq == before:
		for i, ev := range committed {
			ev.Run, ev.Seq, ev.At = id, before+uint64(i)+1, r.At
			e.apply(ev)
		}
		return e.run, nil
	case before == r.Seq || e.knows(r.Seq, r.At): // others folded further already
		return e.run, nil
	}
	if err := c.catchUp(ctx, e); err != nil {
		return agent.Run{}, err
	}
	return e.run, nil
}

// Use hands out the fold as it is known, with its Observer, for as long as the
// function runs: it must not use the Cache.
func (c *Cache[O]) Use(id agent.RunID, use func(r agent.Run, o O)) {
	e := c.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	use(e.run, e.observer)
}

func (c *Cache[O]) renew(ctx context.Context, e *entry[O]) error {
	if e.run.Seq == 0 {
		c.restore(ctx, e)
	}
	return c.catchUp(ctx, e)
}

// catchUp folds what is newer. It looks whether the newest event that it knows
// is still there: a server that was killed, or a replica that took its place,
// may have lost what it had acknowledged, and a fold of that would wait for
// ever for what is not going to happen.
func (c *Cache[O]) catchUp(ctx context.Context, e *entry[O]) error {
	known := e.run
	events, err := c.Journals.Read(ctx, e.id, max(known.Seq, 1)-1)
	if err != nil {
		return err
	}
	if known.Seq > 0 {
		if len(events) > 0 && events[0].Seq == known.Seq && events[0].At.Equal(known.Last) {
			events = events[1:]
		} else {
			c.Log.Error("the store has lost events that it had acknowledged; going on with what it has", "run", e.id, "known", known.Seq)
			e.run, e.stamps, e.kept, e.observer = agent.Run{}, nil, 0, c.observe()
			if events, err = c.Journals.Read(ctx, e.id, 0); err != nil {
				return err
			}
		}
	}
	for _, ev := range events {
		e.apply(ev)
	}
	return nil
}

// lately is how many stamps are kept: as many commits of one run as may be
// under way in a process without asking the journal for their order.
const lately = 64

func (e *entry[O]) apply(ev agent.Event) {
	e.run = e.run.Apply(ev)
	e.observer.Apply(ev)
	if len(e.stamps) == lately {
		e.stamps = e.stamps[:copy(e.stamps, e.stamps[lately/2:])]
	}
	e.stamps = append(e.stamps, ev.At.UnixNano())
}

// knows reports whether the fold holds the entry with the seq and stamp, as far
// as it remembers stamps.
func (e *entry[O]) knows(seq uint64, at time.Time) bool {
	if seq == 0 {
		return e.run.Seq == 0
	}
	back := e.run.Seq - seq
	return seq <= e.run.Seq && back < uint64(len(e.stamps)) && e.stamps[uint64(len(e.stamps))-1-back] == at.UnixNano()
}
