package playbook_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm/rehearsal"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/playbook"
)

// tools are those that a process without programs has.
var tools = []string{"read_file", "write_to_file", "append_to_file", "list_files", "search_files", "calculator", "run_code", "plot"}

func specs() []agent.ToolSpec {
	var list []agent.ToolSpec
	for _, t := range tools {
		list = append(list, agent.ToolSpec{Name: t})
	}
	return list
}

func TestShippedPlaybooksMakePlans(t *testing.T) {
	l, faults := playbook.Read(playbook.Shipped())
	faults = append(faults, l.Check(tools)...)
	for _, f := range faults {
		t.Error(f)
	}
	if len(l.Playbooks) != 7 {
		t.Errorf("%d playbooks", len(l.Playbooks))
	}
	for _, b := range l.Playbooks {
		p, err := l.Complete(agent.Plan{Playbook: b.Name}, nil, tools)
		if err != nil {
			t.Fatal(err)
		}
		p, found := plan.Check(p, plan.Options{Goal: "x", GoalInputs: []string{"text"}, Tools: specs()})
		if plan.Stops(found) || len(p.Tasks) != len(b.Stages) {
			t.Errorf("%s: %v", b.Name, found)
		}
		goal, scenario, is := playbook.Rehearsal(b.Name)
		if _, err := rehearsal.Parse(b.Name, scenario); !is || goal == "" || err != nil {
			t.Errorf("%s: rehearsal of %q: %v", b.Name, goal, err)
		}
		if fits := l.Fitting(goal, 3); b.Name != "customer-service" && len(fits) == 0 {
			t.Errorf("%s does not fit its own goal %q", b.Name, goal)
		}
	}
}

const cook = "---\nname: cook\ntools: read_file, write_to_file\nmodel: fast\npublishes: [text/markdown]\n---\nYou cook.\n"

const dinner = `name: dinner
when: People are hungry.
inputs: [{name: guests, description: how many}, {name: course, default: soup}]
stages:
  - name: shop
    role: cook
    out: [list]
  - name: cook
    role: cook
    instructions: Cook ${input.course} for ${input.guests} from ${list}.
    in: [list]
    out: [{name: meal, type: text/markdown}]
    check: {file: '${input.course}.md', expect: salt}
    reviewer: cook
`

func read(t *testing.T, files ...string) *playbook.Library {
	t.Helper()
	l, faults := readAll(files...)
	for _, f := range faults {
		t.Fatal(f)
	}
	return l
}

func readAll(files ...string) (*playbook.Library, []playbook.Fault) {
	var list []playbook.File
	for _, f := range files {
		name := "b.yaml"
		if strings.HasPrefix(f, "---") || strings.HasPrefix(f, "#") {
			name = "r.md"
		}
		list = append(list, playbook.File{Path: name, Data: []byte(f)})
	}
	return playbook.Read(list)
}

func TestPlan(t *testing.T) {
	l := read(t, cook, dinner)
	p, err := l.Complete(agent.Plan{Playbook: "dinner", Goals: []string{"eat"}}, map[string]string{"guests": "four ${list}"}, tools)
	if err != nil {
		t.Fatal(err)
	}
	p, found := plan.Check(p, plan.Options{Tools: specs()})
	if plan.Stops(found) {
		t.Fatal(found)
	}
	meal, _ := p.Task("cook")
	want := agent.Task{ID: "cook", Title: "cook", Instructions: "Cook soup for four $${list} from ${list}.", Role: "cook", DependsOn: []agent.TaskID{"shop"},
		Inputs: []string{"list"}, Outputs: []agent.OutputSpec{{Name: "meal", Type: "text/markdown"}}, Tools: []string{"read_file", "write_to_file"},
		Effort: 5, Value: 5, Deliverable: true, Check: &agent.Check{File: "soup.md", Expect: []byte(`"salt"`)}, Reviewer: "cook"}
	if diff := cmp.Diff(want, meal); diff != "" {
		t.Error(diff)
	}
	if r, is := p.Role("cook"); !is || r.Model != agent.RoleFast || r.Prompt != "You cook." {
		t.Errorf("the role is not kept with the plan: %+v", p.Roles)
	}
	if _, err := l.Complete(agent.Plan{Playbook: "dinner"}, nil, tools); err == nil || !strings.Contains(err.Error(), "input guests") {
		t.Errorf("an input is missing: %v", err)
	}
	if _, err := l.Complete(agent.Plan{Playbook: "diner"}, nil, tools); err == nil || !strings.Contains(err.Error(), `"dinner"`) {
		t.Errorf("an unknown playbook: %v", err)
	}
}

func TestNoStageIsSkipped(t *testing.T) {
	l := read(t, cook, dinner)
	own := func(change func(p *agent.Plan)) []agent.PlanFinding {
		p := agent.Plan{Playbook: "dinner", Tasks: []agent.Task{
			{ID: "a", Title: "Buy what is needed", Outputs: []agent.OutputSpec{{Name: "list"}}, Effort: 1, Value: 1},
			{ID: "b", Title: "Prepare the soup", Inputs: []string{"list"}, Outputs: []agent.OutputSpec{{Name: "meal"}}, Effort: 1, Value: 1, Deliverable: true},
		}}
		change(&p)
		p, err := l.Complete(p, map[string]string{"guests": "2"}, tools)
		if err != nil {
			t.Fatal(err)
		}
		p, found := plan.Check(p, plan.Options{Tools: specs()})
		if b, _ := p.Task("b"); !plan.Stops(found) && (b.Check == nil || b.Reviewer != "cook" || b.Role != "cook") {
			t.Errorf("the stage's check, reviewer and role are the task's: %+v", b)
		}
		return found
	}
	for _, tt := range []struct {
		name, says string
		change     func(p *agent.Plan)
	}{
		{"as it should be", "", func(*agent.Plan) {}},
		{"a stage is left out", `stage "shop" of the playbook dinner is left out`, func(p *agent.Plan) {
			p.Tasks = p.Tasks[1:]
			p.Tasks[0].Inputs = nil
		}},
		{"a stage by another role", "it is for cook", func(p *agent.Plan) { p.Tasks[1].Role = "waiter" }},
		{"a stage without what it takes", `without "list"`, func(p *agent.Plan) {
			p.Tasks[1].Inputs, p.Tasks[0].Deliverable = nil, true
			p.Tasks = append(p.Tasks, agent.Task{ID: "c", Title: "Lay the table", DependsOn: []agent.TaskID{"a"}, Acceptance: "it is laid", Effort: 1, Value: 1, Deliverable: true})
		}},
		{"a tool that the role may not use", "may not use", func(p *agent.Plan) { p.Tasks[1].Role, p.Tasks[1].Tools = "cook", []string{"plot"} }},
		{"an artifact of another type", "publishes text/markdown", func(p *agent.Plan) {
			p.Tasks[1].Role, p.Tasks[1].Outputs[0].Type = "cook", "image/png"
		}},
	} {
		found := own(tt.change)
		if plan.Stops(found) != (tt.says != "") {
			t.Errorf("%s: %v", tt.name, found)
		}
		var said strings.Builder
		for _, f := range found {
			said.WriteString(f.Message + "\n")
		}
		if !strings.Contains(said.String(), tt.says) {
			t.Errorf("%s: %q is not said in %q", tt.name, tt.says, said.String())
		}
	}
}

func TestFaultsNameFileAndLine(t *testing.T) {
	for _, tt := range []struct{ name, role, book, want string }{
		{"no front matter", "# a role", "", "r.md:1: a role begins with front matter"},
		{"an unknown key", "---\nname: cook\ncolour: red\n---\nYou cook.\n", "", `r.md:3: unknown key "colour"`},
		{"an unknown tool", "---\nname: cook\ntools:\n  - read_file\n  - read_fil\n---\nYou cook.\n", "", `r.md:5: the role cook names the tool "read_fil", which does not exist here; the nearest is "read_file"`},
		{"an unknown model", "---\nname: cook\nmodel: huge\n---\nYou cook.\n", "", "r.md:3: model"},
		{"no prompt", "---\nname: cook\n---\n", "", "r.md:2: the role cook has no text"},
		{"not YAML", cook, "name: [", "b.yaml:1: "},
		{"an empty file", cook, " ", "b.yaml:1: the file is empty"},
		{"an alias", cook, "name: &a x\ntitle: *a\n", "anchors"},
		{"no stages", cook, "name: x\n", "needs stages"},
		{"stages that cannot be joined", cook, strings.Replace(dinner, "in: [list]", "in: [lists]", 1), `b.yaml:11: stage cook takes "lists", which no stage gives; the nearest is "list"`},
		{"types that do not meet", cook, strings.Replace(dinner, "in: [list]", "in: [{name: list, type: image/png}]", 1) + "    after: [shop]\n", ""},
		{"an unknown stage", cook, dinner + "    after: [shopp]\n", `b.yaml:15: stage cook comes after "shopp"`},
		{"a circle", cook, strings.Replace(dinner, "out: [list]", "out: [list]\n    in: [meal]", 1), "wait for each other in a circle"},
		{"an artifact twice", cook, strings.Replace(dinner, "name: meal", "name: list", 1), "is made by the stages shop and cook"},
		{"a stage twice", cook, strings.Replace(dinner, "name: shop", "name: cook", 1), "is there twice"},
		{"a role that is not there", "---\nname: waiter\n---\nYou serve.\n", dinner, `b.yaml:6: stage shop is for the role "cook", which does not exist`},
		{"a type that the role does not give", cook, strings.Replace(dinner, "text/markdown}", "image/png}", 1), "b.yaml:12: the role cook does not publish image/png"},
		{"a check of nothing", cook, strings.Replace(dinner, "{file: '${input.course}.md', expect: salt}", "{expect: salt}", 1), "b.yaml:13: stage cook: a check has"},
		{"a check that is none", cook, strings.Replace(dinner, "{file:", "{fil:", 1), "b.yaml:13:"},
	} {
		files := []string{tt.role}
		if tt.book != "" {
			files = append(files, tt.book)
		}
		l, faults := readAll(files...)
		faults = append(faults, l.Check(tools)...)
		var told strings.Builder
		for _, f := range faults {
			told.WriteString(f.String() + "\n")
		}
		said := told.String()
		if !strings.Contains(said, tt.want) || (tt.want == "") != (said == "") {
			t.Errorf("%s: want %q in\n%s", tt.name, tt.want, said)
		}
	}
	long := playbook.File{Path: "long.md", Data: make([]byte, playbook.MaxFile+1)}
	if _, faults := playbook.Read([]playbook.File{long}); len(faults) != 1 {
		t.Errorf("a file that is too long: %v", faults)
	}
}

func TestLaterFilesTakeThePlaceOfEarlierOnes(t *testing.T) {
	l := read(t, cook, strings.Replace(cook, "You cook.", "You bake.", 1))
	if r, _ := l.Role("cook"); len(l.Roles) != 1 || r.Prompt != "You bake." {
		t.Errorf("%+v", l.Roles)
	}
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		text   string
		titles []string
	}{
		{"1. Read a.md\n2. Write b.md", []string{"Read a.md", "Write b.md"}},
		{"Do this:\n 1) Read a.md\n    with care\n 2) Write b.md\n", []string{"Read a.md", "Write b.md"}},
		{"Step 1: Read\nStep 2: Write", []string{"Read", "Write"}},
		{"1. Read 3. things 2. Write them", []string{"Read 3. things", "Write them"}},
		{"Please 1. read a.md 2. write b.md 3. send it", []string{"read a.md", "write b.md", "send it"}},
		{"1. Read\n3. Write", nil},
		{"Count the lines of version 1.2", nil},
		{"1. Only one", nil},
		{"", nil},
	} {
		p, err := playbook.Steps(tt.text)
		if tt.titles == nil {
			if !errors.Is(err, playbook.ErrSteps) {
				t.Errorf("%q: %v %v", tt.text, p.Tasks, err)
			}
			continue
		}
		var titles []string
		for _, s := range p.Tasks {
			titles = append(titles, strings.Split(s.Title, " with care")[0])
		}
		if diff := cmp.Diff(tt.titles, titles); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", tt.text, err, diff)
		}
		if _, found := plan.Check(p, plan.Options{Goal: tt.text, GoalInputs: []string{"text"}, Tools: specs()}); plan.Stops(found) {
			t.Errorf("%q: %v", tt.text, found)
		}
	}
}
