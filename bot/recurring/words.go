package recurring

import (
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Schedules in words: in a list, in the confirmation of an order.

// maxShown is how much of a goal is shown, in characters.
const maxShown = 200

// maxSchedules is how many schedules a list shows.
const maxSchedules = 30

// Reader is who reads about schedules, where and when.
type Reader struct {
	By  string // principal
	At  bot.Address
	Now time.Time
}

// Confirmation says what was understood of an order, and when it comes next.
func (to Reader) Confirmation(s Schedule, when schedule.When) bot.Card {
	return card.Scheduling(to.Made(s, when), card.ScheduleNow{PausedBy: s.Paused})
}

// Made is the schedule as people are told of it.
func (to Reader) Made(s Schedule, when schedule.When) agent.Scheduled {
	made := agent.Scheduled{Name: s.Name, Kind: string(KindOf(s)), When: when.String(), Once: when.Once(), What: to.deed(s)}
	for at := when.Next(to.Now); !at.IsZero() && len(made.Next) < maxNext; at = when.Next(at) {
		made.Next = append(made.Next, at)
	}
	return made
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
		c = bot.Card{Text: "Nothing is scheduled here", Parts: []bot.Part{bot.Prose{Markdown: "Nothing is scheduled here yet. " + kind.Invitation()}}}
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
	return "**" + text.Escape(format.Capital(when.String())) + "**: " + to.deed(s) + text.NextLine + "  " + state + " · `" + s.Name + "`"
}

// deed says what a turn of the schedule does, and where; principals in it stand
// as in a card's texts.
func (to Reader) deed(s Schedule) string {
	where := to.place(s)
	if s.Report == "" { // the name alone stands between backticks
		line := "“" + text.Quoted(strings.ReplaceAll(s.Goal, "`", "ˋ"), maxShown) + "”" + overlaps[s.Overlap]
		if where != here {
			line += ", " + where
		}
		return line
	}
	about, always := "what goes on in that channel", ", if there is news"
	switch {
	case s.Report == OfWorkspace:
		about = "what goes on in the whole workspace"
	case s.Report == OfPerson && s.By == to.By:
		about = "your runs"
	case s.Report == OfPerson:
		about = "the runs of " + bot.Mention(s.By)
	case where == here:
		about = "what goes on in this channel"
	}
	if s.Always {
		always = ", also without news"
	}
	return "a report " + where + " on " + about + always
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

// NextTurn says when the next turn is.
func NextTurn(when schedule.When, now time.Time) string {
	next := when.Next(now)
	if next.IsZero() {
		return "It never comes again."
	}
	return "Next: " + text.Day(next) + " (in " + format.Minutes(next.Sub(now)) + ")"
}
