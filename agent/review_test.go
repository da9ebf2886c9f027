package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// finishedRun is a run with the reviewer slack:U7 whose tasks a and b are done;
// b is the deliverable.
func finishedRun(brief RunStarted) *journal {
	brief.Slots, brief.Reviewers = 2, []string{"slack:U7"}
	j := begin(brief).on(Main, PlanAccepted{Plan: planned().Plan})
	for _, id := range []TaskID{"a", "b"} {
		j.on(Main, TaskStarted{Task: id}).on(TaskStrand(id), TaskEnded{Task: id, State: TaskDone, Summary: "counted\nall",
			Outputs: []Output{{Name: "out_" + string(id), File: string(id) + ".md"}, {Name: "n", Value: json.RawMessage("\"a`b\"")}}, Confidence: 0.75})
	}
	return j
}

// take journals what the main strand decides.
func (j *journal) take(t *testing.T) *journal {
	t.Helper()
	bodies := decided(j.Run, Main)
	if len(bodies) == 0 {
		t.Fatalf("the main strand does %+v", j.Next(Main))
	}
	return j.on(Main, bodies...)
}

func (j *journal) reviewed(t *testing.T, word, text string) *journal {
	t.Helper()
	c := j.Review()
	if c == nil {
		t.Fatalf("no review is open; the main strand does %+v", j.Next(Main))
	}
	return j.on(Main, CheckpointDecided{ID: c.ID, Decision: word, By: "slack:U7", Text: text})
}

func TestReviewBeforeTheReport(t *testing.T) {
	j := finishedRun(RunStarted{Expires: time.Hour}).take(t)
	c := j.Review()
	want := "- **B**: counted all; file `b.md`; n = `\"a'b\"`; the model's own estimate: 75 %\n"
	if c == nil || c.Ask != CheckApproval || c.Title != "Review before the report: count the lines" || c.Detail != want ||
		!slices.Equal(c.Choices, []string{DecideApprove, DecideDeny}) {
		t.Fatalf("the review is %+v", c)
	}
	if m := j.Next(Main); len(m.Steps) > 0 || !m.Wake.Equal(c.Expires) || j.State() != RunWaiting {
		t.Errorf("while it is open the run is %s and does %+v", j.State(), m)
	}
	j.reviewed(t, DecideApprove, "")
	if got := first(j.Run, Main); got != (AskModel{llm.Report}) {
		t.Errorf("after the approval: %+v", got)
	}
	j.on(Main, Reported{Headline: "done"}).take(t)
	if j.Ended.State != RunDone {
		t.Errorf("ended %+v", j.Ended)
	}
}

// Whoever is asked for nothing else is asked for a review: also where nobody
// attends, and where people want what there is.
func TestReviewIsAlwaysAsked(t *testing.T) {
	for name, j := range map[string]*journal{
		"unattended": finishedRun(RunStarted{Unattended: true}),
		"finish": finishedRun(RunStarted{}).on(Main, CheckpointOpened{ID: "r1-b", Ask: CheckBudget},
			CheckpointDecided{ID: "r1-b", Decision: DecideFinish, By: "slack:U1"}),
		"the model is gone": finishedRun(RunStarted{}).on(Main, ModelAsked{Call: "x", Purpose: llm.Report},
			ModelAnswered{Call: "x", Purpose: llm.Report, Error: "gone"}),
	} {
		if j.take(t).Review() == nil {
			t.Errorf("%s: %+v", name, j.Next(Main))
		}
		if m := j.Next(Main); len(m.Steps) > 0 {
			t.Errorf("%s: it does not wait: %+v", name, m)
		}
	}
	reply := begin(RunStarted{Reviewers: []string{"slack:U7"}}).on(Main, Reported{Headline: "hello"}).take(t)
	if reply.Ended.State != RunDone {
		t.Errorf("a mere reply ended %+v", reply.Ended)
	}
	cancelled := finishedRun(RunStarted{}).take(t).on(Main, RunControlled{Word: WordCancel, By: "slack:U1"}).take(t)
	if cancelled.Ended.State != RunCancelled {
		t.Errorf("a cancelled run ended %+v", cancelled.Ended)
	}
}

// Nobody's silence releases a result.
func TestExpiredReview(t *testing.T) {
	j := finishedRun(RunStarted{Expires: time.Minute}).take(t)
	c := j.Review()
	j.Run = j.Apply(Event{Run: "r1", Strand: Main, Seq: j.Seq + 1, At: c.Expires, Body: TimePassed{}})
	j.take(t).take(t)
	if j.Ended == nil || j.Ended.State != RunFailed || !strings.Contains(j.Ended.Reason, "not reviewed") {
		t.Fatalf("ended %+v", j.Ended)
	}
	if !strings.HasPrefix(j.Report.Headline, "Not released: not reviewed") || len(j.Report.Artifacts) > 0 {
		t.Errorf("the report is %+v", j.Report)
	}
}

// A denial gives the deliverable back with the reviewer's words: what was
// delivered is made anew by a new plan, twice; the third denial is the end.
func TestDeniedReview(t *testing.T) {
	j := finishedRun(RunStarted{Unattended: true})
	for trial := range maxReplans {
		j.take(t).reviewed(t, DecideDeny, "the total is missing")
		b := j.Tasks["b"]
		if b.State != TaskFailed || b.Reason != "rejected in the review by slack:U7: the total is missing" || b.Outputs != nil || j.Tasks["a"].State != TaskDone {
			t.Fatalf("after denial %d the tasks are %+v", trial+1, j.Tasks)
		}
		if note := j.Said[len(j.Said)-1]; !note.Trusted || note.Text != "the total is missing" {
			t.Errorf("the planner hears %+v", note)
		}
		if got := first(j.Run, Main); got != (AskModel{llm.Plan}) {
			t.Fatalf("after denial %d: %+v", trial+1, got)
		}
		j.on(Main, PlanAccepted{Plan: j.Plan}, TaskStarted{Task: "b"})
		j.on("task/b", TaskEnded{Task: "b", State: TaskDone, Outputs: []Output{}})
	}
	j.take(t).reviewed(t, DecideDeny, "still missing")
	if got := first(j.Run, Main); got != (AskModel{llm.Report}) {
		t.Fatalf("after the last denial: %+v", got)
	}
	j.on(Main, Reported{Headline: "so"}).take(t)
	if j.Ended.State != RunFailed || !strings.Contains(j.Ended.Reason, "rejected in the review by slack:U7: still missing") {
		t.Errorf("ended %+v", j.Ended)
	}
}

// With somebody to ask, the last denial is a question.
func TestDeniedReviewAsksAPerson(t *testing.T) {
	j := finishedRun(RunStarted{})
	for range maxReplans {
		j.take(t).reviewed(t, DecideDeny, "")
		j.on(Main, PlanAccepted{Plan: j.Plan}, TaskStarted{Task: "b"}).on("task/b", TaskEnded{Task: "b", State: TaskDone})
	}
	j.take(t).reviewed(t, DecideDeny, "").take(t)
	if c := j.OpenCheckpoint(); c == nil || c.Ask != CheckStuck || !strings.Contains(c.Detail, "rejected in the review") {
		t.Errorf("asked %+v", c)
	}
}

// A denial while people want what there is ends the run with the reason.
func TestDeniedReviewOfAnEnding(t *testing.T) {
	j := finishedRun(RunStarted{}).on(Main, CheckpointOpened{ID: "r1-b", Ask: CheckBudget, Choices: []string{DecideFinish}},
		CheckpointDecided{ID: "r1-b", Decision: DecideFinish, By: "slack:U1"})
	j.take(t).reviewed(t, DecideDeny, "wrong").take(t)
	if j.Ended == nil || j.Ended.State != RunFailed || !strings.Contains(j.Ended.Reason, "slack:U7: wrong") {
		t.Errorf("ended %+v", j.Ended)
	}
}

// Where no task is marked as deliverable, what nobody needs is the result.
func TestWhatIsReviewed(t *testing.T) {
	r := Run{Work: Work{Plan: Plan{Tasks: []Task{{ID: "a"}, {ID: "b", DependsOn: []TaskID{"a"}}, {ID: "c"}}}}}
	if got := r.delivered(); len(got) != 2 || got[0].ID != "b" || got[1].ID != "c" {
		t.Errorf("without a mark: %+v", got)
	}
	r.Plan.Tasks[0].Deliverable = true
	if got := r.delivered(); len(got) != 1 || got[0].ID != "a" {
		t.Errorf("with a mark: %+v", got)
	}
}

// The model's word ends no task: not even a sure one's.
func TestFinishingAloneEndsNoTask(t *testing.T) {
	j := atWork(RunStarted{}, 1).on("task/a", TaskFinishing{Task: "a", Summary: "done", Confidence: 1})
	if got := first(j.Run, "task/a"); got != (AskModel{llm.Judge}) {
		t.Errorf("after finish_task the task does %+v", got)
	}
	j.on("task/a", TaskJudged{Task: "a", Accepted: false, Reasons: Texts{"no total"}})
	if got := first(j.Run, "task/a"); got != (AskModel{llm.Work}) || j.Tasks["a"].State != TaskRunning {
		t.Errorf("after a rejection the task is %s and does %+v", j.Tasks["a"].State, got)
	}
}
