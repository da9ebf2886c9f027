package agent

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// checked is a run whose task with the check says that it is finished.
func checked(t *testing.T, task Task) Run {
	t.Helper()
	r := Run{}
	add := func(s StrandID, b Body) { r = r.Apply(Event{Run: "r", Strand: s, Seq: r.Seq + 1, At: noon, Body: b}) }
	add(Main, RunStarted{Goal: "g", Slots: 1})
	task.ID, task.Title = "a", "Do it"
	add(Main, PlanAccepted{Plan: Plan{Tasks: []Task{task}}})
	add(Main, TaskStarted{Task: "a"})
	s := TaskStrand("a")
	add(s, ModelAsked{Call: "task/a.1", Purpose: llm.Work})
	add(s, ModelAnswered{Call: "task/a.1", Purpose: llm.Work, Cost: new(Nano), Message: &llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "f", Name: "finish_task", Arguments: "{}"}}}})
	add(s, TaskFinishing{Task: "a", Effect: "task/a.1.0", Outputs: []Output{{Name: "out", Value: []byte(`[1]`)}}})
	return r
}

// journals is what a strand's decision journals.
func journals(t *testing.T, r Run, s StrandID) []Event {
	t.Helper()
	for _, step := range r.Next(s).Steps {
		if d, is := step.(Decide); is {
			return d.Events
		}
	}
	return nil
}

// A program looks at what a task with a check delivers: no judge is asked, a check
// that fails gives the task back to its worker, and a reviewer comes after it.
func TestAProgramLooksAtTheResult(t *testing.T) {
	s := TaskStrand("a")
	for _, tt := range []struct {
		name, reviewer, reply string
		accepted, reviewed    bool
	}{
		{"it passes", "", "passed: file `x`", true, false},
		{"it fails", "", "error: no such file", false, false},
		{"it is refused", "editor", "denied by policy", false, false},
		{"a reviewer follows", "editor", "passed: file `x`", true, true},
	} {
		r := checked(t, Task{Check: &Check{Schema: []byte(`{"type":"array"}`)}, Outputs: []OutputSpec{{Name: "out"}}, Reviewer: tt.reviewer})
		add := func(id StrandID, b Body) { r = r.Apply(Event{Run: "r", Strand: id, Seq: r.Seq + 1, At: noon, Body: b}) }
		calls, spent := r.Strands.Of(s).Calls, r.Spent
		events := journals(t, r, s)
		if len(events) != 1 || r.Purpose(s) != llm.Check {
			t.Fatalf("%s: purpose %s, %v", tt.name, r.Purpose(s), events)
		}
		given, is := events[0].Body.(ModelAnswered)
		if !is || given.Given == "" || given.Message.Calls[0].Name != ToolCheck || !strings.Contains(given.Message.Calls[0].Arguments, `"value":[1]`) {
			t.Fatalf("%s: %+v", tt.name, given)
		}
		add(s, given)
		open := r.Talk(s).Open
		if len(open) != 1 || r.Spent != spent || r.Strands.Of(s).Calls != calls+1 {
			t.Fatalf("%s: the call is open and costs nothing: %v %+v", tt.name, open, r.Spent)
		}
		add(s, ToolOutcome{Effect: open[0].Effect, State: OutcomeOK, Text: tt.reply})
		events = journals(t, r, s)
		verdict, is := events[0].Body.(TaskJudged)
		if !is || verdict.Accepted != tt.accepted || verdict.Checked == "" {
			t.Fatalf("%s: %+v", tt.name, events)
		}
		for _, e := range events {
			add(s, e.Body)
		}
		switch st := r.Strands.Of(s); {
		case tt.reviewed:
			if r.Purpose(s) != llm.Judge || st.Judged != nil {
				t.Errorf("%s: the reviewer is next, not %s", tt.name, r.Purpose(s))
			}
			add(s, TaskJudged{Task: "a", Accepted: true, Checked: "reviewed"})
		case !tt.accepted:
			if r.Purpose(s) != llm.Work || r.Tasks["a"].Rejections != 1 || len(r.Talk(s).Open) != 0 || r.Talk(s).Entries.At(1).Reply.Trust != Untrusted {
				t.Errorf("%s: its worker hears why, as data: %+v", tt.name, r.Talk(s))
			}
			continue
		}
		if end, is := journals(t, r, s)[0].Body.(TaskEnded); !is || end.State != TaskDone {
			t.Errorf("%s: the task is done", tt.name)
		}
		if how := Checked(r); !strings.Contains(how, "- Do it: output against its schema") || tt.reviewed != strings.Contains(how, "reviewed") {
			t.Errorf("%s: %q", tt.name, how)
		}
	}
}
