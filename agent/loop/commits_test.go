package loop_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop"
)

// recorder is a store that remembers what each commit of a strand wrote.
type recorder struct {
	agent.Store
	mu      sync.Mutex
	commits []string
	intent  chan struct{} // closed when the first intent is written
}

func newRecorder(s agent.Store) *recorder { return &recorder{Store: s, intent: make(chan struct{})} }

func (r *recorder) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	receipt, err := r.Store.Commit(ctx, c)
	if err != nil || c.Lease == nil {
		return receipt, err
	}
	var kinds []string
	for _, e := range c.Events {
		kinds = append(kinds, string(e.Body.Kind()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits = append(r.commits, string(c.Lease.Strand)+": "+strings.Join(kinds, " "))
	if slices.Contains(kinds, "tool.intent") {
		select {
		case <-r.intent:
		default:
			close(r.intent)
		}
	}
	return receipt, err
}

func (r *recorder) of(strand agent.StrandID) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.commits {
		if kinds, is := strings.CutPrefix(c, string(strand)+": "); is {
			list = append(list, kinds)
		}
	}
	return list
}

func TestAReadIsOneCommit(t *testing.T) {
	var store *recorder
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) {
		store = newRecorder(c.Store)
		c.Store = store
	}, newNote("note", agent.ClassRead, agent.RepeatRead))
	h.ended(h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever}))
	got := store.of("task/a")
	if len(got) < 2 || got[0] != "model.asked" || got[1] != "model.answered tool.intent tool.outcome model.asked" {
		t.Errorf("the strand committed\n%s", strings.Join(got, "\n"))
	}
}

// What takes long is written down while it runs, and effects before they do.
func TestWhatTakesLongIsWrittenDownFirst(t *testing.T) {
	for name, spec := range map[string]agent.ToolSpec{
		"slow read": {Class: agent.ClassRead, Repeat: agent.RepeatRead},
		"effect":    {Class: agent.ClassWrite, Repeat: agent.RepeatIdempotent},
	} {
		t.Run(name, func(t *testing.T) {
			var store *recorder
			tool := newFar(spec.Repeat, 0, func(ctx context.Context, _ int) agent.Result {
				select {
				case <-store.intent:
					return of(agent.OutcomeOK)
				case <-ctx.Done():
					return of(agent.OutcomeError)
				}
			})
			tool.spec.Class = spec.Class
			h := open(t, noter("far", task("a", "far", nil)), func(c *loop.Config) {
				store = newRecorder(c.Store)
				c.Store = store
			}, tool)
			r := h.ended(h.start(writesFree()))
			got := store.of("task/a")
			if r.Ended.State != agent.RunDone || len(got) < 3 || got[1] != "model.answered tool.intent" || got[2] != "tool.outcome model.asked" {
				t.Errorf("ended %+v; the strand committed\n%s", r.Ended, strings.Join(got, "\n"))
			}
		})
	}
}
