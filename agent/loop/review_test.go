package loop_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// drafter is a model that plans one deliverable, plans it again after a
// denial, and keeps what it was asked for a new plan with.
type drafter struct {
	mu    sync.Mutex
	plans []string
}

func (d *drafter) model() scripted {
	tasks := []map[string]any{task("a", "note", nil)}
	plain := noter("note", tasks...)
	return func(r llm.Request) llm.Message {
		switch {
		case r.Purpose == llm.Plan:
			d.mu.Lock()
			defer d.mu.Unlock()
			d.plans = append(d.plans, r.Messages[1].Content)
			return call("submit_plan", map[string]any{"name": "Notes", "reason": "it was denied", "tasks": tasks})
		case r.Purpose == llm.Work && turns(r) > 0:
			return call("finish_task", map[string]any{"summary": "noted", "confidence": 0.99,
				"outputs": []map[string]any{{"name": "out_" + r.Task, "value": r.Task}}})
		}
		return plain(r)
	}
}

var expert = bot.Person{ID: "slack:U7", Full: true}

func (h *house) review(run agent.RunID, not agent.CheckpointID) agent.Checkpoint {
	h.t.Helper()
	r := h.until(run, "the results are to be reviewed", func(r agent.Run) bool { return r.Review() != nil && r.Review().ID != not })
	if r.Report != nil || r.State() != agent.RunWaiting {
		h.t.Fatalf("under review the run is %s with the report %+v", r.State(), r.Report)
	}
	return *r.Review()
}

// A denied result is made anew with the reviewer's words, and the run is done
// only when the reviewer says so. Unattended runs wait as well.
func TestReviewerDecidesTheEnd(t *testing.T) {
	d := &drafter{}
	h := open(t, d.model(), nil, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Reviewers: []string{expert.ID}, Unattended: true, YesTo: []string{"all"}})
	c := h.review(run, "")
	if !strings.Contains(c.Detail, "the model's own estimate: 99 %") {
		t.Errorf("the review shows %q", c.Detail)
	}
	for _, other := range []bot.Person{person, {ID: "slack:U1", Full: true}} {
		if err := h.desk.Decide(t.Context(), other, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideApprove}); !errors.Is(err, runs.ErrNotAllowed) {
			t.Errorf("%s decided: %v", other.ID, err)
		}
	}
	if err := h.desk.Decide(t.Context(), expert, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideDeny, Text: "sign it"}); err != nil {
		t.Fatal(err)
	}
	c = h.review(run, c.ID)
	d.mu.Lock()
	if len(d.plans) != 1 || strings.Count(d.plans[0], "sign it") < 1 || !strings.Contains(d.plans[0], "rejected in the review by slack:U7") {
		t.Errorf("the new plan was asked for with %q", d.plans)
	}
	d.mu.Unlock()
	if err := h.desk.Decide(t.Context(), expert, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideApprove}); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(run); r.Ended.State != agent.RunDone || r.Replans != 1 || r.Report.Headline != "done" {
		t.Errorf("ended %+v after %d new plans with %+v", r.Ended, r.Replans, r.Report)
	}
}

// Denials end as other failures do: after two new plans the run has failed.
func TestReviewerKeepsDenying(t *testing.T) {
	d := &drafter{}
	h := open(t, d.model(), nil, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Reviewers: []string{expert.ID}, Unattended: true})
	var last agent.CheckpointID
	for range 3 {
		c := h.review(run, last)
		last = c.ID
		if err := h.desk.Decide(t.Context(), expert, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideDeny, Text: "no"}); err != nil {
			t.Fatal(err)
		}
	}
	r := h.ended(run)
	if r.Ended.State != agent.RunFailed || !strings.Contains(r.Ended.Reason, "rejected in the review by slack:U7: no") || len(d.plans) != 2 {
		t.Errorf("ended %+v after %d new plans", r.Ended, len(d.plans))
	}
}

// Silence is no approval.
func TestReviewExpires(t *testing.T) {
	d := &drafter{}
	h := open(t, d.model(), nil, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Reviewers: []string{expert.ID}, Expires: 200 * time.Millisecond})
	r := h.ended(run)
	if r.Ended.State != agent.RunFailed || r.Ended.Reason != "not reviewed: no reviewer decided in time" || len(r.Asked) != 1 {
		t.Errorf("ended %+v", r.Ended)
	}
}
