package loop_test

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
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
