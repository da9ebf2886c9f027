package loop_test

import (
	"context"
	"sync"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop"
)

// interrupter is a store in which somebody says a word right before the first
// commit that would end a run.
type interrupter struct {
	agent.Store
	t    *testing.T
	once sync.Once
}

func (s *interrupter) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	if c.Ends {
		s.once.Do(func() {
			_, err := s.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: c.Run,
				Events: []agent.Event{{Strand: agent.Main, Body: agent.RunControlled{Word: agent.WordCancel, By: "slack:U1"}}}})
			if err != nil {
				s.t.Error(err)
			}
		})
	}
	return s.Store.Commit(ctx, c)
}

// A word that was taken in is heard by the end, however late it came.
func TestCancelledWhileEnding(t *testing.T) {
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.Store = &interrupter{Store: c.Store, t: t} },
		newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	if r := h.ended(run); r.Ended.State != agent.RunCancelled {
		t.Errorf("it ended %+v, and somebody was told that it was cancelled", r.Ended)
	}
	events, err := h.store.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, last := events[len(events)-1].Body.(agent.RunEnded); !last {
		t.Errorf("the journal ends with %T", events[len(events)-1].Body)
	}
}
