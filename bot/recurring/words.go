package recurring

import (
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Schedules in words: in a list, in the confirmation of an order.

// maxSchedules is how many schedules a list shows.
const maxSchedules = 30

// Reader is who reads about schedules, where and when.
type Reader struct {
	By  string // principal
	At  bot.Address
	Now time.Time
}

// Confirmation says what a schedule does that somebody made or changed, and when its
// next turn is. Of what stands in backquotes the name is the first.
func (to Reader) Confirmation(done string, s Schedule, when schedule.When) bot.Card {
	next := NextTurn(when, to.Now)
	if s.Paused != "" {
		next = "It is still **paused**."
	}
	kind := KindOf(s)
	return bot.Card{Text: done + " " + s.Name, Parts: []bot.Part{
		bot.Prose{Markdown: done + " `" + s.Name + "`: " + text.Escape(when.String()) + ", " + to.deed(s) + "." + text.NextLine + next},
		bot.Small{Markdown: fmt.Sprintf("`%[1]s pause`, `%[1]s resume`, `%[1]s change` and `%[1]s remove` take this name; `%[1]s list` shows what there is.", kind)},
	}}
}

// List shows schedules of a sort, one after the other.
func (to Reader) List(kind Kind, list []Schedule, unreadable bool) bot.Card {
	what := format.Count(len(list), kind.Noun())
	var lines []string
	for _, s := range list[:min(len(list), maxSchedules)] {
		lines = append(lines, "- "+to.line(s))
	}
	c := bot.Card{Text: what, Parts: []bot.Part{bot.Heading{Text: what}, bot.Prose{Markdown: strings.Join(lines, "\n")}}}
	if len(list) == 0 {
		c = bot.Card{Text: "Nothing is scheduled here", Parts: []bot.Part{bot.Prose{Markdown: "Nothing is scheduled here. " + kind.Usage()}}}
	}
	if more := len(list) - maxSchedules; more > 0 {
		c.Parts = append(c.Parts, bot.Small{Markdown: fmt.Sprintf("and %d more; each place lists its own", more)})
	}
	if unreadable {
		c.Parts = append(c.Parts, bot.Small{Markdown: "Some schedules cannot be read; an administrator finds them in the log."})
	}
	return c
}

// line is a schedule in a list.
func (to Reader) line(s Schedule) string {
	when, err := s.Timing()
	if err != nil {
		return "`" + s.Name + "` · **it cannot be served**: " + text.Quoted(err.Error(), 200)
	}
	state := NextTurn(when, to.Now)
	if s.Paused != "" {
		state = "**Paused** by " + bot.Mention(s.Paused)
	}
	switch {
	case s.Fixed:
		state += " · from the configuration file"
	case s.By != to.By:
		state += " · of " + bot.Mention(s.By)
	}
	return "`" + s.Name + "` · **" + text.Escape(when.String()) + "**, " + to.deed(s) + text.NextLine + "  " + state
}

// deed says where a turn of the schedule does what.
func (to Reader) deed(s Schedule) string {
	where := to.place(s)
	if s.Report == "" {
		return where + ": “" + text.Quoted(s.Goal, 120) + "”" + overlaps[s.Overlap]
	}
	about, always := "that channel", ", if there is news"
	switch {
	case s.Report == OfWorkspace:
		about = "the whole workspace"
	case s.Report == OfPerson && s.By == to.By:
		about = "your runs"
	case s.Report == OfPerson:
		about = "the runs of " + bot.Mention(s.By)
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
func (to Reader) place(s Schedule) string {
	at, err := bot.ParseAddress(s.To)
	switch {
	case err == nil && to.At.Channel != "" && at.Place() == to.At.Place():
		return here
	case s.Label != "":
		return "in " + text.Escape(s.Label)
	case s.Direct:
		return "in the conversation with " + bot.Mention(s.By)
	}
	return "in " + text.Place(s.To)
}

// overlaps say what happens to a turn while the run before has not ended.
var overlaps = map[Overlap]string{
	OverlapQueue:   " (a turn waits for the run before)",
	OverlapReplace: " (a turn ends the run before)",
}

// NextTurn says when the next turn is, in the schedule's zone.
func NextTurn(when schedule.When, now time.Time) string {
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
	return "Next: " + next.Format(form+" MST") + " (in " + format.Minutes(next.Sub(now)) + ")"
}
