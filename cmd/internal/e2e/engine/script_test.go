package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// toolCall is a call that a task's model makes until it was answered without an
// error.
type toolCall struct {
	name string
	args map[string]any
}

func post(text string) toolCall   { return toolCall{"post", map[string]any{"text": text}} }
func once(text string) toolCall   { return toolCall{"once", map[string]any{"text": text}} }
func calculate(e string) toolCall { return toolCall{"calculator", map[string]any{"expression": e}} }
func add(l string) toolCall {
	return toolCall{"append_to_file", map[string]any{"path": logFile, "text": l + "\n"}}
}
func put(name, text string) toolCall {
	return toolCall{"write_to_file", map[string]any{"path": name, "text": text}}
}

// What a run leaves behind: a line of each task in logFile, and tableFile.
const (
	logFile   = "log.md"
	tableFile = "tables/tide.md"
	tableText = "high 06:12\nlow 12:31\n"
)

var (
	lines = []string{"harbour", "tide", "notice"}
	posts = []string{"harbour figures", "notice to mariners"}
	onces = []string{"tide signal"}
)

// toolCalls are what each task's model asks for, answer by answer.
var toolCalls = map[string][][]toolCall{
	"a": {{post(posts[0]), add(lines[0])}},
	"b": {{calculate("6*7")}, {once(onces[0]), put(tableFile, tableText)}, {add(lines[1])}},
	"c": {{add(lines[2])}, {post(posts[1])}},
	"d": {sums(1), sums(2), sums(3)},
}

// sums makes a journal long: its run needs snapshots.
func sums(first int) (together []toolCall) {
	for i := range 50 {
		together = append(together, calculate(fmt.Sprintf("%d+%d", first, i)))
	}
	return together
}

// The goals of a run: with and without the task that makes its journal long.
const (
	shortGoal = "Get the harbour ready for the tide"
	longGoal  = "Get the harbour ready for the tide, with all sums"
)

// plan has two tasks that run side by side and one that needs both.
func plan(long bool) map[string]any {
	task := func(id, title string, tools []string, more ...string) map[string]any {
		return map[string]any{
			"id": id, "title": title, "instructions": title, "tools": tools, "effort": 1, "value": 5,
			"acceptance": "it is there", "deliverable": true, "depends_on": append([]string{}, more...),
			"outputs": []map[string]any{{"name": "out_" + id}},
		}
	}
	tasks := []map[string]any{
		task("a", "Post the harbour figures", []string{"post", "append_to_file"}),
		task("b", "Write the tide table", []string{"calculator", "once", "write_to_file", "append_to_file"}),
		task("c", "Send the notice to mariners", []string{"post", "append_to_file"}, "a", "b"),
	}
	if long {
		tasks = append(tasks, task("d", "Calculate the sums of the month", []string{"calculator"}))
	}
	return map[string]any{"name": "Harbour", "tasks": tasks}
}

// script is a model that answers by a pure function of the request, so that
// it goes on after any death as if nothing had been.
func script(r llmtest.Request) llmtest.Reply {
	switch r.Purpose {
	case llm.Intake:
		long := func(m llm.Message) bool { // what is recalled of other runs stands behind the run's own goal
			_, goal, _ := strings.Cut(m.Content, shortGoal)
			return strings.HasPrefix(goal, strings.TrimPrefix(longGoal, shortGoal))
		}
		return call(toolCall{"submit_plan", plan(slices.ContainsFunc(r.Messages, long))})
	case llm.Work:
		return working(r)
	case llm.CheckIn:
		return call(toolCall{"submit_reflection", map[string]any{"progress": progress(r.Messages), "looping": false, "relevance": 1, "plan_still_best": true, "verdict": "continue"}})
	case llm.Judge:
		return call(toolCall{"judge_task", map[string]any{"accepted": true}})
	default:
		return call(toolCall{"submit_report", map[string]any{"headline": "done", "body": "all is sent and written"}})
	}
}

// progress grows with what a check-in is told: a task whose call timed out has
// one step more to look back on, and is no more stuck than the others.
func progress(messages []llm.Message) float64 {
	told := 0
	for _, m := range messages {
		told += len(m.Content)
	}
	return min(1, float64(told)/100_000)
}

// working makes the first calls of the task that did not succeed yet.
func working(r llmtest.Request) llmtest.Reply {
	done := succeeded(r.Messages)
	for _, together := range toolCalls[r.Task] {
		var open []toolCall
		for _, w := range together {
			if !done[text(w)] {
				open = append(open, w)
			}
		}
		if len(open) > 0 {
			return call(open...)
		}
	}
	return call(toolCall{"finish_task", map[string]any{
		"summary": "done", "outputs": []map[string]any{{"name": "out_" + r.Task, "value": r.Task}},
	}})
}

func text(w toolCall) string { return w.name + " " + string(encode(w.args)) }

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of texts always encode
	}
	return b
}

// succeeded are the calls that were answered without an error.
func succeeded(messages []llm.Message) map[string]bool {
	calls, done := map[string]string{}, map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Calls {
			calls[c.ID] = c.Name + " " + c.Arguments
		}
		if m.Role == llm.Tool && !strings.Contains(m.Content, "error:") {
			done[calls[m.CallID]] = true
		}
	}
	return done
}

func call(toolCalls ...toolCall) llmtest.Reply {
	var calls []llm.Call
	for _, w := range toolCalls {
		calls = append(calls, llm.Call{Name: w.name, Arguments: string(encode(w.args))})
	}
	return llmtest.Calls(calls...)
}
