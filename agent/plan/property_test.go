package plan_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

// acyclic draws a plan whose edges only lead back in a hidden order; the tasks
// are listed in another one.
func acyclic(t *rapid.T) agent.Plan {
	n := rapid.IntRange(1, 14).Draw(t, "tasks")
	var tasks []agent.Task
	for i := range n {
		x := item(num(i))
		x.Effort = float64(rapid.IntRange(1, 40).Draw(t, "effort")) / 4
		x.Value = float64(rapid.IntRange(1, 10).Draw(t, "value"))
		x.Deliverable = rapid.Bool().Draw(t, "deliverable")
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				x.DependsOn = append(x.DependsOn, num(j))
			}
		}
		if rapid.Bool().Draw(t, "output") {
			x.Outputs = []agent.OutputSpec{{Name: "out" + string(x.ID)}}
		}
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "input") == 0 {
			from := tasks[rapid.IntRange(0, i-1).Draw(t, "from")]
			if len(from.Outputs) > 0 {
				x.Inputs = []string{from.Outputs[0].Name}
				x.Instructions = "Use ${" + x.Inputs[0] + "} and ${HOME}."
			}
		}
		tasks = append(tasks, x)
	}
	return agent.Plan{Tasks: rapid.Permutation(tasks).Draw(t, "listed")}
}

// anything draws a plan with all sorts of defects.
func anything(t *rapid.T) agent.Plan {
	id := rapid.SampledFrom([]agent.TaskID{"a", "b", "c", "d", "e", "a.1", ""})
	word := rapid.SampledFrom([]string{"x", "y", "z", "goal.q", "nope"})
	title := rapid.SampledFrom([]string{"Plan the next steps", "Count all files", "count files", "Do x", "", "Write the report of x"})
	task := rapid.Custom(func(t *rapid.T) agent.Task {
		x := agent.Task{
			ID: id.Draw(t, "id"), Title: title.Draw(t, "title"),
			DependsOn: rapid.SliceOfN(id, 0, 4).Draw(t, "deps"), Inputs: rapid.SliceOfN(word, 0, 2).Draw(t, "inputs"),
			Tools:        rapid.SliceOfN(rapid.SampledFrom([]string{"run_code", "plot", "odd"}), 0, 2).Draw(t, "tools"),
			Instructions: rapid.SampledFrom([]string{"", "Use ${x}", "${nope} ${goal.q}", "Read each file and add the lines up"}).Draw(t, "how"),
			Effort:       rapid.SampledFrom([]float64{0, 1, -1, 1e300, math.NaN()}).Draw(t, "effort"), Value: 1,
			Deliverable: rapid.Bool().Draw(t, "deliverable"),
		}
		for _, name := range rapid.SliceOfN(word, 0, 2).Draw(t, "outputs") {
			x.Outputs = append(x.Outputs, agent.OutputSpec{Name: name})
		}
		return x
	})
	return agent.Plan{Goals: []string{"Count files", "Sing"}, Tasks: rapid.SliceOfN(task, 0, 8).Draw(t, "tasks")}
}

func errorsOf(found []agent.PlanFinding) []agent.PlanFinding {
	return slices.DeleteFunc(slices.Clone(found), func(f agent.PlanFinding) bool { return f.Severity != agent.SeverityError })
}

var nan = cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })

func TestCheckProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anything(t)
		if rapid.Bool().Draw(t, "acyclic") {
			p = acyclic(t)
		}
		before, err := json.Marshal(ids(p))
		if err != nil {
			t.Fatal(err)
		}
		o := plan.Options{Tools: tools(), GoalInputs: []string{"q"}}
		got, found := plan.Check(p, o)
		again, same := plan.Check(p, o)
		if diff := cmp.Diff(got, again, nan) + cmp.Diff(found, same); diff != "" {
			t.Fatalf("the same plan, another answer:\n%s", diff)
		}
		if after, err := json.Marshal(ids(p)); err != nil || string(after) != string(before) {
			t.Fatalf("Check changed its argument: %s, %v", after, err)
		}
		// Nothing is lost but what was merged, nothing is renamed.
		for _, id := range ids(p) {
			_, there := got.Task(id)
			merged := slices.ContainsFunc(found, func(f agent.PlanFinding) bool {
				return f.Code == "V13" && f.Severity == agent.SeverityInfo && strings.HasPrefix(f.Message, string(id)+" was merged")
			})
			if !there && !merged {
				t.Fatalf("task %q is gone", id)
			}
		}
		// Its own normal form has no new errors.
		_, second := plan.Check(got, o)
		was := errorsOf(found)
		for _, f := range errorsOf(second) {
			if !slices.ContainsFunc(was, func(g agent.PlanFinding) bool { return g.Code == f.Code }) {
				t.Fatalf("new error %v after %v", f, was)
			}
		}
		if !plan.Stops(found) {
			third, rest := plan.Check(got, o)
			if diff := cmp.Diff(got, third, nan); diff != "" {
				t.Fatalf("the normal form is not normal, %v:\n%s", rest, diff)
			}
		}
	})
}

func TestCheckKeepsWhatMustComeBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := acyclic(t)
		got, found := check(p)
		if slices.ContainsFunc(found, func(f agent.PlanFinding) bool { return f.Code == "V4" }) {
			t.Fatalf("a cycle in a plan without one: %v", found)
		}
		at := map[agent.TaskID]int{}
		for i, id := range plan.Order(got, nil) {
			at[id] = i
		}
		if len(at) != len(p.Tasks) {
			t.Fatalf("%d of %d tasks are ordered", len(at), len(p.Tasks))
		}
		producer := map[string]agent.TaskID{}
		for _, x := range p.Tasks {
			for _, o := range x.Outputs {
				producer[o.Name] = x.ID
			}
		}
		for _, x := range p.Tasks {
			before := slices.Clone(x.DependsOn)
			for _, name := range x.Inputs {
				before = append(before, producer[name])
			}
			for _, id := range before {
				if at[id] >= at[x.ID] {
					t.Fatalf("%s stands before %s, which it needs", x.ID, id)
				}
			}
		}
	})
}

func TestOrderDoesNotDependOnTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := acyclic(t)
		done := map[agent.TaskID]bool{}
		for _, id := range ids(p) {
			done[id] = rapid.IntRange(0, 3).Draw(t, "done") == 0
		}
		q := p
		q.Tasks = rapid.Permutation(p.Tasks).Draw(t, "again")
		order := plan.Order(p, done)
		if diff := cmp.Diff(order, plan.Order(q, done)); diff != "" {
			t.Fatal(diff)
		}
		// Nothing is renamed or lost.
		for _, id := range ids(p) {
			if slices.Contains(order, id) == done[id] {
				t.Fatalf("%s: done %v, ordered %v", id, done[id], !done[id])
			}
		}
	})
}

// simulate schedules a plan with a number of slots: whenever one is free, the
// first ready task takes it. Tasks in bad fail at their end.
func simulate(t *rapid.T, p agent.Plan, slots int, bad map[agent.TaskID]bool) (states, float64) {
	st := states{}
	now, ends := 0.0, map[agent.TaskID]float64{}
	for {
		for _, id := range plan.Ready(p, st) {
			if len(ends) == slots {
				break
			}
			x, _ := p.Task(id)
			for _, d := range x.DependsOn {
				if st[d] != agent.TaskDone {
					t.Fatalf("%s starts before %s is done", id, d)
				}
			}
			st[id] = agent.TaskRunning
			ends[id] = now + x.Effort
		}
		if len(ends) == 0 {
			return st, now
		}
		if len(ends) > slots {
			t.Fatalf("%d running in %d slots", len(ends), slots)
		}
		now = math.Inf(1)
		for _, at := range ends {
			now = min(now, at)
		}
		for id, at := range ends {
			if at > now {
				continue
			}
			delete(ends, id)
			st[id] = agent.TaskDone
			if bad[id] {
				st[id] = agent.TaskFailed
			}
		}
	}
}

func TestMakespan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := check(acyclic(t))
		slots := rapid.IntRange(1, 5).Draw(t, "slots")
		st, took := simulate(t, p, slots, nil)
		total := 0.0
		for _, x := range p.Tasks {
			total += x.Effort
			if st[x.ID] != agent.TaskDone {
				t.Fatalf("%s never ran", x.ID)
			}
		}
		bound := (2 - 1/float64(slots)) * max(plan.Critical(p, nil).Length, total/float64(slots))
		if took > bound*(1+1e-9) {
			t.Fatalf("it took %v, the bound is %v", took, bound)
		}
	})
}

func TestFailureStopsOnlyDescendants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := acyclic(t)
		bad := map[agent.TaskID]bool{rapid.SampledFrom(ids(p)).Draw(t, "bad"): true}
		st, _ := simulate(t, p, 2, bad)
		// Efforts are fixed by the list; what follows is the definition, spelled out.
		after := map[agent.TaskID]bool{}
		for range p.Tasks {
			for _, x := range p.Tasks {
				if slices.ContainsFunc(x.DependsOn, func(d agent.TaskID) bool { return bad[d] || after[d] }) {
					after[x.ID] = true
				}
			}
		}
		blocked := plan.Blocked(p, st)
		for _, x := range p.Tasks {
			want := agent.TaskDone
			switch {
			case bad[x.ID]:
				want = agent.TaskFailed
			case after[x.ID]:
				want = ""
			}
			if st[x.ID] != want || slices.Contains(blocked, x.ID) != after[x.ID] {
				t.Fatalf("%s is %q, want %q; blocked %v", x.ID, st[x.ID], want, blocked)
			}
		}
	})
}

func TestMergeNeverLosesFinishedWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := acyclic(t)
		st := states{}
		for _, id := range ids(old) {
			st[id] = rapid.SampledFrom([]agent.TaskState{"", agent.TaskDone, agent.TaskFailed, agent.TaskRunning, agent.TaskSkipped}).Draw(t, "state")
		}
		revised := anything(t)
		if rapid.Bool().Draw(t, "own") {
			revised = acyclic(t)
			for i := range revised.Tasks {
				revised.Tasks[i].Title = fmt.Sprint("Revised ", i%3)
			}
		}
		got, _ := plan.Merge(old, st, revised, plan.Options{})
		seen := map[agent.TaskID]int{}
		for _, id := range ids(got) {
			seen[id]++
		}
		for _, x := range old.Tasks {
			if st[x.ID] != agent.TaskDone && st[x.ID] != agent.TaskRunning {
				continue
			}
			now, there := got.Task(x.ID)
			if diff := cmp.Diff(x, now); !there || diff != "" {
				t.Fatalf("finished task %s (there: %v) changed:\n%s", x.ID, there, diff)
			}
			if seen[x.ID] != 1 {
				t.Fatalf("%s is there %d times", x.ID, seen[x.ID])
			}
		}
	})
}

func TestExpandTouchesOnlyKnownNames(t *testing.T) {
	part := rapid.SampledFrom([]string{"${num}", "${other}", "${HOME}", "$", "{", "}", "text ", "${", "${a.b}", "é"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		if strings.Contains(text, "$${") {
			return // the escape has its own test
		}
		if got := plan.Expand(text, nil); got != text {
			t.Fatalf("%q became %q without any value", text, got)
		}
		if got, want := plan.Expand(text, values()), strings.ReplaceAll(text, "${num}", "1e3"); got != want {
			t.Fatalf("%q became %q, want %q", text, got, want)
		}
	})
}
