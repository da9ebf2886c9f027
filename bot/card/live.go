package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Live is the run's one card: the plan with the state of each task, what
// happens now, and what it has cost. Once the run has ended it is one line, or
// the answer where the goal needed no work.
func Live(r agent.Run, now time.Time) bot.Card {
	c := bot.Card{Key: bot.Key{Run: r.ID, Name: agent.KeyCard, Kind: agent.PostCard}}
	if r.Ended != nil {
		return endedCard(c, r)
	}
	c.Text = text.Plain(standing(r)) + " · " + text.InLine(r.Brief.Goal, 150)
	c.Parts = append(c.Parts, bot.Heading{Text: text.InLine(r.Brief.Goal, 150)}, bot.Prose{Markdown: standing(r)})
	if r.Plans > 0 {
		c.Parts = append(c.Parts, taskList(r))
	}
	if figures := progress(r, now); len(figures) > 0 {
		c.Parts = append(c.Parts, bot.Facts{List: figures})
	}
	for _, line := range slices.Concat(scheduleLine(r), warnings(r), assumptions(r.Plan), doubts(r.Doubts), findings(r), checkInViews(r)) {
		c.Parts = append(c.Parts, bot.Small{Markdown: line})
	}
	return with(c, controls(r))
}

// scheduleLine says that nobody asked just now, where that is so.
func scheduleLine(r agent.Run) []string {
	if t := r.Brief.Tick; t != nil {
		return []string{"By the schedule `" + t.Schedule + "`"}
	}
	return nil
}

// endedCard is the card of an ended run.
func endedCard(c bot.Card, r agent.Run) bot.Card {
	if r.Replied() && r.Report.Schedule != nil {
		kept := Scheduling(*r.Report.Schedule, ScheduleNow{Run: r.ID, Revised: r.Revised})
		kept.Key = c.Key
		return kept
	}
	if r.Replied() {
		c.Text = text.InLine(r.Report.Headline, 200)
		c.Parts, c.Final = []bot.Part{bot.Prose{Markdown: answer(*r.Report)}}, true
		return c
	}
	c.Text = text.Plain(outcome(r))
	c.Parts = []bot.Part{bot.Prose{Markdown: outcome(r)}}
	return c
}

// answer is a report as one text. A mere reply repeats its headline in its body.
func answer(rep agent.Reported) string {
	headline, body := strings.TrimSpace(text.Safe(rep.Headline)), strings.TrimSpace(text.Safe(rep.Body))
	switch {
	case body == "":
		return headline
	case headline == "" || strings.HasPrefix(body, headline):
		return body
	}
	return "**" + text.Escape(headline) + "**\n\n" + body
}

// taskList is the plan with the state of each task.
func taskList(r agent.Run) bot.Tasks {
	done, total := r.Progress()
	list := bot.Tasks{Title: fmt.Sprintf("%s · %d of %d done", text.InLine(planName(r.Plan), 100), done, total)}
	for _, t := range r.Plan.Tasks {
		s := r.Tasks[t.ID]
		list.Items = append(list.Items, item(t, s.State, note(r, t.ID, s)))
	}
	return list
}

func planName(p agent.Plan) string {
	if p.Name == "" {
		return "Plan"
	}
	return p.Name
}

func item(t agent.Task, state agent.TaskState, note string) bot.TaskItem {
	if state == "" {
		state = agent.TaskPending
	}
	i := bot.TaskItem{ID: string(t.ID), Title: text.InLine(taskTitle(t), 120), State: state, Note: note}
	for _, d := range t.DependsOn {
		i.After = append(i.After, string(d))
	}
	return i
}

// note is what came of a task, or what it does.
func note(r agent.Run, id agent.TaskID, s agent.TaskStatus) string {
	switch s.State {
	case agent.TaskRunning:
		return doing(r, agent.TaskStrand(id))
	case agent.TaskDone:
		return text.InLine(s.Summary, 140)
	case agent.TaskFailed, agent.TaskSkipped:
		return People(r, text.InLine(s.Reason, 140))
	case agent.TaskPending:
	}
	return ""
}

// LiveAt is the card under a key of its own. Where people only watch the run, it
// says where they are asked.
func LiveAt(r agent.Run, key string, now time.Time) bot.Card {
	c := Live(r, now)
	c.Key.Name = key
	if !agent.Watches(key) || r.Ended != nil || r.OpenCheckpoint() == nil {
		return c
	}
	line := bot.Small{Markdown: "It is asked, and decided, in " + text.Place(r.Brief.ReplyTo) + "."}
	if r.Brief.ReplyTo == "" {
		line.Markdown = "It is asked, and decided, in the terminal."
	}
	at := slices.IndexFunc(c.Parts, func(p bot.Part) bool { _, are := p.(bot.Buttons); return are })
	if at < 0 {
		at = len(c.Parts)
	}
	c.Parts = slices.Insert(c.Parts, at, bot.Part(line))
	return c
}

// progress is the live figures, those that say something yet.
func progress(r agent.Run, now time.Time) []bot.Fact {
	var list []bot.Fact
	if spent := spending(r); spent != "" {
		list = append(list, bot.Fact{Name: "Spent", Value: spent})
	}
	if d := now.Sub(r.Started); d >= time.Second { // milliseconds would be noise
		list = append(list, bot.Fact{Name: "Time", Value: format.Duration(d)})
	}
	return list
}

// spending is the money that the run spent, of its limit; where that is not known
// or nothing, its tokens; "" before it has spent any.
func spending(r agent.Run) string {
	cost := r.Spent.Dollars()
	switch {
	case cost != nil && *cost > 0:
		line := text.Money(cost)
		if limit := r.Limits().USD; limit > 0 {
			line += " of " + text.Money(&limit)
		}
		return line
	case r.Spent.Tokens() > 0:
		return format.Count(r.Spent.Tokens(), "token")
	}
	return ""
}

// budgetNames are what people call a run's budgets.
var budgetNames = map[string]string{
	agent.BudgetUSD: "money", agent.BudgetTokens: "tokens", agent.BudgetTime: "working time", agent.BudgetSteps: "model calls",
}

// BudgetName is what people call a budget; a wider one is named as it is.
func BudgetName(budget string) string {
	if name, own := budgetNames[budget]; own {
		return name
	}
	return text.InLine(budget, 60)
}

// warnings say which budgets are nearly used up.
func warnings(r agent.Run) []string {
	var list []string
	for _, b := range Budgets(r) {
		if noticed := r.Notices[b.Name]; noticed >= 80 && b.Percent() >= 80 { // people may have added to it since
			list = append(list, fmt.Sprintf("**Budget**: %d %% of the %s used (%s of %s)", b.Percent(), BudgetName(b.Name), b.Show(b.Spent), b.Show(b.Limit)))
		}
	}
	return list
}

// assumptions are what the plan takes for granted.
func assumptions(p agent.Plan) []string {
	var list []string
	for _, a := range p.Assumptions {
		list = append(list, strings.TrimRight(text.Quoted(a, 160), "."))
	}
	if len(list) == 0 {
		return nil
	}
	return []string{"Assumed: " + strings.Join(text.AtMost(list, 5), "; ")}
}

// maxDoubts is how many doubts about a plan are shown with it.
const maxDoubts = 3

// doubts are what the check of a plan was not sure of.
func doubts(found []agent.PlanFinding) []string {
	var list []string
	for _, f := range found {
		list = append(list, "Please look: "+text.Quoted(f.Message, 200))
	}
	return text.AtMost(list, maxDoubts)
}

// findings are the newest things that the detectors and the check-ins found.
func findings(r agent.Run) []string {
	var list []string
	for _, f := range latest(r.Findings, 3) {
		line := "Noticed: " + text.Quoted(text.InSteps(f.Message), 160)
		if id, works := f.Strand.Task(); works && f.Rule == agent.RuleCheckIn {
			task, _ := r.Plan.Task(id)
			line = "Looking back at “" + text.Quoted(taskTitle(task), 60) + "”: " + text.Quoted(text.InSteps(f.Message), 160)
		}
		if !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	return list
}

// latest are the newest findings, of each rule in a strand only its last word.
func latest(all []agent.Finding, most int) []agent.Finding {
	var list []agent.Finding
	for _, f := range slices.Backward(all) {
		same := func(g agent.Finding) bool {
			return f.Rule != agent.RuleCheckIn && g.Rule == f.Rule && g.Strand == f.Strand
		}
		if len(list) < most && !slices.ContainsFunc(list, same) {
			list = append(list, f)
		}
	}
	slices.Reverse(list)
	return list
}

// checkInViews are how far the newest check-in saw each task at work.
func checkInViews(r agent.Run) []string {
	var list []string
	for _, t := range r.Plan.Tasks {
		c := r.Strands.Of(agent.TaskStrand(t.ID)).CheckIn
		if r.Tasks[t.ID].State == agent.TaskRunning && c.Ledger != nil {
			list = append(list, fmt.Sprintf("“%s” is about %.0f %% done, by its own estimate · %s", text.Quoted(taskTitle(t), 60), 100*c.Ledger.Progress, text.Moment(c.Last)))
		}
	}
	return text.AtMost(list, 3)
}

// controls are the buttons of a live run.
func controls(r agent.Run) []bot.Button {
	id := string(r.ID)
	cancel := bot.Button{Label: "Cancel", Style: bot.StyleDanger, Act: bot.ActControl, ID: id, Word: string(agent.WordCancel)}
	steer := bot.Button{Label: "Steer", Act: bot.ActSteer, ID: id, Word: bot.FormSteer}
	switch {
	case r.Cancelled != nil || r.Report != nil:
		return nil
	case r.State() == agent.RunPaused:
		return []bot.Button{{Label: "Resume", Style: bot.StylePrimary, Act: bot.ActControl, ID: id, Word: string(agent.WordResume)}, steer, cancel}
	}
	return []bot.Button{{Label: "Pause", Act: bot.ActControl, ID: id, Word: string(agent.WordPause)}, steer}
}

// Deciding adds to a card that stands away from the run's questions where they are
// and how to decide them. Link is the address of a message for browsers, empty: none.
func Deciding(c bot.Card, r agent.Run, link func(message string) string) bot.Card {
	if r.Ended != nil {
		return c
	}
	var lines []string
	for _, check := range r.OpenCheckpoints() {
		message := r.Shown[agent.KeyAsk(check.ID)].Message
		if message == "" {
			continue
		}
		where := "in the thread of the run"
		if at := link(message); at != "" {
			where = "[in the thread of the run](" + at + ")"
		}
		lines = append(lines, "**To decide**: "+text.Escape(Title(r, check))+" Press a button of the question, "+where+".")
	}
	if len(lines) == 0 {
		return c
	}
	at := slices.IndexFunc(c.Parts, func(p bot.Part) bool { _, are := p.(bot.Buttons); return are })
	if at < 0 {
		at = len(c.Parts)
	}
	c.Parts = slices.Insert(slices.Clone(c.Parts), at, bot.Part(bot.Prose{Markdown: strings.Join(lines, text.NextLine)}))
	return c
}

// with adds buttons to a card, if there are any.
func with(c bot.Card, buttons []bot.Button) bot.Card {
	if len(buttons) > 0 {
		c.Parts = append(c.Parts, bot.Buttons{List: buttons})
	}
	return c
}
