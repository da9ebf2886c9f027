package loop_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
)

func TestACallThatDoesNotFitKeepsWhatEarlierOnesGaveBack(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	obedient := noter("note", task("a", "note", nil))
	h := open(t, scripted(func(r llm.Request) llm.Message {
		if r.Purpose == llm.Work {
			return llm.Message{Role: llm.Assistant, Content: "I would rather talk"}
		}
		return obedient(r)
	}), nil, tool)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Limits: agent.Limits{Steps: 2}})
	r := h.until(run, "the budget is asked about", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	counted, err := h.store.Spent(t.Context(), "run/"+string(run)+"/tokens")
	if err != nil || counted != r.Spent.Tokens() {
		t.Errorf("the counter stands at %d tokens (%v), the run spent %d", counted, err, r.Spent.Tokens())
	}
}

func TestANudgeIsHeardByTheNextCall(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	obedient := noter("note", task("a", "note", nil))
	h := open(t, scripted(func(r llm.Request) llm.Message {
		if r.Purpose == llm.Work && !strings.Contains(r.Messages[len(r.Messages)-1].Content, "You may be stuck") {
			return call("note", map[string]any{"text": "again"})
		}
		return obedient(r)
	}), nil, tool)
	r := h.ended(h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Unattended: true}))
	if got := len(tool.seen()); r.Ended.State != agent.RunDone || got != 3 {
		t.Errorf("ended %+v after %d equal calls, want 3", r.Ended, got)
	}
}

func TestFieldsInAnotherCaseGoBackToTheModel(t *testing.T) {
	var asked []string
	h := open(t, scripted(func(r llm.Request) llm.Message {
		asked = append(asked, r.Messages[len(r.Messages)-1].Content)
		if len(asked) == 1 {
			return call("reply", map[string]any{"text": "hello", "Text": 5})
		}
		return call("reply", map[string]any{"text": "hello"})
	}), nil)
	r := h.ended(h.start(agent.RunStarted{}))
	if r.Ended.State != agent.RunDone || len(asked) != 2 || !strings.Contains(asked[1], "do not fit") {
		t.Errorf("ended %+v; the model was told %q", r.Ended, asked)
	}
}

func TestALongResultThatCameAtTheTimeoutCounts(t *testing.T) {
	slow := newFar(agent.RepeatIdempotent, 0, func(ctx context.Context, _ int) agent.Result {
		<-ctx.Done()
		return agent.Result{State: agent.OutcomeOK, Text: strings.Repeat("late ", 10_000), Trust: agent.Trusted}
	})
	slow.spec.Timeout = 50 * time.Millisecond
	h := open(t, noter("far", task("a", "far", nil)), nil, slow)
	r := h.ended(h.start(writesFree()))
	if r.Ended.State != agent.RunDone || *slow.started != 1 {
		t.Errorf("ended %+v after %d runs of the tool", r.Ended, *slow.started)
	}
}

// late is a store that holds the first answer of one strand back until another
// strand has changed the plan.
type late struct {
	agent.Store
	once    sync.Once
	changed chan struct{}
}

func (l *late) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	of := func(s agent.StrandID, k agent.Kind) bool {
		return slices.ContainsFunc(c.Events, func(e agent.Event) bool { return e.Strand == s && e.Body.Kind() == k })
	}
	if of("task/a", agent.ModelAnswered{}.Kind()) {
		select {
		case <-l.changed:
		case <-ctx.Done():
		}
	}
	receipt, err := l.Store.Commit(ctx, c)
	if err == nil && of("task/b", agent.PlanAccepted{}.Kind()) {
		l.once.Do(func() { close(l.changed) })
	}
	return receipt, err
}

func TestTasksAddedAtTheSameTimeAreAllKept(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	obedient := noter("note", task("a", "note", nil), task("b", "note", nil),
		task("c", "note", map[string]any{"depends_on": []string{"a", "b"}})) // without any edge they would be chained
	more := map[string]string{"a": "x", "b": "y"}
	h := open(t, scripted(func(r llm.Request) llm.Message {
		if id := more[r.Task]; r.Purpose == llm.Work && id != "" && turns(r) == 0 {
			return call("add_tasks", map[string]any{"reason": "found on the way", "tasks": []any{task(id, "note", nil)}})
		}
		return obedient(r)
	}), func(c *loop.Config) { c.Store = &late{Store: c.Store, changed: make(chan struct{})} }, tool)
	r := h.ended(h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever}))
	for _, id := range []agent.TaskID{"a", "b", "c", "x", "y"} {
		if r.Tasks[id].State != agent.TaskDone {
			t.Errorf("task %s is %q", id, r.Tasks[id].State)
		}
	}
}

func TestAStuckTaskIsSkippedWhenEverybodyLeaves(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	h := open(t, stubborn("note"), nil, tool)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	h.until(run, "the loop is noticed", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	if err := h.desk.Control(t.Context(), run, person, agent.RunControlled{Word: agent.WordLeave, By: "terminal"}); err != nil {
		t.Fatal(err)
	}
	r := h.ended(run)
	if s := r.Tasks["a"]; r.Finish || s.State != agent.TaskFailed || !strings.Contains(s.Reason, "stuck") {
		t.Errorf("finish: %v; task a: %+v", r.Finish, s)
	}
}

func TestARunThatIsToFinishEndsWithoutTheMoneyForAReport(t *testing.T) {
	obedient := noter("note", task("a", "note", nil))
	h := open(t, scripted(func(r llm.Request) llm.Message {
		if r.Purpose == llm.Work {
			return call("fail_task", map[string]any{"reason": "no key", "kind": "blocked"})
		}
		return obedient(r)
	}), nil, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Limits: agent.Limits{Steps: 2}})
	r := h.until(run, "a person is asked", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	err := h.desk.Decide(t.Context(), person, agent.CheckpointDecided{ID: r.OpenCheckpoint().ID, Decision: agent.DecideFinish})
	if err != nil {
		t.Fatal(err)
	}
	if r = h.ended(run); r.Ended.State != agent.RunFailed || r.Report == nil {
		t.Errorf("ended %+v with report %+v", r.Ended, r.Report)
	}
}

// A turn that goes on and on is not read from its beginning by whoever takes
// the run over: it keeps snapshots on its way.
func TestALongTurnKeepsSnapshots(t *testing.T) {
	const calls = 100
	var h *house
	var run agent.RunID
	began := make(chan struct{})
	kept := make(chan uint64, 1)
	tool := newFar(agent.RepeatRead, 0, func(ctx context.Context, nth int) agent.Result {
		if nth == calls {
			<-began
			seq, _, err := h.store.Snapshot(ctx, run)
			if err != nil {
				t.Error(err)
			}
			kept <- seq
		}
		return agent.Result{State: agent.OutcomeOK, Text: fmt.Sprint("result ", nth, " of its own: ", nth*nth), Trust: agent.Trusted}
	})
	tool.spec.Class = agent.ClassRead
	obedient := noter("far", task("a", "far", nil))
	h = open(t, scripted(func(r llm.Request) llm.Message {
		if n := turns(r); r.Purpose == llm.Work && n < calls {
			return call("far", map[string]any{"text": fmt.Sprint("look at place ", n)})
		}
		return obedient(r)
	}), nil, tool)
	run = h.start(writesFree())
	close(began)
	r := h.ended(run)
	if seq := <-kept; seq < calls/2 || r.Ended.State != agent.RunDone {
		t.Errorf("the newest snapshot in the turn is at %d of about %d events; the run ended %s", seq, 4*calls, r.Ended.State)
	}
}
