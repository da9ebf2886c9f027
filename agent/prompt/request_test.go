package prompt

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

var update = flag.Bool("update", false, "write the golden files anew")

// What each purpose is sent, to be read by people when a prompt changes.
func TestGoldenRequests(t *testing.T) {
	b := openBook(t)
	for purpose, at := range runs(goal) {
		t.Run(string(purpose), func(t *testing.T) {
			ready := ask(t, b, at.run, at.strand)
			if ready.Purpose != purpose || ready.Run != "r1" || ready.Strand != string(at.strand) || !ready.Required {
				t.Errorf("the request is for %s of %s/%s, required %v", ready.Purpose, ready.Run, ready.Strand, ready.Required)
			}
			var text strings.Builder
			for _, m := range ready.Messages {
				fmt.Fprintf(&text, "=== %s %s\n%s\n", m.Role, m.CallID, m.Content)
				for _, c := range m.Calls {
					fmt.Fprintf(&text, "%s %s(%s)\n", c.ID, c.Name, c.Arguments)
				}
			}
			name := filepath.Join("testdata", "golden", string(purpose)+".txt")
			if *update {
				if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text.String()); diff != "" {
				t.Errorf("the request changed; if that is meant, raise the prompt's version and run go test -update:\n%s", diff)
			}
		})
	}
}

// The goal stands verbatim in every request, shortened above 2,000 characters.
func TestGoalStandsInEveryRequest(t *testing.T) {
	b := openBook(t)
	exact := strings.Repeat("ü", maxGoal-1) + "!"
	for _, text := range []string{goal, "{{.Goal}} ${goal.text} %s", exact} {
		for purpose, at := range runs(text) {
			if ready := ask(t, b, at.run, at.strand); !strings.Contains(ready.Messages[1].Content, text) {
				t.Errorf("%s: the goal %.40q… does not stand verbatim in\n%s", purpose, text, ready.Messages[1].Content)
			}
		}
	}
	for purpose, at := range runs(exact + "?") {
		brief := ask(t, b, at.run, at.strand).Messages[1].Content
		if strings.Contains(brief, "\n"+exact) || !strings.Contains(brief, "1 characters left out") {
			t.Errorf("%s: a goal of 2,001 characters is not shortened", purpose)
		}
	}
}

// fields of the functions that MODEL.md lists; a question mark is optional there.
var contract = map[llm.Purpose]map[string]string{
	llm.Intake: {"reply": "text", "ask_human": "questions", "submit_plan": "name description goals assumptions done_when tasks"},
	llm.Plan:   {"submit_plan": "name description goals assumptions done_when tasks reason", "ask_human": "questions"},
	llm.Work: {
		"finish_task": "summary outputs confidence", "fail_task": "reason kind", "add_tasks": "tasks reason", "ask_human": "questions",
		"status": "", "do_nothing": "reason",
		"read_file": "", "write_to_file": "", // the tools of the task
	},
	llm.CheckIn: {"submit_reflection": "progress looping relevance plan_still_best verdict evidence lesson nudge"},
	llm.Judge:   {"judge_task": "accepted reasons missing"},
	llm.Report:  {"submit_report": "headline body artifacts skipped follow_ups lessons"},
	llm.Hear:    {"take_message": "meaning of reason", "answer_question": "text cites unknown"},
}

func TestFunctionsOffered(t *testing.T) {
	b := openBook(t)
	for purpose, at := range runs(goal) {
		offered := ask(t, b, at.run, at.strand).Functions
		var names []string
		for _, f := range offered {
			names = append(names, f.Name)
			var schema struct {
				Properties map[string]json.RawMessage
			}
			if err := json.Unmarshal(f.Parameters, &schema); err != nil {
				t.Errorf("%s: the parameters of %s: %v", purpose, f.Name, err)
			}
			for field := range strings.FieldsSeq(contract[purpose][f.Name]) {
				if _, there := schema.Properties[field]; !there {
					t.Errorf("%s: %s has no %q", purpose, f.Name, field)
				}
			}
			if f.Description == "" {
				t.Errorf("%s: %s is not described", purpose, f.Name)
			}
		}
		want := make([]string, 0, len(contract[purpose]))
		for name := range contract[purpose] {
			want = append(want, name)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s offers other functions, or in another order:\n%s", purpose, diff)
		}
	}
}

func TestShapesWithinFunctions(t *testing.T) {
	b := openBook(t)
	for _, tt := range []struct{ function, fields string }{
		{"ask_human", "id question choices why"},
		{"submit_plan", "id title instructions role depends_on inputs outputs tools effort value acceptance deliverable type description"},
		{"add_tasks", "id title instructions role depends_on inputs outputs tools effort value acceptance deliverable type description"},
		{"finish_task", "name value file"},
		{"fail_task", "impossible blocked budget other"},
	} {
		f, known := b.functions[tt.function]
		if !known {
			t.Errorf("there is no %s", tt.function)
		}
		for field := range strings.FieldsSeq(tt.fields) {
			if !strings.Contains(string(f.Parameters), `"`+field+`"`) {
				t.Errorf("%s does not name %q", tt.function, field)
			}
		}
	}
}

// A task that names no tools may use all, one that names some only those.
func TestToolsOfATask(t *testing.T) {
	free := begin(goal).on(agent.Main, agent.PlanAccepted{Plan: agent.Plan{Tasks: []agent.Task{{ID: "count"}}}}, agent.TaskStarted{Task: "count"})
	for want, r := range map[string]agent.Run{"list_files read_file write_to_file": free.Run, "read_file write_to_file": working(goal).Run} {
		var names []string
		for _, s := range Allowed(r, work, tools) {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("the task may use %q, want %q", got, want)
		}
	}
	if got := Allowed(free.Run, agent.Main, tools); got != nil {
		t.Errorf("the main strand may use %v", got)
	}
}

// turns are what may follow in the conversation of a task.
var turns = []func(h *history){
	func(h *history) {
		h.call(work, "read_file", "read_file")
		first, second := h.effect(work, 0), h.effect(work, 1)
		h.on(work, agent.ToolIntent{Effect: first}, agent.ToolIntent{Effect: second})
		h.on(agent.Main, agent.PersonSaid{By: "slack:U1", Text: "hurry", Trusted: true})
		h.on(work, agent.ToolOutcome{Effect: second, Trust: agent.Trusted, Text: "two"}, agent.ToolOutcome{Effect: first, Trust: agent.Untrusted, Text: "one"})
	},
	func(h *history) { h.on(agent.Main, agent.PersonSaid{By: "slack:U9", Text: "hello"}) },
	func(h *history) {
		h.call(work, "telepathy").on(work, agent.CallReplied{Effect: h.effect(work, 0), Text: "error: unknown function", Problem: true})
	},
	func(h *history) {
		more := h.Plan
		more.Tasks = append(slices.Clone(more.Tasks), agent.Task{ID: agent.TaskID(fmt.Sprint("more", h.Seq)), Title: "More"})
		h.on("task/other", agent.PlanAccepted{Plan: more})
	},
}

// The earlier messages of a conversation stay byte for byte as they were: for
// a worker that goes on, and for one that begins with the fold alone.
func TestRequestsOnlyGrow(t *testing.T) {
	b := openBook(t)
	h := working(goal)
	var before []string
	var functions string
	kept := Rendering{}
	for n := range 12 {
		ready, next, err := b.Request(&h.Run, work, tools, kept)
		if err != nil {
			t.Fatal(err)
		}
		kept = next
		now, anew := lines(t, ready.Messages), lines(t, ask(t, b, h.Run, work).Messages)
		if diff := cmp.Diff(anew, now); diff != "" {
			t.Fatalf("turn %d: a worker that begins here sends something else:\n%s", n, diff)
		}
		if len(now) < len(before) || !slices.Equal(before, now[:len(before)]) {
			t.Fatalf("turn %d: the beginning changed:\n%s", n, cmp.Diff(before, now))
		}
		offered, err := json.Marshal(ready.Functions)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 && string(offered) != functions {
			t.Fatalf("turn %d: other functions are offered", n)
		}
		before, functions = now, string(offered)
		turns[n%len(turns)](h)
	}
	if len(before) < 12 {
		t.Fatalf("the conversation came to %d messages only", len(before))
	}
}

// What was kept of another conversation is of no use.
func TestAnotherConversationBeginsAnew(t *testing.T) {
	b := openBook(t)
	all := runs(goal)
	for first, from := range all {
		for second, to := range all {
			_, kept, err := b.Request(&from.run, from.strand, tools, Rendering{})
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := b.Request(&to.run, to.strand, tools, kept)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(ask(t, b, to.run, to.strand), got); diff != "" {
				t.Errorf("%s after %s:\n%s", second, first, diff)
			}
		}
	}
}

func lines(t *testing.T, messages []llm.Message) []string {
	t.Helper()
	list := make([]string, len(messages))
	for i, m := range messages {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = string(data)
	}
	return list
}
