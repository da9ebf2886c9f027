package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// atWork is a run whose task a did so many calls of work.
func atWork(brief RunStarted, calls int) *journal {
	j := begin(brief).on(Main, PlanAccepted{Plan: planned().Plan}, TaskStarted{Task: "a"})
	for range calls {
		j.did()
	}
	return j
}

// did is one call of a's work with its result.
func (j *journal) did() *journal {
	j.answer("task/a", "read")
	effect := EffectID(fmt.Sprintf("task/a.%d.0", j.Strands.Of("task/a").Calls))
	return j.on("task/a", ToolIntent{Effect: effect}, ToolOutcome{Effect: effect, Text: "5"})
}

func TestCheckInsAreDue(t *testing.T) {
	found := Finding{Rule: "L9", Severity: "check-in", Strand: "task/a"}
	check, work := Step(AskModel{llm.CheckIn}), Step(AskModel{llm.Work})
	for _, tt := range []struct {
		name string
		j    *journal
		want Step // nil: it waits
	}{
		{"nothing calls one", atWork(RunStarted{}, 40), work},
		{"too few calls", atWork(RunStarted{CheckIns: 3}, 2), work},
		{"so many calls", atWork(RunStarted{CheckIns: 3}, 3), check},
		{"the clock", atWork(RunStarted{}, 1).on("task/a", CheckInDue{}), check},
		{"the clock before any work", atWork(RunStarted{}, 0).on("task/a", CheckInDue{}), work},
		{"a finding lets exact rules decide first", atWork(RunStarted{}, 2).on("task/a", found).did(), work},
		{"a finding, two calls later", atWork(RunStarted{}, 2).on("task/a", found).did().did(), check},
		{"a finding, and then the clock", atWork(RunStarted{}, 2).on("task/a", found, CheckInDue{}), check},
		{"one was made", atWork(RunStarted{CheckIns: 3}, 3).on("task/a", CheckInMade{Verdict: CheckInContinue}), work},
		{"one was missed", atWork(RunStarted{CheckIns: 3}, 3).on("task/a", CheckInMade{Missed: "gone", Verdict: CheckInContinue}).did(), work},
		{"a call was lost", atWork(RunStarted{CheckIns: 1}, 1).on("task/a",
			ModelAsked{Call: "x", Purpose: llm.CheckIn}, ModelAnswered{Call: "x", Purpose: llm.CheckIn, Lost: true}), check},
		{"a call of work is open", atWork(RunStarted{CheckIns: 1}, 1).on("task/a", CheckInMade{}).answer("task/a", "read"), Dispatch{}},
		{"a wait with the clock's fact", atWork(RunStarted{}, 1).answer("task/a", "wait").on("task/a",
			ToolIntent{Effect: "task/a.2.0"}, ToolDeferred{Effect: "task/a.2.0", Until: noon.Add(time.Hour)}, CheckInDue{}), nil},
		{"a result is judged", atWork(RunStarted{CheckIns: 1}, 1).on("task/a", TaskFinishing{Task: "a"}), AskModel{llm.Judge}},
		{"the run is paused", atWork(RunStarted{CheckIns: 1}, 1).on(Main, RunControlled{Word: WordPause, By: "slack:U1"}), nil},
		{"a person is asked", atWork(RunStarted{CheckIns: 1}, 1).on("task/a", CheckpointOpened{ID: "r1-c", Ask: CheckStuck}), nil},
		{"a budget is asked about", atWork(RunStarted{CheckIns: 1}, 1).on("task/b", CheckpointOpened{ID: "r1-c", Ask: CheckBudget}), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := tt.j.Next("task/a")
			if tt.want == nil && len(m.Steps) > 0 || tt.want != nil && (len(m.Steps) != 1 || m.Steps[0] != tt.want) {
				t.Errorf("the task does %+v, want %+v", m, tt.want)
			}
		})
	}
}

// Whatever hinders a check-in, it is no trouble of the work's.
func TestMissedCheckIns(t *testing.T) {
	asked := ModelAsked{Call: "x", Purpose: llm.CheckIn}
	for name, j := range map[string]*journal{
		"an error":  atWork(RunStarted{CheckIns: 1}, 1).on("task/a", asked, ModelAnswered{Call: "x", Purpose: llm.CheckIn, Error: "gone"}),
		"a refusal": atWork(RunStarted{CheckIns: 1}, 1).on("task/a", asked, ModelAnswered{Call: "x", Purpose: llm.CheckIn, Error: "no key", Refused: true}),
		"no time":   atWork(RunStarted{CheckIns: 1, Limits: Limits{Time: time.Second}}, 1).on("task/a", ModelAsked{Call: "x", Purpose: llm.CheckIn}, ModelAnswered{Call: "x", Purpose: llm.CheckIn, Took: time.Hour}),
	} {
		t.Run(name, func(t *testing.T) {
			bodies := decided(j.Run, "task/a")
			if len(bodies) != 1 {
				t.Fatalf("the task does %+v", j.Next("task/a"))
			}
			made, _ := bodies[0].(CheckInMade)
			j.on("task/a", made)
			if st := j.Strands.Of("task/a"); made.Missed == "" || st.Error != "" || j.Refused != "" || st.CheckIn.Calls != 0 {
				t.Errorf("made %+v; refused %q, the strand %+v", made, j.Refused, st)
			}
		})
	}
}

func TestVerdictsOfCheckIns(t *testing.T) {
	kinds := func(d Decide) string {
		var list []string
		for _, e := range d.Events {
			list = append(list, string(e.Body.Kind()))
		}
		return strings.Join(list, " ")
	}
	for _, tt := range []struct {
		verdict CheckInVerdict
		confirm bool
		alone   bool
		want    string
	}{
		{CheckInContinue, false, false, "check-in.made"},
		{CheckInNudge, false, false, "finding check-in.made"},
		{CheckInReplan, false, false, "finding check-in.made task.ended"},
		{CheckInEscalate, false, false, "finding check-in.made checkpoint.opened"},
		{CheckInStop, false, false, "finding check-in.made checkpoint.opened"},
		{CheckInStop, false, true, "finding check-in.made task.ended"},
		{CheckInEscalate, true, false, "check-in.made"},
	} {
		j := atWork(RunStarted{Unattended: tt.alone}, 1)
		d := FinishCheckIn(j.Run, "task/a", CheckInMade{Verdict: tt.verdict, Confirm: tt.confirm}, "", noon)
		if got := kinds(d); got != tt.want {
			t.Errorf("%s (confirm %v, alone %v): %s, want %s", tt.verdict, tt.confirm, tt.alone, got, tt.want)
		}
	}
}

// A verdict for a new plan ends the task, lets the others finish, starts none,
// and is planned once nothing runs.
func TestReplanOfACheckIn(t *testing.T) {
	j := begin(RunStarted{Slots: 2}).on(Main, PlanAccepted{Plan: Plan{Tasks: []Task{{ID: "a"}, {ID: "b"}, {ID: "c"}}}},
		TaskStarted{Task: "a"}, TaskStarted{Task: "b"})
	for _, e := range FinishCheckIn(j.Run, "task/a", CheckInMade{Verdict: CheckInReplan, Reason: "no way"}, "", noon).Events {
		j.on(e.Strand, e.Body)
	}
	if m := j.Next(Main); j.Tasks["a"].State != TaskFailed || len(m.Steps) > 0 {
		t.Fatalf("task a is %s, and main does %+v", j.Tasks["a"].State, m)
	}
	j.on("task/b", TaskEnded{Task: "b", State: TaskDone})
	if got := first(j.Run, Main); got != (AskModel{llm.Plan}) {
		t.Fatalf("main does %+v, want a plan", got)
	}
	j.on(Main, PlanAccepted{Plan: j.Plan})
	if got := first(j.Run, Main); got != (Schedule{Free: 2}) || j.Replans != 1 || j.Rethink != nil {
		t.Errorf("after %d re-plans main does %+v", j.Replans, got)
	}
}

// What a task was to be told is not lost with it: it goes to who makes the new plan.
func TestANudgeBesideAReplan(t *testing.T) {
	j := begin(RunStarted{Slots: 2}).on(Main, PlanAccepted{Plan: Plan{Tasks: []Task{{ID: "a"}, {ID: "b"}}}}, TaskStarted{Task: "a"}, TaskStarted{Task: "b"})
	j.on("task/a", Finding{Rule: "L1", Severity: FindingNudge, Strand: "task/a", Message: "the same call 3 times"})
	for _, s := range []StrandID{"task/a", "task/b"} {
		made := CheckInMade{Verdict: CheckInReplan, Reason: "no way", Ledger: &Ledger{Nudge: "read the index of " + string(s)}}
		for _, e := range FinishCheckIn(j.Run, s, made, "", noon).Events {
			j.on(e.Strand, e.Body)
		}
	}
	want := []string{"the same call 3 times", "read the index of task/a", "read the index of task/b"}
	if !slices.Equal(j.Rethink.Advice, want) {
		t.Errorf("the planner is told %q, want %q", j.Rethink.Advice, want)
	}
	if j.on(Main, PlanAccepted{Plan: j.Plan}); j.Rethink != nil {
		t.Errorf("after the new plan: %+v", j.Rethink)
	}
}

// A plan that comes no closer to its end is planned anew twice, and then it is
// the person's; a plan that is always the same is at once.
func TestPlansThatComeNoCloser(t *testing.T) {
	grows := Finding{Rule: "L11", Severity: "nudge", Strand: Main, Message: "the backlog grew"}
	j := planned()
	for range 2 {
		j.on(Main, grows)
		if got := first(j.Run, Main); got != (AskModel{llm.Plan}) {
			t.Fatalf("main does %+v, want a plan", got)
		}
		j.on(Main, PlanAccepted{Plan: j.Plan})
	}
	question := func() CheckpointOpened {
		t.Helper()
		bodies := decided(j.Run, Main)
		if len(bodies) != 1 {
			t.Fatalf("main does %+v", j.Next(Main))
		}
		c, _ := bodies[0].(CheckpointOpened)
		if c.Ask != CheckStuck || c.Title != "Stuck: the backlog grew" {
			t.Fatalf("asked %+v", c)
		}
		return c
	}
	j.on(Main, grows)
	c := question()
	j.on(Main, c, CheckpointDecided{ID: c.ID, Decision: DecideRetry, By: "slack:U1"}, PlanAccepted{Plan: j.Plan})
	j.on(Main, TaskStarted{Task: "a"}, Finding{Rule: "L11", Severity: "stop", Strand: Main, Message: "the backlog grew"})
	c = question() // although a task runs
	j.on(Main, c)
	if m := j.Next(Main); len(m.Steps) > 0 {
		t.Errorf("a person is asked, and main does %+v", m)
	}
}

// The newest three lessons of a task are kept, each once.
func TestLessons(t *testing.T) {
	j := atWork(RunStarted{}, 1)
	for _, text := range []string{"one", "two", "two", "  three\nlines ", "four", ""} {
		j.on("task/a", CheckInMade{Verdict: CheckInContinue, Ledger: &Ledger{Lesson: text}})
	}
	if got := j.Lessons.Of("a"); !slices.Equal(got, []string{"two", "three lines", "four"}) {
		t.Errorf("kept %q", got)
	}
	var told []string
	for _, e := range j.Strands.Of("task/a").Talks.Of(llm.Work).Entries.All() {
		if e.Note != nil && e.Note.Lesson {
			told = append(told, e.Note.Text)
		}
	}
	if !slices.Equal(told, []string{"two", "three lines", "four"}) {
		t.Errorf("the prompt has %q", told)
	}
	j.on("task/a", failed("a", FailOther)).on(Main, PlanAccepted{Plan: j.Plan}, TaskStarted{Task: "a"})
	j.on("task/a", CheckInMade{Verdict: CheckInContinue, Ledger: &Ledger{Lesson: "five"}})
	if got := j.Strands.Of("task/a").CheckIn.Learnt; !slices.Equal(got, []string{"three lines", "four"}) {
		t.Errorf("the new trial still begins with %q", got)
	}
}

// A person's decision starts the streaks again.
func TestAPersonStartsCheckInsAgain(t *testing.T) {
	j := atWork(RunStarted{}, 1).on("task/a", CheckInMade{Verdict: CheckInContinue, Stall: 2, Progress: 0.5})
	j.on("task/a", Finding{Rule: "L3", Severity: "stop", Strand: "task/a"}, Finding{Rule: "L9", Severity: "check-in", Strand: "task/a"},
		CheckpointOpened{ID: "r1-c", Ask: CheckStuck}, CheckpointDecided{ID: "r1-c", Decision: DecideRetry, By: "slack:U1"})
	if c := j.Strands.Of("task/a").CheckIn; c.Stall != 0 || c.Found != len(j.Findings) || c.Due != "" || c.Progress != 0.5 {
		t.Errorf("after a person's word: %+v", c)
	}
}

// The clock calls those who are at work, once.
func TestUnchecked(t *testing.T) {
	j := atWork(RunStarted{}, 1)
	if got := j.Unchecked(); !slices.Equal(got, []StrandID{"task/a"}) {
		t.Errorf("called %v", got)
	}
	if got := j.on("task/a", CheckInDue{}).Unchecked(); len(got) > 0 {
		t.Errorf("called %v twice", got)
	}
	j.on("task/a", CheckInMade{Verdict: CheckInContinue})
	if got := j.Unchecked(); len(got) > 0 {
		t.Errorf("called %v, which did nothing since", got)
	}
	j.did().on(Main, RunControlled{Word: WordPause, By: "slack:U1"})
	if got := j.Unchecked(); len(got) > 0 {
		t.Errorf("called %v of a paused run", got)
	}
}
