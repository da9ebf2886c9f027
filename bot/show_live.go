package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// The keys of posts that this side makes; checkpoints, reminders and uploads
// are numbered behind theirs.
const (
	keyCard   = "card"
	keyReport = "report"
	keyAsk    = "ask/"
	keyRemind = "remind/"
	keyRaise  = "raise/"
	keyUpload = "upload/"
)

// checkInRule is the rule of what a check-in finds (RULES.md, "Stuck").
const checkInRule = "L13"

// LiveCard is the run's one card: the plan with the state of each task, what
// happens now, and what it has cost. Once the run has ended it is one line, or
// the answer where the goal needed no work.
func LiveCard(r agent.Run, now time.Time) Card {
	c := Card{Key: Key{Run: r.ID, Name: keyCard, Kind: agent.PostCard}}
	if r.Ended != nil {
		return endedCard(c, r)
	}
	c.Text = plain(standing(r)) + " · " + inLine(r.Brief.Goal, 150)
	c.Parts = append(c.Parts, Heading{inLine(r.Brief.Goal, 150)}, Prose{standing(r)})
	if r.Plans > 0 {
		c.Parts = append(c.Parts, taskList(r))
	}
	c.Parts = append(c.Parts, Facts{progress(r, now)})
	for _, line := range slices.Concat(origin(r), warnings(r), assumptions(r), findings(r), views(r)) {
		c.Parts = append(c.Parts, Small{line})
	}
	return with(c, controls(r))
}

// origin says that nobody asked just now, where that is so.
func origin(r agent.Run) []string {
	if t := r.Brief.Tick; t != nil {
		return []string{"By the schedule `" + t.Schedule + "`"}
	}
	return nil
}

// endedCard is the card of an ended run.
func endedCard(c Card, r agent.Run) Card {
	if r.Replied() {
		c.Text = inLine(r.Report.Headline, 200)
		c.Parts = []Part{Prose{answer(*r.Report)}}
		return c
	}
	c.Text = plain(outcome(r))
	c.Parts = []Part{Prose{outcome(r)}}
	return c
}

// answer is a report as one text. A mere reply repeats its headline in its body.
func answer(rep agent.Reported) string {
	headline, body := strings.TrimSpace(safe(rep.Headline)), strings.TrimSpace(safe(rep.Body))
	switch {
	case body == "":
		return headline
	case headline == "" || strings.HasPrefix(body, headline):
		return body
	}
	return "**" + escape(headline) + "**\n\n" + body
}

// taskList is the plan with the state of each task.
func taskList(r agent.Run) Tasks {
	done, total := r.Progress()
	list := Tasks{Title: fmt.Sprintf("%s · %d of %d done", inLine(planName(r.Plan), 100), done, total)}
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

func item(t agent.Task, state agent.TaskState, note string) TaskItem {
	if state == "" {
		state = agent.TaskPending
	}
	i := TaskItem{ID: string(t.ID), Title: inLine(taskTitle(t), 120), State: state, Note: note}
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
		return inLine(s.Summary, 140)
	case agent.TaskFailed, agent.TaskSkipped:
		return people(r, inLine(s.Reason, 140))
	case agent.TaskPending:
	}
	return ""
}

// progress is the live figures.
func progress(r agent.Run, now time.Time) []Fact {
	elapsed := "under 1s" // milliseconds would be noise in it
	if d := now.Sub(r.Started); d >= time.Second {
		elapsed = lasting(d)
	}
	return []Fact{{"Spent", spending(r)}, {"Elapsed", elapsed}}
}

// spending is money of its limit, and tokens.
func spending(r agent.Run) string {
	cost := r.Spent.Dollars()
	if cost == nil {
		return countOf(r.Spent.Tokens(), "token") + " · " + money(nil)
	}
	text := money(cost)
	if limit := r.Limits().USD; limit > 0 {
		text += " of " + money(&limit)
	}
	return text + " · " + countOf(r.Spent.Tokens(), "token")
}

// budgetNames are what people call a run's budgets.
var budgetNames = map[string]string{"usd": "money", "tokens": "tokens", "time": "working time", "steps": "model calls"}

func budgetName(budget string) string {
	if name, own := budgetNames[budget]; own {
		return name
	}
	return inLine(budget, 60)
}

// warnings say which budgets are nearly used up.
func warnings(r agent.Run) []string {
	var list []string
	for _, b := range budgets(r) {
		if noticed := r.Notices[b.name]; noticed >= 80 && b.percent() >= 80 { // people may have added to it since
			list = append(list, fmt.Sprintf("**Budget**: %d %% of the %s used (%s of %s)", b.percent(), budgetName(b.name), b.show(b.spent), b.show(b.limit)))
		}
	}
	return list
}

// assumptions are what the plan takes for granted.
func assumptions(r agent.Run) []string {
	var list []string
	for _, a := range r.Plan.Assumptions {
		list = append(list, strings.TrimRight(quoted(a, 160), "."))
	}
	if len(list) == 0 {
		return nil
	}
	return []string{"Assumed: " + strings.Join(first(list, 5), "; ")}
}

// findings are the newest things that the detectors and the check-ins found.
func findings(r agent.Run) []string {
	var list []string
	for _, f := range latest(r.Findings, 3) {
		line := "Found: " + quoted(f.Message, 160)
		if id, works := f.Strand.Task(); works && f.Rule == checkInRule {
			task, _ := r.Plan.Task(id)
			line = "Check-in on " + inLine(taskTitle(task), 60) + ": " + quoted(f.Message, 160)
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
		same := func(g agent.Finding) bool { return f.Rule != checkInRule && g.Rule == f.Rule && g.Strand == f.Strand }
		if len(list) < most && !slices.ContainsFunc(list, same) {
			list = append(list, f)
		}
	}
	slices.Reverse(list)
	return list
}

// views are what the newest check-in of each task at work saw.
func views(r agent.Run) []string {
	var list []string
	for _, t := range r.Plan.Tasks {
		c := r.Strands[agent.TaskStrand(t.ID)].CheckIn
		if r.Tasks[t.ID].State == agent.TaskRunning && c.Ledger != nil {
			list = append(list, "A check-in saw “"+quoted(taskTitle(t), 60)+"” "+c.Ledger.View()+" · "+moment(c.Last))
		}
	}
	return first(list, 3)
}

// first is the beginning of a list, with a word about the rest.
func first(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
}

// controls are the buttons of a live run.
func controls(r agent.Run) []Button {
	id := string(r.ID)
	cancel := Button{Label: "Cancel", Style: StyleDanger, Act: ActControl, ID: id, Word: string(agent.WordCancel)}
	steer := Button{Label: "Steer", Act: ActSteer, ID: id, Word: formSteer}
	switch {
	case r.Cancelled != nil || r.Report != nil:
		return nil
	case r.State() == agent.RunPaused:
		return []Button{{Label: "Resume", Style: StylePrimary, Act: ActControl, ID: id, Word: string(agent.WordResume)}, steer, cancel}
	}
	return []Button{{Label: "Pause", Act: ActControl, ID: id, Word: string(agent.WordPause)}, steer}
}

// with adds buttons to a card, if there are any.
func with(c Card, buttons []Button) Card {
	if len(buttons) > 0 {
		c.Parts = append(c.Parts, Buttons{buttons})
	}
	return c
}

// nextLine is a line break within a paragraph of Markdown.
const nextLine = "  \n"

// plain is Markdown of this side's making as one line of plain text.
func plain(markdown string) string {
	var b strings.Builder
	escaped := false
	for _, r := range strings.NewReplacer("**", "", nextLine, ". ", "\n", " ").Replace(markdown) {
		if r == '\\' && !escaped {
			escaped = true
			continue
		}
		escaped = false
		b.WriteRune(r)
	}
	return b.String()
}
