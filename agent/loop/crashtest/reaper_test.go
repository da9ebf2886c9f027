package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// boundary is a point of a run at which a worker dies: before or after its
// N-th commit of the run, before, during or after the N-th run of a tool. N
// counts from 1 in the worker; 0 is none. What is commit, effect, or append for
// a worker that does nothing else.
type boundary struct {
	What, When string
	N          int
}

func (b boundary) String() string { return fmt.Sprintf("%s %s %d", b.When, b.What, b.N) }

// reaper kills its own process at a boundary of one run.
type reaper struct {
	at    boundary
	run   agent.RunID
	log   *record
	armed atomic.Bool // the effect under way is the one to die in
	dying sync.Once

	mu      sync.Mutex
	counted map[string]int
}

// count numbers a commit or an effect of the run; 0 where it is another run's.
func (r *reaper) count(what string, run agent.RunID) int {
	if run != r.run {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counted[what]++
	return r.counted[what]
}

func (r *reaper) wants(what, when string, n int) bool {
	return n > 0 && r.at == boundary{what, when, n}
}

// pass dies where this is the boundary.
func (r *reaper) pass(what, when string, n int, s agent.StrandID) {
	if r.wants(what, when, n) {
		r.die(s)
	}
}

// die is SIGKILL: nothing is flushed, closed, released or said.
func (r *reaper) die(s agent.StrandID) {
	r.dying.Do(func() {
		at := time.Now()
		r.log.write(line{Died: &death{Run: r.run, Strand: s, Boundary: r.at, At: at}})
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // cannot fail for one's own process
		select {}
	})
}

// witness is a store that keeps word of every commit that was acknowledged.
type witness struct {
	storetest.Store
	reaper *reaper
	log    *record
	gate   <-chan struct{}
}

// Commit passes the boundaries before and after the store's own.
func (w *witness) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	var s agent.StrandID
	if c.Lease != nil {
		s = c.Lease.Strand
	}
	n := w.reaper.count("commit", c.Run)
	w.reaper.pass("commit", "before", n, s)
	r, err := w.Store.Commit(ctx, c)
	if err != nil {
		return r, err
	}
	if len(c.Events) > 0 {
		w.log.write(line{Kept: &kept{Run: c.Run, Seq: r.Seq, Events: len(c.Events), Sum: sum(c.Events)}})
	}
	w.reaper.pass("commit", "after", n, s)
	return r, nil
}

// Claim waits for the gate first: a worker in reserve takes nothing away from
// the one whose boundaries are counted.
func (w *witness) Claim(ctx context.Context, n int, wait time.Duration, only agent.RunID) ([]agent.Lease, error) {
	select {
	case <-w.gate:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return w.Store.Claim(ctx, n, wait, only)
}

// trap is a tool in whose runs the worker may die.
type trap struct {
	agent.Tool
	reaper    *reaper
	workspace string
}

// Run passes the boundaries before, during and after the tool's run.
func (t trap) Run(ctx context.Context, c agent.Call) agent.Result {
	n := t.reaper.count("effect", c.Run)
	t.reaper.pass("effect", "before", n, c.Strand)
	if t.reaper.wants("effect", "during", n) {
		t.reaper.armed.Store(true)
		watching := make(chan struct{})
		go t.watch(c, watching)
		<-watching
	}
	r := t.Tool.Run(ctx, c)
	t.reaper.pass("effect", "during", n, c.Strand) // it was too fast, or sends and writes nothing
	t.reaper.pass("effect", "after", n, c.Strand)
	return r
}

// watch dies when the file that the call names has changed, which is before
// the tool can say so.
func (t trap) watch(c agent.Call, watching chan<- struct{}) {
	var args struct{ Path string }
	err := json.Unmarshal(c.Arguments, &args)
	name := filepath.Join(t.workspace, c.Folder, args.Path)
	before, _ := os.Stat(name) // absent is a state too
	close(watching)
	if err != nil || args.Path == "" {
		return
	}
	for {
		now, _ := os.Stat(name)
		if (before == nil) != (now == nil) || now != nil && (now.Size() != before.Size() || !os.SameFile(now, before)) {
			t.reaper.die(c.Strand)
		}
		runtime.Gosched()
	}
}

// Prepare is the tool's own, if it has one.
func (t trap) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	if p, is := t.Tool.(agent.Preparer); is {
		return p.Prepare(ctx, c)
	}
	return agent.Prepared{}, nil
}

// Probe is the tool's own. The engine asks only tools that declare that they
// can be asked.
func (t trap) Probe(ctx context.Context, c agent.Call) (bool, agent.Result, error) {
	if p, is := t.Tool.(agent.Prober); is {
		return p.Probe(ctx, c)
	}
	return false, agent.Result{}, errors.New(t.Spec().Name + " cannot be asked")
}
