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
	Snapshots agent.Snapshots // nil: folds begin with the journal
	Log       *slog.Logger    // nil: nothing is logged
	Most      int             // folds that are kept
	// Bytes bounds the memory of the folds that are kept, about; 0: only Most
	// does. Copies is how often an Observer keeps a run's texts once more.
	Bytes  int
	Copies int
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
	size int                           // of all, in bytes
}

type entry[O Observer] struct {
	id   agent.RunID
	size int // in bytes; under Cache.mu

	mu       sync.Mutex
	run      agent.Run
	stamps   []int64 // of the newest entries, up to run.Seq, in ns since 1970
	kept     uint64  // seq of the newest snapshot
	weighed  uint64  // seq at which size was measured
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
		c.drop(c.used.Back())
	}
	e := &entry[O]{id: id, observer: c.observe()}
	c.runs[id] = c.used.PushFront(e)
	return e
}

// drop takes a run out; under c.mu.
func (c *Cache[O]) drop(at *list.Element) {
	e := c.used.Remove(at).(*entry[O]) //nolint:errcheck,forcetypeassert // the list holds nothing else
	delete(c.runs, e.id)
	c.size -= e.size
}

// Forget drops the run: nobody is going to use it soon.
func (c *Cache[O]) Forget(id agent.RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := c.runs[id]; known {
		c.drop(at)
	}
}

// known is the run's place in the cache, nil where it has none. Nothing is
// moved by it.
func (c *Cache[O]) known(id agent.RunID) *entry[O] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := c.runs[id]; known {
		return at.Value.(*entry[O]) //nolint:errcheck,forcetypeassert // the list holds nothing else
	}
	return nil
}

// weighEvery is how many events may come before a fold is weighed again.
const weighEvery = 16

// weigh measures what the run takes, now and then, and drops those that were
// used longest ago where all together take too much. Under e.mu.
func (c *Cache[O]) weigh(e *entry[O]) {
	if c.Bytes == 0 || e.weighed > 0 && e.run.Seq < e.weighed+weighEvery && e.run.Ended == nil {
		return
	}
	size := agent.Size(e.run) * (1 + c.Copies)
	e.weighed = e.run.Seq
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, kept := c.runs[e.id]; !kept || at.Value != any(e) {
		return // it was dropped meanwhile
	}
	c.size += size - e.size
	e.size = size
	for c.size > c.Bytes && c.used.Len() > 1 {
		c.drop(c.used.Back())
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
		c.Forget(id)
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

// Peek is the run's newest fold. The cache does not keep it where it did not
// before: for those who look over many runs.
func (c *Cache[O]) Peek(ctx context.Context, id agent.RunID) (agent.Run, error) {
	e := c.known(id)
	if e == nil {
		e = &entry[O]{id: id, observer: c.observe()}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err := c.renew(ctx, e)
	return e.run, err
}

// Advance folds events that were just committed and returns the newest fold. An
// event that is known by its seq and stamp stands for all before it: where the
// receipt says that the commit came behind another one than the fold ends with,
// the journal is asked. Trial is the run with the events as their writer folded
// them before they had their stamps; it saves folding them again. Nil: none.
func (c *Cache[O]) Advance(ctx context.Context, id agent.RunID, r agent.Receipt, committed []agent.Event, trial *agent.Run) (agent.Run, error) {
	e := c.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	before := r.Seq - uint64(len(committed))
	tried := trial != nil && trial.Seq == r.Seq && len(committed) > 0
	switch {
	case !e.knows(before, r.Before): // others wrote in between, or the store has lost what is folded
	case e.run.Seq == before:
		for i, ev := range committed {
			ev.Run, ev.Seq, ev.At = id, before+uint64(i)+1, r.At
			if tried {
				e.observe(ev)
			} else {
				e.apply(ev)
			}
		}
		if tried {
			e.run = *trial
			e.run.Last = r.At
		}
		c.weigh(e)
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
// function runs: it must not use the Cache. Of a run that is not kept there is
// an empty fold, and what is given to its Observer goes.
func (c *Cache[O]) Use(id agent.RunID, use func(r agent.Run, o O)) {
	e := c.known(id)
	if e == nil {
		use(agent.Run{}, c.observe())
		return
	}
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
	c.weigh(e)
	return nil
}

// lately is how many stamps are kept: as many commits of one run as may be
// under way in a process without asking the journal for their order.
const lately = 64

func (e *entry[O]) apply(ev agent.Event) {
	e.run = e.run.Apply(ev)
	e.observe(ev)
}

// observe notes an event that is folded.
func (e *entry[O]) observe(ev agent.Event) {
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
