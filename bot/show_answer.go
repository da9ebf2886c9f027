package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// StatusCard says where a run stands. It has no key, like every answer: whoever
// posts it sets one.
func StatusCard(r agent.Run, now time.Time) Card {
	if r.Scheduled() {
		return deliveryCard(r)
	}
	c := LiveCard(r, now)
	c.Key = Key{}
	return c
}

// maxRuns is how many runs a list shows.
const maxRuns = 15

// RunsCard lists runs in the given order, one a line.
func RunsCard(list []Status, now time.Time) Card {
	if len(list) == 0 {
		return Card{Text: "No runs.", Parts: []Part{Prose{"No runs."}}}
	}
	c := Card{Text: countOf(len(list), "run"), Parts: []Part{Heading{countOf(len(list), "run")}, Prose{runLines(list, now)}}}
	return c
}

func runLines(list []Status, now time.Time) string {
	var lines []string
	for _, s := range list[:min(len(list), maxRuns)] {
		lines = append(lines, runLine(s, now))
	}
	if more := len(list) - maxRuns; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return "- " + strings.Join(lines, "\n- ")
}

func runLine(s Status, now time.Time) string {
	parts := []string{"**" + string(s.State) + "**", "`" + string(s.Run) + "`"}
	if s.Problem != "" {
		return "**unreadable** · `" + string(s.Run) + "` · " + quoted(s.Problem, 200)
	}
	parts = append(parts, quoted(s.Goal, 80))
	if s.Tasks.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d done", s.Tasks.Done, s.Tasks.Total))
	}
	parts = append(parts, money(s.Cost))
	if s.Waits != "" {
		parts = append(parts, s.Waits)
	}
	return strings.Join(append(parts, "started "+inMinutes(now.Sub(s.Started))+" ago"), " · ")
}

// PlanCard is the plan: each task with its state and what it comes after.
func PlanCard(r agent.Run) Card {
	if r.Plans == 0 {
		return Card{Text: "There is no plan yet.", Parts: []Part{Prose{"There is no plan yet."}}}
	}
	list := taskList(r)
	c := Card{Text: list.Title, Parts: []Part{Heading{inLine(r.Brief.Goal, 150)}}}
	if text := quoted(r.Plan.Description, 600); text != "" {
		c.Parts = append(c.Parts, Prose{text})
	}
	c.Parts = append(c.Parts, list)
	var order []string
	for _, t := range r.Plan.Tasks {
		if len(t.DependsOn) == 0 {
			continue
		}
		var after []string
		for _, id := range t.DependsOn {
			d, _ := r.Plan.Task(id)
			after = append(after, quoted(taskTitle(d), 60))
		}
		order = append(order, quoted(taskTitle(t), 60)+" – after "+enumerate(after, "and"))
	}
	section(&c, "Order", order)
	section(&c, "Done when", quotes(r.Plan.DoneWhen))
	section(&c, "Assumed", quotes(r.Plan.Assumptions))
	return c
}

// limited is one budget of a run: what is spent of what.
type limited struct {
	name         string
	spent, limit int64
	show         func(int64) string
}

func (b limited) percent() int64 { return b.spent * 100 / max(b.limit, 1) }

// budgets are the run's own budgets that have a limit.
func budgets(r agent.Run) []limited {
	l, s := r.Limits(), r.Spent
	all := []limited{
		{"usd", int64(s.Cost), int64(l.USD), func(n int64) string { return dollars(agent.Nano(n)) }},
		{"tokens", s.Tokens(), l.Tokens, inThousands},
		{"time", int64(s.Time), int64(l.Time), func(n int64) string { return lasting(time.Duration(n)) }},
		{"steps", int64(s.Calls), l.Steps, inThousands},
	}
	return slices.DeleteFunc(all, func(b limited) bool { return b.limit <= 0 })
}

// BudgetCard is what the run has spent, of what.
func BudgetCard(r agent.Run) Card {
	c := Card{Text: "Spent: " + spending(r), Parts: []Part{Heading{inLine(r.Brief.Goal, 150)}}}
	facts := Facts{[]Fact{
		{"Cost", strings.TrimPrefix(money(r.Spent.Dollars()), "cost ")},
		{"Tokens", fmt.Sprintf("%s (%s in, %s out)", inThousands(r.Spent.Tokens()), inThousands(int64(r.Spent.Prompt)), inThousands(int64(r.Spent.Completion)))},
		{"Calls", countOf(r.Spent.Calls, "model call") + ", " + countOf(r.Spent.Tools, "tool call")},
		{"Work", lasting(r.Spent.Time)},
	}}
	c.Parts = append(c.Parts, facts)
	var lines []string
	for _, b := range budgets(r) {
		line := fmt.Sprintf("%s: %s of %s (%d %%)", budgetName(b.name), b.show(b.spent), b.show(b.limit), b.percent())
		if added := r.Raised[b.name]; added > 0 {
			line += fmt.Sprintf(", %d %% of it added on the way", added)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = []string{"none of its own"}
	}
	section(&c, "Limits", lines)
	return c
}

// levels say what each level of autonomy means.
var levels = map[agent.Autonomy]string{
	agent.Suggest: "suggest: I change nothing", agent.AskEach: "ask-each: I ask before every change",
	agent.AskRisky:     "ask-risky: the first write is asked for the whole folder, deletes and sends always",
	agent.WithinBudget: "within-budget: I write without asking; deletes and sends are asked",
}

// plansAsked says which plans wait for an approval.
func plansAsked(p agent.PlanApproval) string {
	switch p {
	case agent.ApprovePlanAlways:
		return "always: I ask before I work by a plan"
	case agent.ApprovePlanNever:
		return "never: I work by a plan without asking"
	case agent.ApprovePlanEffects:
	}
	return "effects: I ask before I work by a plan that changes or sends something"
}

// PermissionsCard is what the run may do, and who decides about the rest.
func PermissionsCard(r agent.Run, audience Audience) Card {
	level, known := levels[r.Brief.Autonomy]
	if !known {
		level = levels[agent.AskRisky]
	}
	c := Card{Text: "Autonomy: " + level, Parts: []Part{Heading{inLine(r.Brief.Goal, 150)}, Facts{[]Fact{
		{"Autonomy", level},
		{"Plans", plansAsked(r.Brief.PlanApproval)},
	}}}}
	var granted []string
	for _, word := range r.Brief.YesTo {
		granted = append(granted, quoted(word, 60)+" (from the start)")
	}
	for _, grant := range r.Grants {
		granted = append(granted, quoted(allows(grant), 100))
	}
	section(&c, "Allowed", granted)
	var denied []string
	for _, id := range r.Asked {
		if q := r.Checks[id]; q.Ask == agent.CheckApproval && !q.Open() {
			if text, is := r.Denied[agent.Digest(q.Tool, q.Arguments)]; is {
				denied = append(denied, quoted(q.Tool, 60)+" – "+people(r, quoted(text, 200)))
			}
		}
	}
	section(&c, "Denied", denied)
	who := func(ask agent.CheckpointKind) string {
		if list := audience(r, ask); len(list) > 0 {
			return mentions(list, "or")
		}
		return "nobody is named for it"
	}
	section(&c, "Who decides", []string{"approvals: " + who(agent.CheckApproval), "budget: " + who(agent.CheckBudget), "questions: " + who(agent.CheckStuck)})
	return c
}

// Command is one line of help.
type Command struct{ Usage, Does string }

// HelpCard lists commands, one a line.
func HelpCard(commands ...Command) Card {
	var lines []string
	for _, c := range commands {
		lines = append(lines, "- `"+c.Usage+"` – "+c.Does)
	}
	return Card{Text: "What I understand", Parts: []Part{Heading{"What I understand"}, Prose{strings.Join(lines, "\n")},
		Small{"Mention me with a goal in plain words to start. In a run's thread, what you say to me (a reply or a mention) steers it."}}}
}
