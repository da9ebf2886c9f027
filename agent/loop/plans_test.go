package loop_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/agent/playbook"
)

// asked keeps the requests that a model answers.
type asked struct {
	mu   sync.Mutex
	list []llm.Request
}

func (a *asked) by(m scripted) scripted {
	return func(r llm.Request) llm.Message {
		a.mu.Lock()
		a.list = append(a.list, r)
		a.mu.Unlock()
		return m(r)
	}
}

// of are the requests for the purpose.
func (a *asked) of(p llm.Purpose) []llm.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.list), func(r llm.Request) bool { return r.Purpose != p })
}

// A plan in another system's shape is worked like one of ours, and results go from
// task to task along its links.
func TestForeignPlansAreWorked(t *testing.T) {
	for name, plan := range map[string]string{
		"nodes and links": `{"task_nodes": [{"task": "fetch", "arguments": ["it"]}, {"task": "note", "arguments": ["that"]}], "task_links": [{"source": "fetch", "target": "note"}]}`,
		"a list of calls": `{"tasks": [{"task": "fetch", "id": 0, "dep": [-1], "args": {"text": "it"}}, {"task": "note", "id": 1, "dep": [0], "args": {"text": "<GENERATED>-0"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			seen := &asked{}
			model := seen.by(func(r llm.Request) llm.Message {
				switch r.Purpose {
				case llm.Intake:
					return call("submit_plan", json.RawMessage(plan))
				case llm.Work:
					out := map[string]any{"fetch": "result of fetch", "0": "<GENERATED>-0"}[r.Task]
					if out == nil {
						return call("finish_task", map[string]any{"summary": "noted"})
					}
					return call("finish_task", map[string]any{"summary": "fetched", "outputs": []map[string]any{{"name": out, "value": "forty-two"}}})
				default:
					return noter("note")(r)
				}
			})
			h := open(t, model, nil, newNote("fetch", agent.ClassRead, agent.RepeatRead), newNote("note", agent.ClassRead, agent.RepeatRead))
			r := h.ended(h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever}))
			if r.Ended.State != agent.RunDone || r.Replans > 0 || len(seen.of(llm.Intake)) != 1 {
				t.Fatalf("%+v after %d questions for a plan", r.Ended, len(seen.of(llm.Intake)))
			}
			work := seen.of(llm.Work)
			if last := work[len(work)-1]; !strings.Contains(last.Messages[1].Content, `"forty-two"`) {
				t.Errorf("the second task was not given the first one's result:\n%s", last.Messages[1].Content)
			}
		})
	}
}

// A goal that is a numbered list is the plan: no model is asked for one.
func TestAListOfStepsIsThePlan(t *testing.T) {
	seen := &asked{}
	model := seen.by(func(r llm.Request) llm.Message {
		if r.Purpose == llm.Work {
			return call("finish_task", map[string]any{"summary": "done", "outputs": []map[string]any{{"name": r.Task + "_result", "value": "ok"}}})
		}
		return noter("note")(r)
	})
	h := open(t, model, nil, newNote("note", agent.ClassRead, agent.RepeatRead))
	r := h.ended(h.start(agent.RunStarted{Goal: "Tell the team:\n1. note the weather\n2. note the time", PlanApproval: agent.ApprovePlanNever}))
	if r.Ended.State != agent.RunDone || len(seen.of(llm.Intake)) != 0 || len(r.Plan.Tasks) != 2 || r.Plan.Tasks[1].Instructions != "note the time" {
		t.Errorf("%+v: %+v", r.Ended, r.Plan.Tasks)
	}
	if r.Ended.ModelCalls != len(seen.list) {
		t.Errorf("%d model calls are counted, %d were made", r.Ended.ModelCalls, len(seen.list))
	}
}

const noteTaker = "---\nname: taker\ntools: [note]\nmodel: fast\n---\nYou note things in verse.\n"

const critic = "---\nname: critic\n---\nYou look for rhymes.\n"

const verses = "name: verses\nwhen: A poem is wanted.\nstages:\n  - {name: write, role: taker, title: Write verses, out: [poem]}\n" +
	"  - {name: check, role: taker, title: Count the lines, in: [poem], out: [count], reviewer: critic}\n"

// A playbook that the model names becomes the plan; a task's role gives it its
// prompt, its tools and its model, and the reviewer's role judges. A plan that leaves
// a stage out is refused.
func TestTheModelFollowsAPlaybook(t *testing.T) {
	l, faults := playbook.Read([]playbook.File{{Path: "taker.md", Data: []byte(noteTaker)}, {Path: "critic.md", Data: []byte(critic)}, {Path: "verses.yaml", Data: []byte(verses)}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	seen := &asked{}
	model := seen.by(func(r llm.Request) llm.Message {
		switch {
		case r.Purpose == llm.Intake && turns(r) == 0:
			return call("submit_plan", map[string]any{"playbook": "verses", "tasks": []any{task("x", "note", map[string]any{"outputs": []map[string]any{{"name": "count"}}})}})
		case r.Purpose == llm.Intake:
			return call("submit_plan", map[string]any{"playbook": "verses", "roles": []map[string]any{{"name": "taker", "tools": []string{"send"}}}})
		case r.Purpose == llm.Work:
			out := map[string]string{"write": "poem", "check": "count"}[r.Task]
			return call("finish_task", map[string]any{"summary": "done", "outputs": []map[string]any{{"name": out, "value": "roses"}}})
		}
		return noter("note")(r)
	})
	h := open(t, model, func(c *loop.Config) {
		c.FastName = "small"
		c.Playbooks = func() *playbook.Library { return l }
	}, newNote("note", agent.ClassRead, agent.RepeatRead), newNote("send", agent.ClassSend, agent.RepeatOnce))
	r := h.ended(h.start(agent.RunStarted{Goal: "Write a poem", PlanApproval: agent.ApprovePlanNever}))
	if r.Ended.State != agent.RunDone || r.Plan.Playbook != "verses" || len(r.Plan.Tasks) != 2 {
		t.Fatalf("%+v: %+v", r.Ended, r.Plan)
	}
	plans := seen.of(llm.Intake)
	if len(plans) != 2 || !strings.Contains(plans[0].Messages[1].Content, "verses: A poem is wanted.") ||
		!strings.Contains(plans[1].Messages[len(plans[1].Messages)-1].Content, `the stage "write" of the playbook verses is left out`) {
		t.Errorf("the planner sees the playbook, and what it left out: %d questions", len(plans))
	}
	for _, w := range seen.of(llm.Work) {
		offered := func(name string) bool {
			return slices.ContainsFunc(w.Functions, func(f llm.Function) bool { return f.Name == name })
		}
		if w.Model != "small" || !strings.Contains(w.Messages[0].Content, "You note things in verse.") || !offered("note") || offered("send") {
			t.Errorf("%s by %s:\n%s", w.Task, w.Model, w.Messages[0].Content)
		}
	}
	judged := seen.of(llm.Judge)
	if len(judged) != 2 || !strings.Contains(judged[1].Messages[0].Content, "You look for rhymes.") || judged[0].Model != "test" {
		t.Errorf("%d judgements", len(judged))
	}
	if !strings.Contains(r.Report.Body, "reviewed by a model in the role critic") {
		t.Errorf("the report does not say how it was checked:\n%s", r.Report.Body)
	}
}
