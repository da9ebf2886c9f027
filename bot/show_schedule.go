package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// maxSchedules is how many schedules a list shows.
const maxSchedules = 30

// reading is who reads about schedules, where and when.
type reading struct {
	by  string // principal
	at  Address
	now time.Time
}

// kept says what a schedule does that somebody made or changed, and when its
// next turn is. Of what stands in backquotes the name is the first.
func (to reading) kept(done string, s Schedule, when schedule.When) Card {
	next := nextTurn(when, to.now)
	if s.Paused != "" {
		next = "It is still **paused**."
	}
	kind := sortOf(s)
	return Card{Text: done + " " + s.Name, Parts: []Part{
		Prose{done + " `" + s.Name + "`: " + escape(when.String()) + ", " + to.deed(s) + "." + nextLine + next},
		Small{fmt.Sprintf("`%[1]s pause`, `%[1]s resume`, `%[1]s change` and `%[1]s remove` take this name; `%[1]s list` shows what there is.", kind)},
	}}
}

// list shows schedules of a sort, one after the other.
func (to reading) list(kind sort, list []Schedule, unreadable bool) Card {
	what := countOf(len(list), kind.noun())
	var lines []string
	for _, s := range list[:min(len(list), maxSchedules)] {
		lines = append(lines, "- "+to.line(s))
	}
	c := Card{Text: what, Parts: []Part{Heading{what}, Prose{strings.Join(lines, "\n")}}}
	if len(list) == 0 {
		c = Card{Text: "Nothing is scheduled here", Parts: []Part{Prose{"Nothing is scheduled here. " + kind.usage()}}}
	}
	if more := len(list) - maxSchedules; more > 0 {
		c.Parts = append(c.Parts, Small{fmt.Sprintf("and %d more; each place lists its own", more)})
	}
	if unreadable {
		c.Parts = append(c.Parts, Small{"Some schedules cannot be read; an administrator finds them in the log."})
	}
	return c
}

// line is a schedule in a list.
func (to reading) line(s Schedule) string {
	when, err := s.timing()
	if err != nil {
		return "`" + s.Name + "` · **it cannot be served**: " + quoted(err.Error(), 200)
	}
	state := nextTurn(when, to.now)
	if s.Paused != "" {
		state = "**Paused** by " + Mention(s.Paused)
	}
	switch {
	case s.Fixed:
		state += " · from the configuration file"
	case s.By != to.by:
		state += " · of " + Mention(s.By)
	}
	return "`" + s.Name + "` · **" + escape(when.String()) + "**, " + to.deed(s) + nextLine + "  " + state
}

// deed says where a turn of the schedule does what.
func (to reading) deed(s Schedule) string {
	where := to.place(s)
	if s.Report == "" {
		return where + ": “" + quoted(s.Goal, 120) + "”" + overlaps[s.Overlap]
	}
	about, always := "that channel", ", if there is news"
	switch {
	case s.Report == OfWorkspace:
		about = "the whole workspace"
	case s.Report == OfPerson && s.By == to.by:
		about = "your runs"
	case s.Report == OfPerson:
		about = "the runs of " + Mention(s.By)
	case where == here:
		about = "this channel"
	}
	if s.Always {
		always = ", also without news"
	}
	return where + ": a report on " + about + always
}

// here is the place that somebody reads at.
const here = "here"

// place names the schedule's place to the reader.
func (to reading) place(s Schedule) string {
	at, err := ParseAddress(s.To)
	switch {
	case err == nil && to.at.Channel != "" && at.Place() == to.at.Place():
		return here
	case s.Label != "":
		return "in " + escape(s.Label)
	case s.Direct:
		return "in the conversation with " + Mention(s.By)
	}
	return "in " + where(s.To)
}

// overlaps say what happens to a turn while the run before has not ended.
var overlaps = map[Overlap]string{
	OverlapQueue:   " (a turn waits for the run before)",
	OverlapReplace: " (a turn ends the run before)",
}

// nextTurn says when the next turn is, in the schedule's zone.
func nextTurn(when schedule.When, now time.Time) string {
	next := when.Next(now)
	if next.IsZero() {
		return "It never comes again."
	}
	next = next.In(when.Zone())
	form := "Monday, 2 January, 15:04"
	if next.Year() != now.In(when.Zone()).Year() {
		form = "Monday, 2 January 2006, 15:04"
	}
	if next.Second() != 0 {
		form += ":05"
	}
	return "Next: " + next.Format(form+" MST") + " (in " + inMinutes(next.Sub(now)) + ")"
}
