package loop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/tools/source"
)

// surveyor is a foreign tool that says how far it is and asks people.
type surveyor struct{ note }

func (s surveyor) Run(ctx context.Context, c agent.Call) agent.Result {
	if strings.Contains(string(c.Arguments), "hang") {
		<-ctx.Done()
		return agent.Result{State: agent.OutcomeUnknown, Text: "error: cut off", Trust: agent.Trusted}
	}
	c.Progress("3 of 10: files")
	answers, answered := c.Ask(ctx, "The survey asks: which colour?", []agent.Question{{ID: "colour", Question: "Which colour?", Choices: []string{"red", "blue"}}})
	return agent.Result{State: agent.OutcomeOK, Text: fmt.Sprint("colour ", answers["colour"], " ", answered), Trust: agent.Untrusted}
}

// survey is a house whose worker calls the surveyor with the text.
func survey(t *testing.T, text string) *house {
	t.Helper()
	registry, err := source.New(source.Config{Sources: []source.Source{server{[]agent.Tool{surveyor{newNote("survey", agent.ClassRead, agent.RepeatOnce)}}}},
		Effects: source.Effects{"ocean__*": source.EffectRead}})
	if err != nil {
		t.Fatal(err)
	}
	registry.Load(t.Context())
	s := &steps{tools: []string{"ocean__survey"}, calls: []llm.Message{call("ocean__survey", map[string]any{"text": text})}}
	return open(t, scripted(s.answer), func(c *loop.Config) { c.Tools = registry })
}

// While its call goes on a tool says how far it is, and its question is put to
// people; where nobody can be asked, it is told so.
func TestToolsAskPeople(t *testing.T) {
	h := survey(t, "ask")
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	r := h.until(run, "the tool asks", func(r agent.Run) bool { return r.OpenCheckpoint() != nil })
	c := *r.OpenCheckpoint()
	if c.Ask != agent.CheckClarify || !strings.Contains(c.Title, "The survey asks") || c.Questions[0].Choices[1] != "blue" {
		t.Errorf("asked is %+v", c)
	}
	if err := h.decide(c.ID, "blue"); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(run); r.Ended.State != agent.RunDone {
		t.Fatalf("the run ended %s: %s", r.Ended.State, r.Ended.Reason)
	}
	var told []string
	for _, e := range h.journal(run) {
		switch b := e.Body.(type) {
		case agent.ToolOutcome:
			told = append(told, b.Text)
		case agent.ToolProgressed:
			told = append(told, b.Text)
		}
	}
	if got := strings.Join(told, "; "); got != "3 of 10: files; colour blue true" {
		t.Errorf("the journal tells %q", got)
	}
	alone := h.start(agent.RunStarted{Goal: "make another note", PlanApproval: agent.ApprovePlanNever, Unattended: true})
	h.ended(alone)
	h.stop()
}

// A call of a foreign tool ends with its run.
func TestCancelledRunsEndTheirCalls(t *testing.T) {
	h := survey(t, "hang")
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Unattended: true})
	h.until(run, "the tool hangs", func(r agent.Run) bool {
		open := r.Strands.Of("task/a").Talks.Of(llm.Work).Open
		return len(open) > 0 && open[0].Intent != nil
	})
	if err := h.desk.Control(t.Context(), run, person, agent.RunControlled{Word: agent.WordCancel}); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(run); r.Ended.State != agent.RunCancelled {
		t.Errorf("the run ended %s: %s", r.Ended.State, r.Ended.Reason)
	}
	h.stop()
}
