package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// effects numbers the effects of one run, and kills the worker at one of them.
type effects struct {
	killer *crash.Killer
	run    agent.RunID
	armed  atomic.Bool // the effect under way is the one to die in
}

// number is which effect of the run this is, 0 where it is another run's.
func (e *effects) number(run agent.RunID) int {
	if run != e.run {
		return 0
	}
	return e.killer.Count("effect")
}

func (e *effects) pass(when string, n int, c agent.Call) {
	e.killer.Pass("effect", when, n, death(c))
}

// death is the end of a worker in a call.
func death(c agent.Call) crash.Death {
	return crash.Death{Run: c.Run, Strand: c.Strand, About: c.Tool}
}

// deadlyTool is a tool in whose runs the worker may die.
type deadlyTool struct {
	agent.Tool
	effects   *effects
	workspace string
}

// Run passes the boundaries before, during and after the tool's run.
func (t deadlyTool) Run(ctx context.Context, c agent.Call) agent.Result {
	n := t.effects.number(c.Run)
	t.effects.pass("before", n, c)
	if t.effects.killer.Wants("effect", "during", n) {
		t.effects.armed.Store(true)
		watching := make(chan struct{})
		go t.watch(c, watching)
		<-watching
	}
	r := t.Tool.Run(ctx, c)
	t.effects.pass("during", n, c) // it was too fast, or sends and writes nothing
	t.effects.pass("after", n, c)
	return r
}

// watch dies when the file that the call names has changed, which is before
// the tool can say so.
func (t deadlyTool) watch(c agent.Call, watching chan<- struct{}) {
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
			t.effects.killer.Die(death(c))
		}
		runtime.Gosched()
	}
}

// Prepare is the tool's own, if it has one.
func (t deadlyTool) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	if p, is := t.Tool.(agent.Preparer); is {
		return p.Prepare(ctx, c)
	}
	return agent.Prepared{}, nil
}

// Probe is the tool's own. The engine asks only tools that declare that they
// can be asked.
func (t deadlyTool) Probe(ctx context.Context, c agent.Call) (bool, agent.Result, error) {
	if p, is := t.Tool.(agent.Prober); is {
		return p.Probe(ctx, c)
	}
	return false, agent.Result{}, errors.New(t.Spec().Name + " cannot be asked")
}
