package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Answers to the commands that ask about a run: status, plan, budget,
// permissions, runs, help.

// Standing says where a run stands. It has no key, like every answer: whoever
// posts it sets one.
func Standing(r agent.Run, now time.Time) bot.Card {
	if r.Scheduled() {
		return deliveryCard(r)
	}
	c := Live(r, now)
	c.Key = bot.Key{}
	return c
}

// maxRuns is how many runs a list shows.
const maxRuns = 15

// Runs lists runs in the given order, one a line.
func Runs(list []Status, now time.Time) bot.Card {
	if len(list) == 0 {
		return bot.Card{Text: noRuns, Parts: []bot.Part{bot.Prose{Markdown: noRuns}}}
	}
	c := bot.Card{Text: format.Count(len(list), "run"), Parts: []bot.Part{bot.Heading{Text: format.Count(len(list), "run")}, bot.Prose{Markdown: runLines(list, now)}}}
	return c
}

// noRuns answers whoever asks for their runs and has none.
const noRuns = "You have no runs yet. Say in plain words what you need, and I start one."

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

// runLine is a run in a list: its id stands last, for the commands that name one.
func runLine(s Status, now time.Time) string {
	if s.Problem != "" {
		return "**unreadable** · `" + string(s.Run) + "` · " + text.Quoted(s.Problem, 200)
	}
	parts := []string{"**" + string(s.State) + "**", text.Quoted(s.Goal, 80)}
	if s.Where != "" {
		parts = append(parts, text.Place(s.Where))
	}
	if s.Tasks.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d done", s.Tasks.Done, s.Tasks.Total))
	}
	if s.Cost != nil && *s.Cost > 0 {
		parts = append(parts, text.Money(s.Cost))
	}
	if s.Waits != "" {
		parts = append(parts, s.Waits)
	}
	return strings.Join(append(parts, "started "+format.Minutes(now.Sub(s.Started))+" ago", "`"+string(s.Run)+"`"), " · ")
}

// Plan is the plan: each task with its state and what it comes after.
func Plan(r agent.Run) bot.Card {
	if r.Plans == 0 {
		return bot.Card{Text: "There is no plan yet.", Parts: []bot.Part{bot.Prose{Markdown: "There is no plan yet."}}}
	}
	list := taskList(r)
	c := bot.Card{Text: list.Title, Parts: []bot.Part{bot.Heading{Text: text.InLine(r.Brief.Goal, 150)}}}
	if text := text.Quoted(r.Plan.Description, 600); text != "" {
		c.Parts = append(c.Parts, bot.Prose{Markdown: text})
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
			after = append(after, text.Quoted(taskTitle(d), 60))
		}
		order = append(order, text.Quoted(taskTitle(t), 60)+" – after "+format.List(after, "and"))
	}
	section(&c, "Order", order)
	section(&c, "Done when", quotes(r.Plan.DoneWhen))
	section(&c, "Assumed", quotes(r.Plan.Assumptions))
	return c
}

// BudgetUse is one budget of a run: what is spent of what. Base is the limit
// that the run began with, and Unit follows a limit in a sentence.
type BudgetUse struct {
	Name               string
	Spent, Limit, Base int64
	Show               func(int64) string
	Unit               string
}

// Percent is how much of the budget is used.
func (b BudgetUse) Percent() int64 { return b.Spent * 100 / max(b.Limit, 1) }

// Budgets are the run's own budgets that have a limit.
func Budgets(r agent.Run) []BudgetUse {
	l, s, base := r.Limits(), r.Spent, r.Brief.Limits
	all := []BudgetUse{
		{agent.BudgetUSD, int64(s.Cost), int64(l.USD), int64(base.USD), func(n int64) string { return format.Money(agent.Nano(n)) }, ""},
		{agent.BudgetTokens, s.Tokens(), l.Tokens, base.Tokens, format.Thousands[int64], " tokens"},
		{agent.BudgetTime, int64(s.Time), int64(l.Time), int64(base.Time), func(n int64) string { return format.Duration(time.Duration(n)) }, " of work"},
		{agent.BudgetSteps, int64(s.Calls), l.Steps, base.Steps, format.Thousands[int64], " model calls"},
	}
	return slices.DeleteFunc(all, func(b BudgetUse) bool { return b.Limit <= 0 })
}

// counted are a run's tokens where they are what it may spend, or no price is known.
func counted(r agent.Run) string {
	if cost := r.Spent.Dollars(); r.Limits().Tokens == 0 && cost != nil && *cost > 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s read, %s written)", format.Thousands(r.Spent.Tokens()), format.Thousands(int64(r.Spent.Prompt)), format.Thousands(int64(r.Spent.Completion)))
}

// Budget is what the run has spent, of what.
func Budget(r agent.Run) bot.Card {
	c := bot.Card{Text: "Spent: " + spending(r), Parts: []bot.Part{bot.Heading{Text: text.InLine(r.Brief.Goal, 150)}}}
	facts := bot.Facts{List: []bot.Fact{
		{Name: "Cost", Value: text.Money(r.Spent.Dollars())},
		{Name: "Tokens", Value: counted(r)},
		{Name: "Work", Value: format.Duration(r.Spent.Time)},
	}}
	facts.List = slices.DeleteFunc(facts.List, func(f bot.Fact) bool { return f.Value == "" })
	c.Parts = append(c.Parts, facts)
	var lines []string
	for _, b := range Budgets(r) {
		line := fmt.Sprintf("%s: %s of %s (%d %%)", BudgetName(b.Name), b.Show(b.Spent), b.Show(b.Limit), b.Percent())
		if added := r.Raised[b.Name]; added > 0 {
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
	agent.Suggest: "I change nothing", agent.AskEach: "I ask before every change",
	agent.AskRisky:     "I ask before the first write, and before every delete and every send",
	agent.WithinBudget: "I write without asking, and ask before every delete and every send",
}

// plansAsked says which plans wait for an approval.
func plansAsked(p agent.PlanApproval) string {
	switch p {
	case agent.ApprovePlanAlways:
		return "I ask before I work by one"
	case agent.ApprovePlanNever:
		return "I work by them without asking"
	case agent.ApprovePlanEffects:
	}
	return "I ask before I work by one that changes or sends something"
}

// Permissions is what the run may do, and who decides about the rest.
func Permissions(r agent.Run, rules []string, audience authority.Audience) bot.Card {
	level, known := levels[r.Brief.Autonomy]
	if !known {
		level = levels[agent.AskRisky]
	}
	c := bot.Card{Text: level, Parts: []bot.Part{bot.Heading{Text: text.InLine(r.Brief.Goal, 150)}, bot.Facts{List: []bot.Fact{
		{Name: "Changes", Value: level},
		{Name: "Plans", Value: plansAsked(r.Brief.PlanApproval)},
	}}}}
	var granted []string
	for _, word := range r.Brief.YesTo {
		granted = append(granted, text.Quoted(word, 60)+", from the start")
	}
	for _, grant := range r.Grants {
		if tool, is := strings.CutPrefix(grant, "tool:"); is && deeds[tool] == "writes files" && slices.Contains(r.Grants, "writes") {
			continue // it is one of them
		}
		granted = append(granted, text.Escape(grantWords(grant)))
	}
	section(&c, "Allowed", granted)
	var denied []string
	for _, id := range r.Asked {
		if q := r.Checks[id]; q.Ask == agent.CheckApproval && !q.Open() {
			if line, is := r.Denied[agent.Digest(q.Tool, q.Arguments)]; is {
				denied = append(denied, text.Quoted(Title(r, q), 120)+" – "+People(r, text.Quoted(line, 200)))
			}
		}
	}
	section(&c, "Denied", denied)
	section(&c, "Rules here", quotes(rules))
	who := func(ask agent.CheckpointKind) string {
		if list := audience(r, ask); len(list) > 0 {
			return bot.Mentions(list, "or")
		}
		return "nobody is named for it"
	}
	section(&c, "Who decides", []string{"approvals: " + who(agent.CheckApproval), "budget: " + who(agent.CheckBudget), "questions: " + who(agent.CheckStuck)})
	return c
}

// Command is one line of help.
type Command struct{ Usage, Does string }

// Help begins with sentences that fit the place; the commands are the few that
// matter, one a line.
func Help(examples []string, commands []Command) bot.Card {
	said := make([]string, len(examples))
	for i, sentence := range examples {
		said[i] = "- “" + text.Quoted(sentence, 120) + "”"
	}
	return bot.Card{Text: "Just say what you need", Parts: []bot.Part{
		bot.Heading{Text: "Just say what you need"}, bot.Prose{Markdown: strings.Join(said, "\n")},
		bot.Prose{Markdown: "In plain words, in any language. I answer in a thread and ask before I change anything that matters; there, what you say to me counts before the next step."},
		bot.Prose{Markdown: "**These words always count**\n" + commandLines(commands)},
		bot.Small{Markdown: "`help all` lists every command, `help schedule` tells about one."}}}
}

// Commands lists commands, one a line.
func Commands(list []Command) bot.Card {
	return bot.Card{Text: "Words that I know", Parts: []bot.Part{bot.Heading{Text: "Words that I know"}, bot.Prose{Markdown: commandLines(list)},
		bot.Small{Markdown: "RUN and QUESTION can be left out where only one can be meant; `runs` shows what your runs are called."}}}
}

func commandLines(list []Command) string {
	lines := make([]string, len(list))
	for i, c := range list {
		lines[i] = "- `" + c.Usage + "` – " + c.Does
	}
	return strings.Join(lines, "\n")
}
