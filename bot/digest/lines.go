package digest

import (
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The lines of the sections Done, Doing, Blocked and Needs you.

// doneLines are the runs that ended as done or were cancelled.
func (d grouped) doneLines() []string {
	var lines []string
	for _, r := range d.ended {
		switch r.Ended.State {
		case agent.RunDone:
			lines = append(lines, dotted("✓ "+d.named(r), d.open(r, result(r)), d.ending(r)))
		case agent.RunCancelled:
			lines = append(lines, dotted("– "+d.named(r), "**cancelled**"+d.reason(r), d.ending(r)))
		case agent.RunFailed, agent.RunRunning, agent.RunWaiting, agent.RunPaused:
		}
	}
	return lines
}

// result is the headline of the run's report.
func result(r agent.Run) string {
	if r.Report == nil {
		return ""
	}
	return text.Quoted(r.Report.Headline, 120)
}

// reason is why the run ended, as the end of a word.
func (d grouped) reason(r agent.Run) string {
	why := card.People(r, text.Quoted(r.Ended.Reason, 160))
	why = d.open(r, strings.TrimPrefix(strings.TrimPrefix(why, string(r.Ended.State)), ": "))
	switch {
	case why == "":
		return ""
	case strings.HasPrefix(why, " by "):
		return why
	}
	return ": " + why
}

// ending is what an ended run cost, how long it took and when it ended.
func (d grouped) ending(r agent.Run) string {
	return dotted(costOf(r), "took "+format.Duration(r.Finished.Sub(r.Started)), d.Period.clock(r.Finished))
}

// doingLines are the runs at work.
func (d grouped) doingLines() []string {
	var lines []string
	for _, r := range d.doing {
		now := card.Work(r)
		switch {
		case r.Cancelled != nil:
			now = "ending, " + card.People(r, "cancelled by "+r.Cancelled.By)
		case r.Finish:
			now = "ending with what there is"
		}
		lines = append(lines, dotted(d.named(r), tasksOf(r), d.open(r, now), "since "+d.Period.clock(r.Started), costOf(r)))
	}
	return lines
}

// tasksOf is how far the plan is, "" without one.
func tasksOf(r agent.Run) string {
	done, total := r.Progress()
	if total == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s done", done, format.Count(total, "task"))
	failed := 0
	for _, t := range r.Plan.Tasks {
		if r.Tasks[t.ID].State == agent.TaskFailed {
			failed++
		}
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

// blockedLines are the runs that cannot go on, those that failed in the
// period, and what could not be posted or read.
func (d grouped) blockedLines() []string {
	var lines []string
	for _, r := range d.in(agent.RunFailed) {
		lines = append(lines, dotted("✗ "+d.named(r), "**failed**"+d.reason(r), d.ending(r)))
	}
	for _, r := range d.blocked {
		moved := "nothing moved for " + format.Minutes(d.Period.Until.Sub(r.Last))
		if d.why(r) == whyStuck && r.State() == agent.RunRunning {
			moved = "the rest goes on"
		}
		lines = append(lines, dotted(d.named(r), d.obstacle(r), tasksOf(r), moved, costOf(r)))
	}
	for _, r := range d.lost {
		lines = append(lines, fmt.Sprintf("✗ `%s` · the report%s of %s could not be posted: %s", r.ID,
			text.IfAny(r.Brief.Tick.Schedule, " "+text.Quoted(r.Brief.Tick.Schedule, 60)), d.Period.clock(r.Brief.Tick.At), card.Unposted(agent.Undelivered(r), 160)))
	}
	for _, s := range d.Unread {
		lines = append(lines, dotted("`"+string(s.Run)+"`", "**unreadable**: "+text.Quoted(s.Problem, 160)))
	}
	return lines
}

// obstacle is why a live run does not go on.
func (d grouped) obstacle(r agent.Run) string {
	why := d.why(r)
	line := "**" + why + "**"
	if d.hidden(r) {
		return line
	}
	switch why {
	case whyRefused:
		line += ": " + text.Escape(card.Refusal(r))
	case whyPaused:
		line += " by " + card.PausedBy(r.Paused)
	case whyStuck:
		line += strings.TrimPrefix(": "+text.Escape(card.Title(r, *stuckAt(r))), ": Stuck") // it has said so
	case whySilent:
		line += ": " + card.Work(r)
	}
	return line
}

// needLines are the open questions.
func (d grouped) needLines() []string {
	var lines []string
	for _, p := range d.needs {
		r, c := p.Run, p.Check
		what := card.WaitReasons[c.Ask] + d.open(r, ": "+text.Escape(card.Title(r, c)))
		if d.thread(r) == "" {
			what += " (`" + string(c.ID) + "`)"
		}
		lines = append(lines, dotted(d.named(r), "waits "+what, d.deciders(r, c),
			"open for "+format.Minutes(d.Period.Until.Sub(c.Opened)), d.expiry(c)))
	}
	return lines
}

// deciders are the people who may decide, by name.
func (d grouped) deciders(r agent.Run, c agent.Checkpoint) string {
	if d.Audience == nil || d.hidden(r) {
		return ""
	}
	list := d.Audience(r.Asking(c), c.Ask)
	if len(list) == 0 {
		return "nobody is named who may decide"
	}
	return bot.Mentions(list, "or") + " may decide"
}

func (d grouped) expiry(c agent.Checkpoint) string {
	switch {
	case c.Expires.IsZero():
		return ""
	case !d.Period.Until.Before(c.Expires):
		return "expires now; then " + card.OnExpiry(c)
	}
	return "expires " + d.Period.clock(c.Expires) + "; then " + card.OnExpiry(c)
}
