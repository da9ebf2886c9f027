package card

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What a question is about, by its kind, between its title and its buttons.

// maxQuestions is how many points one message asks about (CHAT.md).
const maxQuestions = 3

// questionParts is what a question is about, by its kind.
func questionParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	switch c.Ask {
	case agent.CheckClarify:
		return clarifyParts(r, c)
	case agent.CheckPlan:
		return planParts(r, c)
	case agent.CheckApproval:
		if c.Review {
			return reviewParts(c)
		}
		return approvalParts(r, c)
	case agent.CheckUncertain:
		return uncertainParts(c)
	case agent.CheckBudget:
		return budgetParts(r, c)
	case agent.CheckStuck:
		return stuckParts(r, c)
	}
	return detail(c)
}

// clarifyParts are the unclear points, with the buttons of each where there is more
// than one.
func clarifyParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	var parts []bot.Part
	shown := c.Questions[:min(len(c.Questions), maxQuestions)]
	for i, q := range shown {
		var lines []string
		switch {
		case len(shown) > 1:
			lines = append(lines, fmt.Sprintf("**%d. %s**", i+1, text.Quoted(q.Question, 500)))
		case Title(r, c) != strings.TrimSpace(q.Question): // which says it all
			lines = append(lines, "**"+text.Quoted(q.Question, 500)+"**")
		}
		if q.Why != "" {
			lines = append(lines, text.Quoted(q.Why, 300))
		}
		for n, choice := range q.Choices {
			if n >= maxChoices || choiceLabel(choice) != strings.TrimSpace(choice) { // the button does not say it all
				lines = append(lines, fmt.Sprintf("Choice %d: %s", n+1, text.Quoted(choice, 400)))
			}
		}
		if len(lines) > 0 {
			parts = append(parts, bot.Prose{Markdown: strings.Join(lines, text.NextLine)})
		}
		if len(shown) > 1 && len(q.Choices) > 0 {
			parts = append(parts, bot.Buttons{List: choices(c, q)})
		}
	}
	if more := len(c.Questions) - len(shown); more > 0 {
		parts = append(parts, bot.Small{Markdown: fmt.Sprintf("and %s: Other shows all of them", format.Count(more, "more question"))})
	}
	parts = append(parts, detail(c)...)
	if r.Brief.ReplyTo == "" || !runs.TakesAnswer(c) { // it stands in no thread, or its buttons are all that decides it
		return parts
	}
	return append(parts, bot.Small{Markdown: "Press a button, or answer in your own words: reply to this or mention me."})
}

// planParts is a plan that people are to decide about.
func planParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	if c.Plan == nil {
		return detail(c)
	}
	var parts []bot.Part
	list := bot.Tasks{Title: fmt.Sprintf("%s · %s", text.InLine(planName(*c.Plan), 100), format.Count(len(c.Plan.Tasks), "task"))}
	for _, t := range c.Plan.Tasks {
		var note []string
		if does := effects(t.Tools); does != "" {
			note = append(note, does)
		}
		if t.Acceptance != "" {
			note = append(note, "done when "+text.InLine(t.Acceptance, 120))
		}
		state := r.Tasks[t.ID].State
		if state != agent.TaskDone && state != agent.TaskRunning {
			state = agent.TaskPending // approving begins it anew, however it ended before
		}
		list.Items = append(list.Items, item(t, state, strings.Join(note, "; ")))
	}
	if lines := replanReasons(r); len(lines) > 0 {
		parts = append(parts, bot.Prose{Markdown: "**Why a new plan**\n- " + strings.Join(text.AtMost(lines, maxTried), "\n- ")})
	}
	if text := text.Quoted(c.Plan.Description, 600); text != "" {
		parts = append(parts, bot.Prose{Markdown: text})
	}
	parts = append(parts, list)
	if broken := !slices.Contains(c.Choices, agent.DecideApprove); broken {
		parts = append(parts, brokenParts(c)...) // else it is the plan once more
	}
	for _, line := range slices.Concat(assumptions(*c.Plan), doubts(c.Findings)) {
		parts = append(parts, bot.Small{Markdown: line})
	}
	return parts
}

// planCode is what stands before a broken rule of a plan: its number and the task's id.
var planCode = regexp.MustCompile(`(?m)^- V\d+( \(task [^)]*\))?: `)

// brokenParts are the rules that a plan breaks, and what each button does.
func brokenParts(c agent.Checkpoint) []bot.Part {
	c.Detail = planCode.ReplaceAllString(c.Detail, "- ")
	lines := []string{"**Edit**: you mend the plan"}
	if slices.Contains(c.Choices, agent.DecideRetry) {
		lines = append(lines, "**Try again**: I make another one")
	}
	return append(append([]bot.Part{bot.Prose{Markdown: "**What is wrong with it**"}}, detail(c)...), bot.Prose{Markdown: "- " + strings.Join(lines, "\n- ")})
}

// effects are what a task of a plan would change in the world, by its tools; ""
// for one that only looks.
func effects(tools []string) string {
	var list []string
	add := func(what string) {
		if !slices.Contains(list, what) {
			list = append(list, what)
		}
	}
	for _, tool := range tools {
		_, _, foreign := strings.Cut(tool, "__")
		switch what, known := deeds[tool]; {
		case known:
			add(what)
		case foreign:
			add("uses " + toolName(tool))
		}
	}
	return strings.Join(text.AtMost(list, 4), ", ")
}

// deeds are what the tools do that change something.
var deeds = map[string]string{
	"write_to_file": "writes files", "append_to_file": "writes files", "plot": "writes files", "delete_file": "deletes files", "run_code": "runs code",
}

// replanReasons is why the plan that a run works by does not hold, a line for each
// reason: tasks that failed, and what was found about the plan itself.
func replanReasons(r agent.Run) []string {
	var lines []string
	if r.Rethink != nil {
		if why := text.Quoted(r.Rethink.Reason, maxTriedLine); why != "" {
			lines = append(lines, why)
		}
	}
	for _, t := range r.Plan.Tasks {
		if s := r.Tasks[t.ID]; s.State == agent.TaskFailed {
			lines = append(lines, "“"+text.InLine(taskTitle(t), 120)+"” failed: "+People(r, text.Quoted(s.Reason, maxTriedLine)))
		}
	}
	return lines
}

// approvalParts is a call that wants to be allowed: what it would change, and why.
func approvalParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	var parts []bot.Part
	if _, changed, _ := strings.Cut(c.Title, "? "); changed != "" { // since it was approved
		parts = append(parts, bot.Prose{Markdown: "I ask again: " + text.Quoted(changed, 300)})
	}
	parts = append(append(parts, changeParts(c, longValue)...), origins(c)...)
	if id, is := c.Strand.Task(); is {
		t, _ := r.Plan.Task(id)
		why := r.Tasks[id].Instructions
		if why == "" {
			why = t.Instructions
		}
		if why = text.Quoted(why, 300); why != "" {
			parts = append(parts, bot.Small{Markdown: "Why: " + why})
		}
	}
	return parts
}

// previewLines is how many lines of a file's new content are shown.
const previewLines = 30

// changeParts is what a call would change, once: of a file its new content or
// what differs, with the whole attached where that is cut; of anything else the
// arguments and the tool's own preview.
func changeParts(c agent.Checkpoint, most int) []bot.Part {
	content, writes := newContent(c)
	preview := detail(c)
	switch {
	case len(preview) == 0:
		return arguments(c, most)
	case c.Tool == "delete_file":
		return append(longPath(c), preview...)
	case !writes, strings.HasPrefix(strings.TrimSpace(c.Detail), "```"): // a preview of another kind
		return append(arguments(c, besideValue), preview...)
	}
	summary, rest, _ := strings.Cut(strings.TrimSpace(text.Safe(c.Detail)), "\n\n")
	parts := append(longPath(c), bot.Prose{Markdown: summary})
	if !strings.Contains(rest, "```diff") {
		if content == "" || rest == "" {
			return parts
		}
		return append(parts, bot.Code{Text: content, Most: previewLines})
	}
	diff, _, cut := strings.Cut(rest, "\n\nShortened: ")
	parts = append(parts, bot.Prose{Markdown: diff})
	if cut {
		parts = append(parts, bot.Code{Text: content, Most: -1})
	}
	return parts
}

// changeBriefly is the same in a few lines, beside a question that says it all.
func changeBriefly(c agent.Checkpoint) []bot.Part {
	if _, writes := newContent(c); !writes || c.Detail == "" || strings.HasPrefix(strings.TrimSpace(c.Detail), "```") {
		return arguments(c, besideValue)
	}
	summary, _, _ := strings.Cut(strings.TrimSpace(text.Safe(c.Detail)), "\n\n")
	return append(longPath(c), bot.Prose{Markdown: summary})
}

// longPath is the path of a file that the question's title could not show whole.
func longPath(c agent.Checkpoint) []bot.Part {
	for _, v := range namedValues(c.Arguments) {
		if whole := format.Visible(v.value); v.name == "path" && !strings.Contains(wish(c.Tool, c.Arguments), whole) {
			return []bot.Part{bot.Code{Text: whole}}
		}
	}
	return nil
}

// newContent is the text that a call writes to a file, where that is all that it does.
func newContent(c agent.Checkpoint) (content string, writes bool) {
	if c.Tool != "write_to_file" && c.Tool != "append_to_file" {
		return "", false
	}
	values := namedValues(c.Arguments)
	for _, v := range values {
		switch v.name {
		case "text":
			content = format.Visible(v.value)
		case "path":
		default:
			return "", false // more than this build shows
		}
	}
	return content, len(values) == 2
}

// uncertainParts is an effect of which nobody knows whether it happened, and what
// each button does.
func uncertainParts(c agent.Checkpoint) []bot.Part {
	return append(arguments(c, longValue), bot.Prose{Markdown: "Please look whether it happened.\n" +
		"- **Done**: it happened, I go on\n- **Repeat**: it did not, I do it now\n- **Skip**: I go on without it"})
}

// budgetParts is what is done, what is left, and what each button does.
func budgetParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	var done, rest []string
	for _, t := range r.Plan.Tasks {
		switch r.Tasks[t.ID].State {
		case agent.TaskDone:
			done = append(done, text.Quoted(taskTitle(t), 80))
		case agent.TaskPending, agent.TaskRunning, agent.TaskFailed, agent.TaskSkipped:
			rest = append(rest, text.Quoted(taskTitle(t), 80))
		}
	}
	var lines []string
	if len(done) > 0 {
		lines = append(lines, "**Done**: "+strings.Join(text.AtMost(done, 10), "; "))
	}
	if len(rest) > 0 {
		lines = append(lines, "**Left**: "+strings.Join(text.AtMost(rest, 10), "; "))
	}
	if len(lines) == 0 {
		lines = []string{"No work has begun yet."}
	}
	ways := []string{}
	for _, b := range Budgets(r) {
		if b.Name == c.Budget {
			ways = append(ways, "**+25 %**: I go on, with "+b.Show(b.Limit+b.Base/4)+b.Unit+" in all", "**+100 %**: I go on, with "+b.Show(b.Limit+b.Base)+b.Unit+" in all")
		}
	}
	ways = append(ways, "**Finish with what you have**: I report what there is", "**Cancel**: the run ends at once")
	return []bot.Part{bot.Prose{Markdown: strings.Join(lines, text.NextLine)}, bot.Prose{Markdown: "- " + strings.Join(ways, "\n- ")}}
}

// usedUp says whose budget is used up: the run's own, or a wider one.
func usedUp(r agent.Run, budget string) string {
	for _, b := range Budgets(r) {
		if b.Name == budget {
			return "This run has used up its " + b.Show(b.Limit) + b.Unit
		}
	}
	if name, own := budgetNames[budget]; own {
		return "This run has used up its " + name
	}
	return "The money for " + WiderBudget(budget) + " is used up"
}

// WiderBudget is whose budget a counter is, and of which month: "Ann in March".
func WiderBudget(counter string) string {
	parts := strings.Split(counter, "/")
	at := len(parts) - 1
	if at > 1 && budgetNames[parts[at]] != "" { // what is counted stands behind the month
		at--
	}
	month, err := time.Parse("2006-01", parts[at])
	if err != nil {
		return text.InLine(counter, 60)
	}
	in := " in " + month.Format("January")
	switch parts[0] {
	case "person":
		return bot.Mention(parts[1]) + in
	case "channel":
		return "this channel" + in
	}
	return "all runs" + in
}
