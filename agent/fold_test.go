package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// journal folds bodies that are written as "strand: body" pairs.
type journal struct {
	Run
}

func begin(brief RunStarted) *journal {
	j := &journal{}
	brief.Goal, brief.Requester = "count the lines", "slack:U1"
	return j.on(Main, brief)
}

func (j *journal) on(s StrandID, bodies ...Body) *journal {
	for _, b := range bodies {
		j.Run = j.Apply(Event{Run: "r1", Strand: s, Seq: j.Seq + 1, At: noon.Add(time.Duration(j.Seq) * time.Second), Body: b})
	}
	return j
}

// answer is the strand's next model call with the functions that it calls.
func (j *journal) answer(s StrandID, functions ...string) *journal {
	m := &llm.Message{Role: llm.Assistant}
	for i, f := range functions {
		m.Calls = append(m.Calls, llm.Call{ID: fmt.Sprint("c", i), Name: f, Arguments: "{}"})
	}
	call := fmt.Sprintf("%s.%d", s, j.Strands.Of(s).Calls+1)
	return j.on(s, ModelAsked{Call: call, Purpose: j.Purpose(s)}, ModelAnswered{Call: call, Purpose: j.Purpose(s), Message: m, Cost: new(Nano(0))})
}

// planned is a run with the tasks a and b, b after a.
func planned() *journal {
	return begin(RunStarted{Slots: 2}).on(Main, PlanAccepted{Plan: Plan{Tasks: []Task{
		{ID: "a", Title: "A"}, {ID: "b", Title: "B", DependsOn: []TaskID{"a"}, Deliverable: true},
	}}})
}

func failed(id TaskID, kind FailKind) TaskEnded {
	return TaskEnded{Task: id, State: TaskFailed, Reason: "no disk", Fail: kind}
}

// first is the first step of the strand's move, nil if it has none.
func first(r Run, s StrandID) Step {
	if m := r.Next(s); len(m.Steps) > 0 {
		return m.Steps[0]
	}
	return nil
}

// decided are the bodies that the strand's move journals.
func decided(r Run, s StrandID) []Body {
	d, _ := first(r, s).(Decide)
	var bodies []Body
	for _, e := range d.Events {
		bodies = append(bodies, e.Body)
	}
	return bodies
}

func TestUnknownStrandsStayUnknown(t *testing.T) {
	j := begin(RunStarted{})
	for _, b := range []Body{TimePassed{}, ModelAsked{Call: "x"}, TaskFinishing{Task: "a"}} {
		if j.on(Voice, b); j.Strands.Len() != 1 {
			t.Errorf("%s began the strand voice", b.Kind())
		}
	}
}

// A worker that adds tasks does not bring back what failed: that is a re-plan.
func TestAnExtensionKeepsFailures(t *testing.T) {
	j := planned().on(Main, TaskStarted{Task: "a"}).on("task/a", failed("a", FailOther))
	more := j.Plan
	more.Tasks = append(more.Tasks[:2:2], Task{ID: "c", Title: "C"})
	j.on("task/b", PlanAccepted{Plan: more})
	if a, c := j.Tasks["a"].State, j.Tasks["c"].State; a != TaskFailed || c != TaskPending || j.Replans != 0 {
		t.Errorf("a is %s, c is %s after %d re-plans; want failed, pending, 0", a, c, j.Replans)
	}
	j.on(Main, PlanAccepted{Plan: more})
	if a := j.Tasks["a"].State; a != TaskPending || j.Replans != 1 {
		t.Errorf("a is %s after %d re-plans that name it; want pending, 1", a, j.Replans)
	}
}

func TestReplans(t *testing.T) {
	fail := func(j *journal, kind FailKind) *journal {
		return j.on(Main, TaskStarted{Task: "a"}).on("task/a", failed("a", kind))
	}
	replan := func(j *journal) *journal { return j.on(Main, PlanAccepted{Plan: j.Plan}) }
	retry := func(t *testing.T, j *journal) *journal {
		t.Helper()
		bodies := decided(j.Run, Main)
		if len(bodies) != 1 {
			t.Fatalf("no question, but %+v", j.Next(Main))
		}
		c, _ := bodies[0].(CheckpointOpened)
		return j.on(Main, c, CheckpointDecided{ID: c.ID, Decision: DecideRetry, By: "slack:U1"})
	}
	t.Run("two, then the person, who allows one more each time", func(t *testing.T) {
		j := fail(planned(), FailOther)
		for n := range 2 {
			if p := j.Purpose(Main); p != llm.Plan {
				t.Fatalf("after %d re-plans main asks for %s", n, p)
			}
			j = fail(replan(j), FailOther)
		}
		for range 3 {
			j = retry(t, j)
			if p := j.Purpose(Main); p != llm.Plan {
				t.Fatalf("after a person said so main asks for %s", p)
			}
			j = fail(replan(j), FailOther)
		}
	})
	t.Run("blocked asks the person first, however often it was planned anew", func(t *testing.T) {
		j := fail(replan(fail(replan(fail(planned(), FailOther)), FailOther)), FailBlocked)
		if j = retry(t, j); j.Purpose(Main) != llm.Plan {
			t.Errorf("a person said try again, and main does %+v", j.Next(Main))
		}
	})
	t.Run("impossible is reported", func(t *testing.T) {
		j := fail(planned(), FailImpossible)
		if got := first(j.Run, Main); got != (AskModel{llm.Report}) {
			t.Errorf("main does %+v, want the report", got)
		}
	})
	t.Run("with nobody to ask it is reported", func(t *testing.T) {
		j := fail(planned(), FailBlocked).on(Main, RunControlled{Word: WordLeave, By: "terminal"})
		if got := first(j.Run, Main); got != (AskModel{llm.Report}) {
			t.Errorf("main does %+v, want the report", got)
		}
	})
	t.Run("a re-plan that fails reports what there is", func(t *testing.T) {
		j := planned().on(Main, TaskStarted{Task: "a"}).on("task/a", TaskEnded{Task: "a", State: TaskDone, Summary: "1234 lines"})
		j.on(Main, TaskStarted{Task: "b"}).on("task/b", failed("b", FailOther))
		j.on(Main, ModelAsked{Call: "x"}, ModelAnswered{Call: "x", Purpose: llm.Plan, Error: "model: gone", Cost: new(Nano(0))})
		bodies := decided(j.Run, Main)
		if len(bodies) != 2 {
			t.Fatalf("main does %+v", j.Next(Main))
		}
		rep, _ := bodies[0].(Reported)
		if !strings.Contains(rep.Headline, "1 of 2") || !strings.Contains(rep.Body, "1234 lines") || !strings.Contains(rep.Body, "model: gone") {
			t.Errorf("report %+v", rep)
		}
	})
}

// A run that is to finish with what there is asks for its report once.
func TestFinishingReportsOnce(t *testing.T) {
	j := planned().on(Main, TaskStarted{Task: "a"}).on("task/a", failed("a", FailBlocked))
	question, _ := decided(j.Run, Main)[0].(CheckpointOpened)
	j.on(Main, question, CheckpointDecided{ID: question.ID, Decision: DecideFinish, By: "slack:U1"})
	if got := first(j.Run, Main); got != (AskModel{llm.Report}) {
		t.Fatalf("main does %+v, want the report", got)
	}
	if got := j.answer(Main, "submit_report").Next(Main); len(got.Steps) != 1 || got.Steps[0] != (Dispatch{}) {
		t.Fatalf("with the report there, main does %+v", got)
	}
	j.on(Main, CallReplied{Effect: "main.1.0", Text: "delivered"}, Reported{Headline: "half of it"})
	if bodies := decided(j.Run, Main); len(bodies) != 1 || bodies[0].Kind() != "run.ended" {
		t.Errorf("after the report main does %+v", j.Next(Main))
	}
}

// Nothing is asked of a model while it refuses, not even the last report.
func TestFinishingWaitsWhilePaused(t *testing.T) {
	for name, b := range map[string]Body{
		"paused":  RunControlled{Word: WordPause, By: "slack:U1"},
		"refused": ModelAnswered{Call: "x", Error: "model: unauthorised", Refused: true},
	} {
		j := planned()
		j.Finish = true
		j.on(Main, ModelAsked{Call: "x"}, b, ModelAnswered{Call: "x"})
		if m := j.Next(Main); len(m.Steps) > 0 {
			t.Errorf("%s: main does %+v", name, m)
		}
		j.on(Main, RunControlled{Word: WordResume, By: "slack:U1"})
		if got := first(j.Run, Main); got != (AskModel{llm.Report}) {
			t.Errorf("%s: after that main does %+v", name, got)
		}
	}
}

// The third unusable reply in a row ends the step: replies, not calls.
func TestStrikesAreReplies(t *testing.T) {
	j := planned().on(Main, TaskStarted{Task: "a"})
	for n := 1; n <= 3; n++ {
		if got := first(j.Run, "task/a"); got != (AskModel{llm.Work}) {
			t.Fatalf("after %d unusable replies: %+v", n-1, got)
		}
		j.answer("task/a", "telepathy", "telekinesis", "levitation")
		for i := range 3 {
			j.on("task/a", CallReplied{Effect: EffectID(fmt.Sprintf("task/a.%d.%d", n, i)), Text: "error: unknown function", Problem: true})
		}
		if got := j.Talk("task/a").Strikes; got != n {
			t.Fatalf("%d strikes after %d replies", got, n)
		}
	}
	bodies := decided(j.Run, "task/a")
	if len(bodies) != 1 {
		t.Fatalf("after three unusable replies: %+v", j.Next("task/a"))
	}
	if end, _ := bodies[0].(TaskEnded); end.State != TaskFailed || !strings.HasSuffix(end.Reason, "no usable answer in three tries. It last asked for something that I cannot do") {
		t.Errorf("the task ended as %+v", end)
	}
}

// The reason is in the model's words, and not in what we told it.
func TestStrikesQuoteTheModel(t *testing.T) {
	for words, want := range map[string]string{
		"I would rather\ntalk": "The model gave no usable answer in three tries. It last wrote: “I would rather talk”",
		" ":                    "The model gave no usable answer in three tries. Its last answer was empty",
	} {
		j := begin(RunStarted{})
		for n := range 3 {
			call := fmt.Sprint("main.", n)
			j.on(Main, ModelAsked{Call: call, Purpose: llm.Intake}, ModelAnswered{Call: call, Purpose: llm.Intake,
				Problem: "error: call exactly one function", Message: &llm.Message{Role: llm.Assistant, Content: words}})
		}
		bodies := decided(j.Run, Main)
		if len(bodies) != 2 {
			t.Fatalf("after three unusable replies: %+v", j.Next(Main))
		}
		if end, _ := bodies[1].(RunEnded); end.Reason != want {
			t.Errorf("the run ended for %q, want %q", end.Reason, want)
		}
	}
}

func TestAUsableReplyEndsTheRow(t *testing.T) {
	j := planned().on(Main, TaskStarted{Task: "a"})
	j.answer("task/a", "telepathy").on("task/a", CallReplied{Effect: "task/a.1.0", Problem: true})
	j.answer("task/a", "read").on("task/a", ToolIntent{Effect: "task/a.2.0"}, ToolOutcome{Effect: "task/a.2.0", State: OutcomeError, Text: "error"})
	if got := j.Talk("task/a").Strikes; got != 0 {
		t.Errorf("%d strikes after a tool ran", got)
	}
}

// Notes wait until every call has its reply, as the protocol wants.
func TestNotesWaitForReplies(t *testing.T) {
	j := planned().on(Main, TaskStarted{Task: "a"}).answer("task/a", "read", "read")
	j.on(Main, PersonSaid{By: "slack:U1", Text: "hurry", Trusted: true})
	j.on("task/a", ToolIntent{Effect: "task/a.1.0"}, ToolIntent{Effect: "task/a.1.1"}, ToolOutcome{Effect: "task/a.1.1", Text: "two"})
	if n := j.Talk("task/a").Entries.Len(); n != 2 {
		t.Fatalf("%d entries while a call is open, want the answer and a reply", n)
	}
	j.on("task/a", ToolOutcome{Effect: "task/a.1.0", Text: "one"})
	entries := j.Talk("task/a").Entries
	if entries.Len() != 4 || entries.At(3).Note == nil || entries.At(3).Note.Text != "hurry" {
		t.Errorf("entries %+v", entries)
	}
	if j.Spent.Tools != 2 {
		t.Errorf("%d tool calls counted, want 2", j.Spent.Tools)
	}
}

// A call that was under way when its holder vanished counts as spent.
func TestLostCallsCount(t *testing.T) {
	j := begin(RunStarted{}).on(Main, ModelAsked{Call: "main.1", Purpose: llm.Intake, Reserve: new(Nano(7)), ReserveTokens: 300})
	lost := j.Strands.Lost(Main)
	if len(lost) != 1 {
		t.Fatalf("lost %+v", lost)
	}
	j.on(Main, lost[0].Body)
	if j.Spent.Cost != 7 || j.Spent.Tokens() != 300 || j.Spent.Calls != 1 || len(j.Strands.Lost(Main)) != 0 {
		t.Errorf("spent %+v, lost %+v", j.Spent, j.Strands.Lost(Main))
	}
	j.on(Main, ModelAsked{Call: "main.2"}, ModelAnswered{Call: "main.2"})
	if j.Spent.Dollars() != nil {
		t.Errorf("a call without a price cost %v", j.Spent.Dollars())
	}
}

func TestLimitsGrowWithPeople(t *testing.T) {
	j := begin(RunStarted{Limits: Limits{USD: 4 * Dollar, Tokens: 1000, Time: time.Minute, Steps: 8}})
	c := BudgetQuestion(j.Run, "usd", noon)
	j.on(Main, c, CheckpointDecided{ID: c.ID, Decision: DecideMore25, By: "slack:U1"})
	want := Limits{USD: 5 * Dollar, Tokens: 1000, Time: time.Minute, Steps: 8}
	if got := j.Limits(); got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
	if again := BudgetQuestion(j.Run, "usd", noon); again.ID == c.ID {
		t.Error("the next question about the same budget has the same id")
	}
	if wide := BudgetQuestion(j.Run, "month/usd", noon); len(wide.Choices) != 2 {
		t.Errorf("a wider budget offers %v, but no run may raise it", wide.Choices)
	}
}

// Values go into prompts and arguments: a goal's text keeps its characters.
func TestGoalIsAValue(t *testing.T) {
	r := Run{Brief: RunStarted{Goal: `a<b> & "c"`}}
	if got := string(Values(r)["goal.text"].Value); got != `"a<b> & \"c\""` {
		t.Errorf("goal.text is %s", got)
	}
}

// A fold shares nothing with the one before it.
func TestTouchedIsAValue(t *testing.T) {
	before := touched(nil, []string{"a", "b", "c"})
	after := touched(before, []string{"a"})
	if !slices.Equal(before, []string{"a", "b", "c"}) || !slices.Equal(after, []string{"b", "c", "a"}) {
		t.Errorf("%v, then %v", before, after)
	}
}

// A worker that was frozen tells an outcome that is known already, while other
// files were changed: theirs stay the newest.
func TestASecondOutcomeTouchesNothing(t *testing.T) {
	j := planned().on(Main, TaskStarted{Task: "a"}).answer("task/a", "write", "write")
	j.on("task/a",
		ToolIntent{Effect: "task/a.1.0"}, ToolOutcome{Effect: "task/a.1.0", Files: []string{"table.md"}},
		ToolIntent{Effect: "task/a.1.1"}, ToolOutcome{Effect: "task/a.1.1", Files: []string{"log.md"}})
	j.on("task/a", ToolOutcome{Effect: "task/a.1.0", Files: []string{"table.md"}})
	if want := []string{"table.md", "log.md"}; !slices.Equal(j.Touched, want) {
		t.Errorf("changed files %v, want %v", j.Touched, want)
	}
}
