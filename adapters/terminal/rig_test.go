package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const theRun agent.RunID = "aaaabbbbccccdddd"

// journal is a log in memory that implements bot.Journals for one run.
type journal struct {
	mu     sync.Mutex
	events []agent.Event
	seen   map[string]agent.Receipt
	longer chan struct{}
	broken error // what every call returns while it is set
}

func newJournal() *journal {
	return &journal{seen: map[string]agent.Receipt{}, longer: make(chan struct{})}
}

func (j *journal) NewRun(string) agent.RunID { return agent.RunID(agent.NewID()) }

func (j *journal) Commit(_ context.Context, c agent.Commit) (agent.Receipt, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return agent.Receipt{}, j.broken
	}
	if r, done := j.seen[c.ID]; done {
		return r, nil
	}
	if c.Strict && c.Seen < uint64(len(j.events)) {
		return agent.Receipt{}, agent.ErrStale
	}
	at := time.Now()
	for _, e := range c.Events {
		e.Run, e.Seq, e.At = c.Run, uint64(len(j.events))+1, at
		j.events = append(j.events, e)
	}
	j.seen[c.ID] = agent.Receipt{Seq: uint64(len(j.events)), At: at}
	close(j.longer)
	j.longer = make(chan struct{})
	return j.seen[c.ID], nil
}

func (j *journal) Read(_ context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.broken != nil:
		return nil, j.broken
	case len(j.events) == 0 || run != theRun:
		return nil, agent.ErrNoRun
	}
	return append([]agent.Event(nil), j.events[min(after, uint64(len(j.events))):]...), nil
}

func (j *journal) Runs(context.Context, agent.RunFilter) ([]agent.RunInfo, error) {
	return []agent.RunInfo{{Run: theRun}}, nil
}

func (j *journal) CountRuns(context.Context, agent.RunFilter) (int, error) { return 1, nil }

func (j *journal) Await(ctx context.Context, _ agent.RunID, after uint64) error {
	for {
		j.mu.Lock()
		n, longer, broken := uint64(len(j.events)), j.longer, j.broken
		j.mu.Unlock()
		if broken != nil || n > after {
			return broken
		}
		select {
		case <-longer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// buffer is an output that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// rig is one Watch under test, within a synctest bubble.
type rig struct {
	t        *testing.T
	log      *journal
	keys     *io.PipeWriter
	out, err *buffer
	stop     context.CancelFunc
	done     chan struct{}
	end      End
	failure  error
	echo     bool // the terminal shows what is typed
}

// watch starts Watch in the bubble; the run, its journal, In, Out, Err and By are filled in.
func watch(t *testing.T, log *journal, c Config) *rig {
	t.Helper()
	r := &rig{t: t, log: log, out: &buffer{}, err: &buffer{}, done: make(chan struct{}), echo: c.TTY && !c.JSON}
	var in *io.PipeReader
	in, r.keys = io.Pipe()
	c.Runs, c.Journal, c.Telling, c.Answer, c.Hint = &runs.Client{Journals: log}, log, card.Telling{}, runs.ReadDecision, runs.ReadHint
	c.Run, c.In, c.Out, c.Err, c.By = theRun, in, r.out, r.err, bot.Terminal
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() {
		defer close(r.done)
		r.end, r.failure = Watch(ctx, c)
	}()
	t.Cleanup(func() {
		stop()
		_ = in.Close()
		<-r.done
	})
	return r
}

// add commits events of the strand and lets the view come up to date.
func (r *rig) add(strand agent.StrandID, bodies ...agent.Body) {
	r.t.Helper()
	put(r.t, r.log, strand, bodies...)
	r.settle()
}

func put(t *testing.T, log *journal, strand agent.StrandID, bodies ...agent.Body) {
	t.Helper()
	var events []agent.Event
	for _, b := range bodies {
		events = append(events, agent.Event{Strand: strand, Body: b})
	}
	if _, err := log.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: theRun, Events: events}); err != nil {
		t.Fatal(err)
	}
}

// settle waits until everything that is due was done, drawing included.
func (r *rig) settle() {
	synctest.Wait()
	<-time.After(2 * drawEvery)
	synctest.Wait()
}

// enter types a line.
func (r *rig) enter(line string) {
	r.t.Helper()
	if r.echo {
		_, _ = io.WriteString(r.out, line+"\n")
	}
	go func() { _, _ = io.WriteString(r.keys, line+"\n") }() // read when Watch wants it
	r.settle()
}

// last is the newest event.
func (r *rig) last() agent.Body {
	r.t.Helper()
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return r.log.events[len(r.log.events)-1].Body
}

func (r *rig) over() bool {
	synctest.Wait()
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

var errAway = errors.New("connection refused")
