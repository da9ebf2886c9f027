package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func TestCheckSoundPlanHasNoFinding(t *testing.T) {
	p, found := plan.Check(sound(), plan.Options{Goal: "Show me how big each package is", Tools: tools()})
	if len(found) != 0 {
		t.Errorf("a sound plan has findings: %v", found)
	}
	if diff := cmp.Diff(sound(), p); diff != "" {
		t.Errorf("a sound plan was changed:\n%s", diff)
	}
}

// Each rule: a plan that breaks it and its neighbour that does not.
func TestCheckRules(t *testing.T) {
	type edit func(p *agent.Plan)
	tests := []struct {
		name      string
		code      string
		severity  agent.Severity
		task      agent.TaskID
		says      string
		o         plan.Options
		broken    edit
		neighbour edit
	}{
		{
			name: "V1 duplicate id", code: "V1", severity: agent.SeverityError, task: "t1", says: "task 1 and by task 3",
			broken:    func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("t1")) },
			neighbour: func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("t3")) },
		},
		{
			name: "V1 no id", code: "V1", severity: agent.SeverityError, says: "task 3",
			broken:    func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("")) },
			neighbour: func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("t3")) },
		},
		{
			name: "V2 unknown dependency", code: "V2", severity: agent.SeverityError, task: "t2", says: `the nearest is "t1"`,
			broken:    func(p *agent.Plan) { p.Tasks[1].DependsOn = []agent.TaskID{"t1x"} },
			neighbour: func(p *agent.Plan) { p.Tasks[1].DependsOn = []agent.TaskID{"t1"} },
		},
		{
			name: "V3 self dependency", code: "V3", severity: agent.SeverityError, task: "t2",
			broken:    func(p *agent.Plan) { p.Tasks[1].DependsOn = []agent.TaskID{"t1", "t2"} },
			neighbour: func(p *agent.Plan) { p.Tasks[1].DependsOn = []agent.TaskID{"t1"} },
		},
		{
			name: "V4 cycle", code: "V4", severity: agent.SeverityError, task: "t1", says: "t1 → t2 → t1",
			broken:    func(p *agent.Plan) { p.Tasks[0].DependsOn = []agent.TaskID{"t2"} },
			neighbour: func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("t3", "t2")) },
		},
		{
			name: "V4 cycle by an input", code: "V4", severity: agent.SeverityError, task: "t1", says: "input that implies it",
			broken:    func(p *agent.Plan) { p.Tasks[0].Inputs = []string{"loc_chart"} },
			neighbour: func(p *agent.Plan) { p.Tasks[0].Inputs = []string{"goal.repository"} },
		},
		{
			name: "V5 input without producer", code: "V5", severity: agent.SeverityError, task: "t2", says: `the nearest is "loc_table"`,
			broken:    func(p *agent.Plan) { p.Tasks[1].Inputs = []string{"loc_tabel"} },
			neighbour: func(p *agent.Plan) { p.Tasks[1].Inputs = []string{"loc_table", "goal.repo"} },
		},
		{
			name: "V5 own output", code: "V5", severity: agent.SeverityError, task: "t2",
			broken:    func(p *agent.Plan) { p.Tasks[1].Inputs = []string{"loc_table", "loc_chart"} },
			neighbour: func(p *agent.Plan) { p.Tasks[1].Inputs = []string{"loc_table"} },
		},
		{
			name: "V5 unknown input of the goal", code: "V5", severity: agent.SeverityError, task: "t2",
			o:         plan.Options{GoalInputs: []string{"repo"}},
			broken:    func(p *agent.Plan) { p.Tasks[1].Inputs = []string{"loc_table", "goal.nothing"} },
			neighbour: func(p *agent.Plan) { p.Tasks[1].Inputs = []string{"loc_table", "goal.repo"} },
		},
		{
			name: "V6 two producers", code: "V6", severity: agent.SeverityError, task: "t2", says: "also produced by t1",
			broken: func(p *agent.Plan) {
				p.Tasks[1].Outputs = append(p.Tasks[1].Outputs, agent.OutputSpec{Name: "loc_table"})
			},
			neighbour: func(p *agent.Plan) {
				p.Tasks[1].Outputs = append(p.Tasks[1].Outputs, agent.OutputSpec{Name: "loc_table_2"})
			},
		},
		{
			name: "V6 twice in one task", code: "V6", severity: agent.SeverityError, task: "t2", says: "twice",
			broken: func(p *agent.Plan) {
				p.Tasks[1].Outputs = append(p.Tasks[1].Outputs, p.Tasks[1].Outputs[0])
			},
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V7 producer is no ancestor", code: "V7", severity: agent.SeverityInfo, task: "t2",
			broken:    func(p *agent.Plan) { p.Tasks[1].DependsOn = nil },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V8 unused output", code: "V8", severity: agent.SeverityWarning, task: "t1",
			broken: func(p *agent.Plan) {
				p.Tasks[0].Outputs = append(p.Tasks[0].Outputs, agent.OutputSpec{Name: "log"})
			},
			neighbour: func(p *agent.Plan) {
				p.Tasks[1].Outputs = append(p.Tasks[1].Outputs, agent.OutputSpec{Name: "log"})
			},
		},
		{
			name: "V9 not essential", code: "V9", severity: agent.SeverityWarning, task: "t2",
			broken:    func(p *agent.Plan) { p.Tasks[1].Deliverable = false },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V9 at the end", code: "V9", severity: agent.SeverityError, task: "t2", o: plan.Options{Final: true},
			broken:    func(p *agent.Plan) { p.Tasks[1].Deliverable = false },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V10 unknown tool", code: "V10", severity: agent.SeverityError, task: "t2", says: `the nearest is "plot"`,
			o:         plan.Options{Tools: tools()},
			broken:    func(p *agent.Plan) { p.Tasks[1].Tools = []string{"plots"} },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V10 unknown role", code: "V10", severity: agent.SeverityError, task: "t2", says: `the nearest is "analyst"`,
			o:         plan.Options{Roles: []string{"writer", "analyst"}},
			broken:    func(p *agent.Plan) { p.Tasks[1].Role = "analist" },
			neighbour: func(p *agent.Plan) { p.Tasks[1].Role = "analyst" },
		},
		{
			name: "V11 declared type", code: "V11", severity: agent.SeverityError, task: "t2", says: "is text",
			o:         plan.Options{Tools: tools()},
			broken:    func(p *agent.Plan) { p.Tasks[1].Tools = []string{"play"} },
			neighbour: func(p *agent.Plan) { p.Tasks[1].Tools = []string{"play", "plot"} },
		},
		{
			name: "V11 type of the producer's tool", code: "V11", severity: agent.SeverityError, task: "t2",
			o: plan.Options{Tools: tools()},
			broken: func(p *agent.Plan) {
				p.Tasks[0].Outputs[0].Type = ""
				p.Tasks[1].Tools = []string{"play"}
			},
			neighbour: func(p *agent.Plan) {
				p.Tasks[0].Outputs[0].Type = ""
				p.Tasks[0].Tools = []string{"read_file"} // gives anything
				p.Tasks[1].Tools = []string{"play"}
			},
		},
		{
			name: "V14 effort missing", code: "V14", severity: agent.SeverityError, task: "t1", says: "effort",
			broken:    func(p *agent.Plan) { p.Tasks[0].Effort = 0 },
			neighbour: func(p *agent.Plan) { p.Tasks[0].Effort = 0.1 },
		},
		{
			name: "V14 value negative", code: "V14", severity: agent.SeverityError, task: "t1", says: "value",
			broken:    func(p *agent.Plan) { p.Tasks[0].Value = -1 },
			neighbour: func(p *agent.Plan) { p.Tasks[0].Value = 10 },
		},
		{
			name: "V15 goal not served", code: "V15", severity: agent.SeverityWarning, says: "goal 3",
			broken:    func(p *agent.Plan) { p.Goals = append(p.Goals, "Write a poem about the sea") },
			neighbour: func(p *agent.Plan) { p.Goals = append(p.Goals, "Name the biggest packages") },
		},
		{
			name: "V15 goal that no task names", code: "V15", severity: agent.SeverityWarning, says: "goal 2",
			broken: func(p *agent.Plan) {
				p.Goals = []string{"Reduce our cloud costs", "Name the biggest packages"}
				p.Tasks[0].Serves, p.Tasks[1].Serves = agent.GoalRefs{"1"}, agent.GoalRefs{"7"}
			},
			neighbour: func(p *agent.Plan) {
				p.Goals = []string{"Reduce our cloud costs", "Die größten Pakete nennen"}
				p.Tasks[0].Serves, p.Tasks[1].Serves = agent.GoalRefs{"1"}, agent.GoalRefs{"die größten Pakete nennen."}
			},
		},
		{
			name: "V15 no task at all", code: "V15", severity: agent.SeverityError,
			broken:    func(p *agent.Plan) { p.Tasks = nil },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V16 transitive edge", code: "V16", severity: agent.SeverityInfo, task: "t3", says: "need not name t1",
			broken:    func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("t3", "t1", "t2")) },
			neighbour: func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("t3", "t2")) },
		},
		{
			name: "V17 missing task", code: "V17", severity: agent.SeverityError, task: "t2", says: "$${ghost}",
			broken:    func(p *agent.Plan) { p.Tasks[1].Instructions = "Use ${ghost}." },
			neighbour: func(p *agent.Plan) { p.Tasks[1].Instructions = "Use $${ghost}, ${HOME} and ${a + b}." },
		},
		{
			name: "V17 later task", code: "V17", severity: agent.SeverityError, task: "t1", says: "not finished by then",
			broken:    func(p *agent.Plan) { p.Tasks[0].Instructions = "Use ${loc_chart}." },
			neighbour: func(p *agent.Plan) { p.Tasks[0].Instructions = "Use ${goal.repo}." },
		},
		{
			name: "V17 later task that is an input", code: "V17", severity: agent.SeverityError, task: "t1",
			broken: func(p *agent.Plan) {
				p.Tasks[0].Inputs = []string{"loc_chart"}
				p.Tasks[0].Instructions = "Use ${loc_chart}."
			},
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V17 unknown input of the goal", code: "V17", severity: agent.SeverityError, task: "t1",
			o:         plan.Options{GoalInputs: []string{"repo"}},
			broken:    func(p *agent.Plan) { p.Tasks[0].Instructions = "Use ${goal.repos}." },
			neighbour: func(p *agent.Plan) { p.Tasks[0].Instructions = "Use ${goal.repo}." },
		},
		{
			name: "V17 not among the inputs", code: "V17", severity: agent.SeverityWarning, task: "t2", says: "stays as it is",
			broken:    func(p *agent.Plan) { p.Tasks[1].Inputs = nil },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V18 budget", code: "V18", severity: agent.SeverityError, o: plan.Options{MaxTasks: 2},
			broken:    func(p *agent.Plan) { p.Tasks = append(p.Tasks, item("t3", "t2")) },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V18 fan-out", code: "V18", severity: agent.SeverityError, task: "t2", says: "21 tasks",
			broken:    func(p *agent.Plan) { p.Tasks = append(p.Tasks, fan(21, "t2")...) },
			neighbour: func(p *agent.Plan) { p.Tasks = append(p.Tasks, fan(20, "t2")...) },
		},
		{
			name: "V18 depth", code: "V18", severity: agent.SeverityError, task: "t1.1.1.1.1", says: "within t1.1.1.1",
			broken: func(p *agent.Plan) {
				p.Tasks = append(p.Tasks, item("t1.1", "t1"), item("t1.1.1", "t1.1"), item("t1.1.1.1", "t1"), item("t1.1.1.1.1", "t1"))
			},
			neighbour: func(p *agent.Plan) { // dots without parents, and a long chain, are no hierarchy
				p.Tasks = append(p.Tasks, item("v1.2.3.4.5", "t2"))
				for i := range 9 {
					p.Tasks = append(p.Tasks, item(agent.TaskID(fmt.Sprint("c", i)), p.Tasks[len(p.Tasks)-1].ID))
				}
			},
		},
		{
			name: "V18 depth by parents", code: "V18", severity: agent.SeverityError, task: "e",
			o: plan.Options{Parents: map[agent.TaskID]agent.TaskID{"b": "t1", "c": "b", "d": "c", "e": "d"}},
			broken: func(p *agent.Plan) {
				p.Tasks = append(p.Tasks, item("b", "t1"), item("c", "t1"), item("d", "t1"), item("e", "t1"))
			},
			neighbour: func(p *agent.Plan) {
				p.Tasks = append(p.Tasks, item("b", "t1"), item("c", "t1"), item("d", "t1"))
			},
		},
		{
			name: "V19 nameless link", code: "V19", severity: agent.SeverityError, task: "t2",
			broken:    func(p *agent.Plan) { p.Tasks[1].DependsOn = []agent.TaskID{""} },
			neighbour: func(*agent.Plan) {},
		},
		{
			name: "V20 no dependencies", code: "V20", severity: agent.SeverityInfo, says: "a first, c last",
			broken:    func(p *agent.Plan) { p.Goals, p.Tasks = nil, []agent.Task{item("a"), item("b"), item("c")} },
			neighbour: func(p *agent.Plan) { p.Goals, p.Tasks = nil, []agent.Task{item("a"), item("b"), item("c", "a")} },
		},
		{
			name: "V20 independent tasks", code: "V20", severity: agent.SeverityInfo, says: "side by side",
			broken: func(p *agent.Plan) {
				p.Goals, p.Tasks, p.Independent = nil, []agent.Task{item("a"), item("b")}, true
			},
			neighbour: func(p *agent.Plan) {
				p.Goals, p.Tasks, p.Independent = nil, []agent.Task{item("a"), item("b", "a")}, true
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bad := sound()
			tt.broken(&bad)
			_, found := plan.Check(bad, tt.o)
			if !has(found, tt.code, tt.severity, tt.task) {
				t.Errorf("want %s (%s) for %q, have %v", tt.code, tt.severity, tt.task, found)
			}
			for _, f := range found {
				if f.Code == tt.code && f.Task == tt.task && f.Severity == tt.severity && !strings.Contains(f.Message, tt.says) {
					t.Errorf("message %q does not say %q", f.Message, tt.says)
				}
			}
			good := sound()
			tt.neighbour(&good)
			_, found = plan.Check(good, tt.o)
			if plan.Stops(found) || has(found, tt.code, tt.severity, tt.task) {
				t.Errorf("the neighbour should pass, has %v", found)
			}
		})
	}
}

func fan(n int, from agent.TaskID) []agent.Task {
	var list []agent.Task
	for i := range n {
		list = append(list, item(agent.TaskID(fmt.Sprint("f", i)), from))
	}
	return list
}

// What a plan is for is no matter of words: in the words of the issue, in other
// languages, and where goals share nothing with the work that reaches them.
func TestNoPlanIsRefusedForItsWords(t *testing.T) {
	for _, tt := range []struct {
		goals []string
		title string
		doubt bool
	}{
		{[]string{"Reduce our cloud costs"}, "List idle virtual machines", false},
		{[]string{"Senke unsere Cloud-Kosten"}, "List idle virtual machines", false},
		{[]string{"クラウド費用を減らす"}, "List idle virtual machines", false},
		{[]string{"Reduce our cloud costs", "Tell the team"}, "List idle virtual machines", true},
		{[]string{"Réduire nos coûts", "Prévenir l'équipe"}, "List idle virtual machines", true},
	} {
		task := item("t1")
		task.Title = tt.title
		_, found := check(agent.Plan{Goals: tt.goals, Tasks: []agent.Task{task}})
		if plan.Stops(found) || len(agent.Doubts(found)) > 0 != tt.doubt {
			t.Errorf("%q by %q: %v", tt.goals, tt.title, found)
		}
	}
}

func TestCheckRepairsEdges(t *testing.T) {
	p := sound()
	p.Tasks[1].DependsOn = nil
	p.Tasks = append(p.Tasks, item("t3", "t2", "t1", "t2"))
	got, found := check(p)
	if diff := cmp.Diff([]string{"V7", "V16"}, codes(found)); diff != "" {
		t.Errorf("findings:\n%s", diff)
	}
	if diff := cmp.Diff([]agent.TaskID{"t1"}, mustTask(t, got, "t2").DependsOn); diff != "" {
		t.Errorf("the edge to the producer was not added:\n%s", diff)
	}
	if diff := cmp.Diff([]agent.TaskID{"t2"}, mustTask(t, got, "t3").DependsOn); diff != "" {
		t.Errorf("the transitive edge was not reduced:\n%s", diff)
	}
	if len(p.Tasks[1].DependsOn) != 0 || len(p.Tasks[2].DependsOn) != 3 {
		t.Error("Check changed its argument")
	}
}

func TestCheckAddsOnlyTheEdgesThatAreMissing(t *testing.T) {
	a, b, c := item("a"), item("b"), item("c", "b")
	a.Outputs = []agent.OutputSpec{{Name: "x"}}
	b.Inputs = []string{"x"}
	c.Inputs = []string{"x"} // a comes before c by way of b
	got, found := check(agent.Plan{Tasks: []agent.Task{a, b, c}})
	if !has(found, "V7", agent.SeverityInfo, "b") || has(found, "V7", agent.SeverityInfo, "c") {
		t.Errorf("want V7 for b only, have %v", found)
	}
	if diff := cmp.Diff([]agent.TaskID{"b"}, mustTask(t, got, "c").DependsOn); diff != "" {
		t.Error(diff)
	}
}

func TestCheckChains(t *testing.T) {
	got, found := check(agent.Plan{Tasks: []agent.Task{item("c"), item("a"), item("b")}})
	if diff := cmp.Diff([]string{"V20"}, codes(found)); diff != "" {
		t.Fatalf("findings:\n%s", diff)
	}
	if diff := cmp.Diff([]agent.TaskID{"c", "a", "b"}, plan.Order(got, nil)); diff != "" {
		t.Errorf("the chain does not follow the list:\n%s", diff)
	}
	if _, found = check(agent.Plan{Tasks: []agent.Task{item("a")}}); len(found) != 0 {
		t.Errorf("one task needs no chain: %v", found)
	}
	wrong := agent.Plan{Tasks: []agent.Task{item("a"), item("b", "nowhere")}}
	if _, found = check(wrong); !cmp.Equal(codes(found), []string{"V2"}) {
		t.Errorf("a wrong dependency is still one that was given: %v", found)
	}
}

func TestCheckPrintsOneCycleOfSeveral(t *testing.T) {
	p := agent.Plan{Tasks: []agent.Task{
		item("a", "c"), item("b", "a"), item("c", "b"), item("d", "e"), item("e", "d"), item("f", "a", "d"),
	}}
	got, found := check(p)
	if len(found) != 1 || !strings.Contains(found[0].Message, "a → b → c → a") {
		t.Errorf("want one cycle by its ids, have %v", found)
	}
	if diff := cmp.Diff(p, got); diff != "" {
		t.Errorf("a circular plan must keep its edges:\n%s", diff)
	}
}

func TestCheckSurvivesALongCycle(t *testing.T) {
	n := plan.MaxPlan
	p := agent.Plan{}
	for i := range n {
		p.Tasks = append(p.Tasks, item(num(i), num((i+n-1)%n)))
	}
	_, found := check(p)
	if !has(found, "V4", agent.SeverityError, num(0)) {
		t.Error("the cycle was not found")
	}
	if len(found[0].Message) > 1000 {
		t.Errorf("the message has %d bytes", len(found[0].Message))
	}
}

func TestCheckRefusesToExamineTooMany(t *testing.T) {
	p := agent.Plan{Tasks: make([]agent.Task, plan.MaxPlan+1)}
	_, found := check(p)
	if len(found) != 1 || found[0].Code != "V18" {
		t.Errorf("want V18 alone, have %d findings", len(found))
	}
}

func num(i int) agent.TaskID { return agent.TaskID(fmt.Sprintf("n%05d", i)) }

// large is a plan of 2,000 tasks and 10,000 edges, with data flow.
func large() agent.Plan {
	p := agent.Plan{}
	for i := range 2000 {
		t := item(num(i))
		t.Title = fmt.Sprintf("Compute part %d of section %d for customer %d", i, i%7, i%13)
		t.Outputs = []agent.OutputSpec{{Name: "out_" + string(num(i)), Type: "text"}}
		for k := range 5 {
			if from := i - 1 - (i*7+k*k*37)%97; from >= 0 {
				t.DependsOn = append(t.DependsOn, num(from))
			}
		}
		if i > 3 {
			t.Inputs = []string{"out_" + string(num(i-3))}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

func TestCheckIsFastOnLargePlans(t *testing.T) {
	p := large()
	begin := time.Now()
	got, _ := plan.Check(p, plan.Options{Tools: tools()})
	plan.Order(got, nil)
	// Well under a second without the race detector; the bound only catches a
	// change of order of growth.
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("2,000 tasks took %v", took)
	}
}

func BenchmarkCheck(b *testing.B) {
	p := large()
	for b.Loop() {
		plan.Check(p, plan.Options{Tools: tools()})
	}
}

func BenchmarkOrder(b *testing.B) {
	p, _ := check(large())
	for b.Loop() {
		plan.Order(p, nil)
	}
}

// BenchmarkCheckDense has every edge that is possible without a cycle.
func BenchmarkCheckDense(b *testing.B) {
	p := agent.Plan{}
	var all []agent.TaskID
	for i := range 1000 {
		p.Tasks = append(p.Tasks, item(num(i), all...))
		all = append(all, num(i))
	}
	for b.Loop() {
		check(p)
	}
}
