package chat

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// toolCall is a call that a model makes.
type toolCall struct {
	name string
	args any
}

// The wishes of most scenarios.
func write(path, text string) toolCall {
	return toolCall{"write_to_file", map[string]any{"path": path, "text": text}}
}
func remove(path string) toolCall { return toolCall{"delete_file", map[string]any{"path": path}} }
func sum(expression string) toolCall {
	return toolCall{"calculator", map[string]any{"expression": expression}}
}

// failTask is the function by which a model gives a task up.
const failTask = "fail_task"

// asks is a model's question to the person.
func asks(question string, choices ...string) toolCall {
	return toolCall{"ask_human", map[string]any{"questions": []map[string]any{
		{"id": "q1", "question": question, "choices": append([]string{}, choices...), "why": "it matters"},
	}}}
}

// taskScript is a task with what its model does, turn by turn. After the last turn
// it finishes.
type taskScript struct {
	id    string
	after []string
	tools []string
	turns [][]toolCall
}

// work is a part that needs nothing of others.
func work(id string, turns ...[]toolCall) taskScript { return taskScript{id: id, turns: turns} }

// once is a turn.
func once(w ...toolCall) []toolCall { return w }

// scriptedModel is a model that answers by a pure function of the request: it goes on
// after any death as if nothing had been. Gates hold it where a test says so.
type scriptedModel struct {
	first     []toolCall // what it asks for before it plans
	answer    string     // a mere answer instead of a plan
	parts     []taskScript
	headline  string
	body      string
	artifacts []string
	skipped   []string                 // what its report says was not done
	goals     []string                 // that its plan names
	anew      []taskScript             // the parts of a plan that it makes after a failure
	later     map[string]any           // the schedule that people's words order
	endless   bool                     // work calls the first toolCall of its part for ever
	heeds     string                   // words that end even that
	means     map[string]agent.Meaning // of people's words
	fault     *llm.Error               // what its endpoint does instead of answering; nil: it answers

	mu    sync.Mutex
	gates map[llm.Purpose]chan struct{}
	heard []llm.Request
	grown chan struct{} // closed when something was heard
}

// hold keeps the model's next answers of the purpose back until the returned
// function is called.
func (p *scriptedModel) hold(purpose llm.Purpose) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gate := make(chan struct{})
	if p.gates == nil {
		p.gates = map[llm.Purpose]chan struct{}{}
	}
	p.gates[purpose] = gate
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(gate)
		delete(p.gates, purpose)
	})
}

// requests are what the model was asked for the purpose so far.
func (p *scriptedModel) requests(purpose llm.Purpose) []llm.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []llm.Request
	for _, r := range p.heard {
		if r.Purpose == purpose {
			list = append(list, r)
		}
	}
	return list
}

// await returns when the model was asked so often for the purpose.
func (p *scriptedModel) await(ctx context.Context, purpose llm.Purpose, n int) error {
	for {
		p.mu.Lock()
		if p.grown == nil {
			p.grown = make(chan struct{})
		}
		grown := p.grown
		p.mu.Unlock()
		if len(p.requests(purpose)) >= n {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Complete answers.
func (p *scriptedModel) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	p.mu.Lock()
	p.heard = append(p.heard, r)
	if p.grown != nil {
		close(p.grown)
		p.grown = nil
	}
	gate := p.gates[r.Purpose]
	p.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		}
	}
	if p.fault != nil {
		return llm.Response{}, p.fault
	}
	m := p.say(r)
	return llm.Response{Message: m, Model: r.Model, Usage: llm.Usage{Prompt: 100, Completion: 10}, Finish: "tool_calls"}, ctx.Err()
}

// turnOf is how often the model has answered in the conversation. The same turn
// may be asked for again, where whoever asked first lost it.
func turnOf(r llm.Request) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			n++
		}
	}
	return n
}

func (p *scriptedModel) say(r llm.Request) llm.Message {
	n := turnOf(r)
	switch r.Purpose {
	case llm.Intake, llm.Plan:
		if r.Purpose == llm.Intake && n < len(p.first) {
			return calls(p.first[n])
		}
		if p.answer != "" {
			return calls(toolCall{"reply", map[string]any{"text": p.answer}})
		}
		parts := p.parts
		if r.Purpose == llm.Plan && p.anew != nil {
			parts = p.anew
		}
		plan := map[string]any{"name": "Harbour", "description": "The harbour is made ready.", "tasks": tasks(parts)}
		if len(p.goals) > 0 {
			plan["goals"] = p.goals
		}
		return calls(toolCall{"submit_plan", plan})
	case llm.Work:
		if p.heeds != "" && strings.Contains(read(r), p.heeds) {
			return finish(r.Task)
		}
		return p.working(r.Task, n)
	case llm.Judge:
		return calls(toolCall{"judge_task", map[string]any{"accepted": true}})
	case llm.CheckIn:
		return calls(toolCall{"submit_reflection", map[string]any{"progress": 0.5, "looping": false, "relevance": 1, "plan_still_best": true, "verdict": "continue", "lesson": "none"}})
	case llm.Hear:
		return p.hear(r)
	default:
		return calls(toolCall{"submit_report", map[string]any{
			"headline": either(p.headline, "The harbour is ready"), "body": either(p.body, "All is written."), "artifacts": append([]string{}, p.artifacts...),
			"skipped": append([]string{}, p.skipped...),
		}})
	}
}

// hear says what a person's words mean, and nothing usable of those that it does
// not know.
func (p *scriptedModel) hear(r llm.Request) llm.Message {
	for words, meaning := range p.means {
		if !strings.Contains(read(r), words) {
			continue
		}
		if meaning == agent.MeansQuestion && slices.ContainsFunc(r.Functions, func(f llm.Function) bool { return f.Name == "answer_question" }) {
			return calls(toolCall{"answer_question", map[string]any{"text": "One berth of two is ready.", "cites": []int{1}}})
		}
		args := map[string]any{"meaning": string(meaning), "reason": "so it sounds"}
		if p.later != nil {
			args["schedule"] = p.later
		}
		return calls(toolCall{"take_message", args})
	}
	return llm.Message{Role: llm.Assistant, Content: "I do not know."}
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (p *scriptedModel) working(task string, turn int) llm.Message {
	for _, t := range slices.Concat(p.parts, p.anew) {
		switch {
		case t.id != task:
		case p.endless && len(t.turns) > 0:
			return calls(t.turns[0]...)
		case turn < len(t.turns):
			return calls(t.turns[turn]...)
		}
	}
	return finish(task)
}

func finish(task string) llm.Message {
	return calls(toolCall{"finish_task", map[string]any{
		"summary": "done", "outputs": []map[string]any{{"name": "out_" + task, "value": task}},
	}})
}

// tasks are the parts as a plan has them.
func tasks(parts []taskScript) []map[string]any {
	list := make([]map[string]any, 0, len(parts))
	for _, t := range parts {
		tools := t.tools
		seen := map[string]bool{}
		for _, turn := range t.turns {
			for _, w := range turn {
				if !seen[w.name] && w.name != "ask_human" && w.name != failTask {
					tools = append(tools, w.name)
				}
				seen[w.name] = true
			}
		}
		list = append(list, map[string]any{
			"id": t.id, "title": "Tidy berth " + t.id, "instructions": "Make berth " + t.id + " ready.", "tools": append([]string{}, tools...),
			"effort": 1, "value": 5, "acceptance": "it is there", "deliverable": true, "depends_on": append([]string{}, t.after...),
			"outputs": []map[string]any{{"name": "out_" + t.id}},
		})
	}
	return list
}

// calls is an answer that makes the calls.
func calls(list ...toolCall) llm.Message {
	m := llm.Message{Role: llm.Assistant}
	for i, w := range list {
		args, err := json.Marshal(w.args)
		if err != nil {
			panic(err) // maps of texts and numbers always encode
		}
		m.Calls = append(m.Calls, llm.Call{ID: "call_" + string(rune('a'+i)), Name: w.name, Arguments: string(args)})
	}
	return m
}

// read is all the text of a request.
func read(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}
