package estimate_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/estimate"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

func task(id string, effort float64, needs ...agent.TaskID) agent.Task {
	return agent.Task{ID: agent.TaskID(id), Title: "Do " + id, Effort: effort, Value: 1, DependsOn: needs}
}

func TestSpan(t *testing.T) {
	diamond := []agent.Task{task("a", 1), task("b", 2, "a"), task("c", 5, "a"), task("d", 1, "b", "c")}
	wide := []agent.Task{task("a", 2), task("b", 2), task("c", 2), task("d", 2)}
	for _, tt := range []struct {
		name  string
		tasks []agent.Task
		slots int
		want  float64
	}{
		{"nothing", nil, 4, 0},
		{"a chain", []agent.Task{task("a", 1), task("b", 2, "a"), task("c", 3, "b")}, 4, 6},
		{"the longer way of two", diamond, 2, 7},
		{"one after the other", diamond, 1, 9},
		{"as many as slots", wide, 4, 2},
		{"two at once", wide, 2, 4},
		{"an effort that is not stated counts as a minute", []agent.Task{task("a", 0)}, 1, 1},
		{"a circle is worked by nobody", []agent.Task{task("a", 1, "b"), task("b", 1, "a"), task("c", 3)}, 2, 3},
		{"a task that is not there", []agent.Task{task("a", 1, "x"), task("b", 2)}, 2, 2},
	} {
		if got := estimate.Span(agent.Plan{Tasks: tt.tasks}, tt.slots); got != tt.want {
			t.Errorf("%s: %v minutes, want %v", tt.name, got, tt.want)
		}
	}
}

// run is the journal of a run with tasks that all took the same.
func run(goal string, tasks int, state agent.RunState) []agent.Event {
	var events []agent.Event
	add := func(s agent.StrandID, b agent.Body) { events = append(events, agent.Event{Strand: s, Body: b}) }
	call := func(s agent.StrandID, p llm.Purpose) {
		add(s, agent.ModelAnswered{Purpose: p, Prompt: 1000, Completion: 100, Cached: 500, Took: 2 * time.Second})
	}
	add(agent.Main, agent.RunStarted{Goal: goal})
	add(agent.Main, agent.ModelAnswered{Given: "steps"}) // nobody was asked
	call(agent.Main, llm.Intake)
	var p agent.Plan
	for i := range tasks {
		p.Tasks = append(p.Tasks, task(string(rune('a'+i)), 0.5))
	}
	add(agent.Main, agent.PlanAccepted{Plan: p})
	for _, x := range p.Tasks {
		s := agent.TaskStrand(x.ID)
		call(s, llm.Work)
		call(s, llm.Work)
		add(s, agent.ModelAnswered{RetryAt: time.Unix(1, 0), Took: time.Hour}) // it was limited, and cost nothing
		add(s, agent.ToolOutcome{Took: 6 * time.Second})
		call(s, llm.Judge)
		add(s, agent.TaskEnded{Task: x.ID, State: agent.TaskDone})
	}
	call(agent.Main, llm.Report)
	add(agent.Main, agent.RunEnded{State: state})
	return events
}

func TestSampleOf(t *testing.T) {
	got, whole := estimate.SampleOf(run("count", 2, agent.RunDone))
	one := estimate.Task{Effort: 0.5, Use: estimate.Use{Calls: 3, Prompt: 3000, Completion: 300, Cached: 1500, Model: 6 * time.Second, Compute: 6 * time.Second}}
	want := estimate.Sample{Goal: "count", Tasks: []estimate.Task{one, one},
		Around: estimate.Use{Calls: 2, Prompt: 2000, Completion: 200, Cached: 1000, Model: 4 * time.Second}}
	if diff := cmp.Diff(want, got); diff != "" || !whole {
		t.Errorf("whole %v\n%s", whole, diff)
	}
	if _, whole := estimate.SampleOf(run("count", 2, agent.RunCancelled)); whole {
		t.Error("a run that was cancelled says nothing about others")
	}
	if _, whole := estimate.SampleOf(run("what is the time?", 0, agent.RunDone)); whole {
		t.Error("a mere answer says nothing about plans")
	}
}

func learnt(t *testing.T, goal string, goals ...string) estimate.Basis {
	t.Helper()
	var list []estimate.Sample
	for _, g := range goals {
		s, _ := estimate.SampleOf(run(g, 2, agent.RunDone))
		list = append(list, s)
	}
	return estimate.Learn(goal, list)
}

func TestLearnTakesSimilarRuns(t *testing.T) {
	goals := []string{"count the lines of agent", "count the lines of bot", "count the lines of memory", "write a poem"}
	for _, tt := range []struct {
		goal          string
		runs, similar int
	}{{"Count the lines of tools", 4, 3}, {"book a flight", 4, 0}, {"", 4, 0}} {
		if b := learnt(t, tt.goal, goals...); b.Runs != tt.runs || b.Similar != tt.similar {
			t.Errorf("%q: %d runs, %d similar", tt.goal, b.Runs, b.Similar)
		}
	}
	if b := estimate.Learn("x", nil); b.Runs != 0 || b.Calls.Likely == 0 {
		t.Error("without runs the usual figures count")
	}
}

func TestOf(t *testing.T) {
	b := learnt(t, "count", "count")
	price := &estimate.Price{Input: 2 * agent.Dollar, Cached: agent.Dollar, Output: 10 * agent.Dollar}
	cheap := &estimate.Price{}
	p := agent.Plan{Tasks: []agent.Task{task("a", 1), task("b", 1), task("c", 2, "a", "b")}}
	e := estimate.Of(p, b, estimate.Options{Slots: 2, Price: price, PriceFast: cheap})
	// 3 tasks of 3 calls and 2 around them, 1,000 and 100 tokens each; half of the
	// prompt was in the cache: 1,000 × $1.50 and 100 × $10 per million.
	if e.Calls.Likely != 11 || e.Tokens.Likely != 12_100 || e.Cost.Likely != 11*(1_500_000+1_000_000) {
		t.Errorf("calls %v, tokens %v, cost %v", e.Calls, e.Tokens, e.Cost)
	}
	// A task took 12 s for half a minute of effort: 3 minutes on the critical path
	// are 72 s; planning and the report are two calls of 2 s.
	if e.Time.Likely != 76 || e.Model.Likely != 22 || e.Compute.Likely != 18 {
		t.Errorf("time %v, model %v, tools %v", e.Time, e.Model, e.Compute)
	}
	if diff := cmp.Diff([]agent.TaskID{"a", "c"}, e.Critical); diff != "" {
		t.Error(diff)
	}
	fast := estimate.Of(p, b, estimate.Options{Slots: 2, Price: price, PriceFast: cheap, Fast: func(t agent.Task) bool { return t.ID == "a" }})
	if fast.Cost.Likely != 8*2_500_000 {
		t.Errorf("the fast model's task costs its price: %v", fast.Cost)
	}
	p.Tasks[0].Check = &agent.Check{File: "x"}
	if e := estimate.Of(p, b, estimate.Options{Slots: 2}); e.Calls.Likely != 10 || e.Cost != nil {
		t.Errorf("a check needs no judge, and no price is no money: %v %v", e.Calls, e.Cost)
	}
}

func TestOfHostilePlans(t *testing.T) {
	b := estimate.Learn("", nil)
	for name, p := range map[string]agent.Plan{
		"nothing":  {},
		"negative": {Tasks: []agent.Task{task("a", -5)}},
		"huge":     {Tasks: []agent.Task{task("a", 1e300), task("b", math.NaN()), task("c", math.Inf(1))}},
		"twice":    {Tasks: []agent.Task{task("a", 1), task("a", 1)}},
	} {
		e := estimate.Of(p, b, estimate.Options{})
		if !(e.Time.Low <= e.Time.Likely && e.Time.Likely <= e.Time.High) || math.IsInf(e.Time.High, 0) || e.Line() == "" {
			t.Errorf("%s: %v", name, e.Time)
		}
	}
	if e := estimate.OfGoal(b, estimate.Options{Slots: 4}); e.Time.Low > e.Time.Likely || e.Time.Likely > e.Time.High || e.Critical != nil {
		t.Errorf("a goal: %v", e.Time)
	}
}
