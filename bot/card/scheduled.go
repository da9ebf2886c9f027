package card

import (
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// ScheduleNow is what there is to know of a schedule beside what was ordered.
type ScheduleNow struct {
	Run      agent.RunID          // that made it, empty where exact words did
	Revised  *agent.RunControlled // since it was made
	PausedBy string
}

// Scheduling says what was understood of an order for later: when it comes, what
// is done then, its next times; and lets it be taken back or changed.
func Scheduling(made agent.Scheduled, now ScheduleNow) bot.Card {
	when := format.Capital(made.When)
	line, next := "**"+text.Escape(when)+"**: "+made.What, upcoming(made)
	switch {
	case now.Revised != nil && now.Revised.Word == agent.WordUndo:
		line = "Undone by " + bot.Mention(now.Revised.By) + ": " + text.Escape(made.When) + ", " + made.What
		return bot.Card{Text: text.Plain(line), Parts: []bot.Part{bot.Prose{Markdown: line}}}
	case now.Revised != nil:
		line, next = now.Revised.Reason, "Changed by "+bot.Mention(now.Revised.By)+"."
	case now.PausedBy != "":
		next = "It is still **paused**."
	case made.Once && len(made.Next) > 0:
		line, next = "**"+text.Day(made.Next[0])+"**: "+made.What, "Once, and then never again."
	}
	id := strings.TrimSpace(made.Name + " " + string(now.Run))
	return with(bot.Card{Text: text.InLine(text.Plain(when+": "+made.What), 200), Parts: []bot.Part{
		bot.Prose{Markdown: line + text.NextLine + next},
		bot.Small{Markdown: fmt.Sprintf("Kept as `%[2]s`. `%[1]s remove %[2]s` takes it back; `%[1]s list` shows what there is here.", made.Kind, made.Name)},
	}}, []bot.Button{
		{Label: "Undo", Act: bot.ActControl, ID: id, Word: bot.WordUndo},
		{Label: "Change", Act: bot.ActControl, ID: id, Word: bot.WordChange},
	})
}

// upcoming are the next times of a schedule.
func upcoming(made agent.Scheduled) string {
	var times []string
	for _, at := range made.Next {
		times = append(times, text.Day(at))
	}
	if len(times) == 0 {
		return "It never comes."
	}
	return "Next: " + strings.Join(times, " · ")
}

// Scheduled is one of the posts of a scheduled report: the headline, the
// body under it, or a word to somebody who has to know that it could not be posted.
func Scheduled(r agent.Run, p agent.Post) bot.Card {
	c := bot.Card{Key: bot.Key{Run: r.ID, Name: p.Key, Kind: agent.PostScheduled}}
	rep := agent.Reported{}
	if r.Report != nil {
		rep = *r.Report
	}
	head, name := text.InLine(rep.Headline, 140), r.Brief.Tick.Schedule
	switch {
	case p.Key == agent.KeyCard:
		c.Text, c.Parts = head, []bot.Part{bot.Heading{Text: head}}
		small := text.IfAny(name, "schedule `"+name+"`")
		if !r.Brief.Direct { // a direct conversation may have no threads
			small = "Details in the thread" + text.IfAny(name, " · "+small)
		}
		if small != "" {
			c.Parts = append(c.Parts, bot.Small{Markdown: small})
		}
	case p.Raises():
		c.Text, c.Mentions = "A report could not be posted", []string{Informed(r, p)}
		c.Parts = []bot.Part{bot.Heading{Text: c.Text}, bot.Prose{Markdown: undelivered(r)}}
		if !r.Brief.Direct || c.Mentions[0] == r.Brief.Requester { // what is private stays so
			c.Parts = append(c.Parts, bot.Prose{Markdown: "What it says:\n\n**" + text.Escape(head) + "**\n\n" + rep.Body})
		}
	default:
		c.Text, c.Parts = head, []bot.Part{bot.Prose{Markdown: rep.Body}}
	}
	return c
}

// deliveryCard says what became of a report.
func deliveryCard(r agent.Run) bot.Card {
	name := r.Brief.Tick.Schedule
	what, state := "The report"+text.IfAny(name, " `"+name+"`")+" of "+text.Moment(r.Brief.Tick.At), "is on its way"
	switch {
	case agent.Undelivered(r) != "":
		state = "**could not be posted**: " + Unposted(agent.Undelivered(r), 300)
	case r.Shown[agent.KeyReport].Message != "":
		state = "was posted"
	}
	line := what + " " + state + "."
	return bot.Card{Text: text.Plain(line), Parts: []bot.Part{bot.Prose{Markdown: line}}}
}

// unposted is what the errors of a platform are to people, who know no address and
// no name of a platform's own.
var unposted = []struct{ is, plain string }{
	{bot.ErrGone.Error(), "that place is not there any more, or I was never let in"},
	{bot.ErrBarred.Error(), "I may not write there now"},
	{bot.ErrRefused.Error(), "the platform refuses me altogether"},
	{bot.ErrLost.Error(), "nobody knows whether it arrived"},
}

// Unposted is why something could not be posted, at most so many characters.
func Unposted(why string, most int) string {
	for _, e := range unposted {
		if strings.Contains(why, e.is) {
			return e.plain
		}
	}
	return text.Quoted(strings.TrimPrefix(why, "error: "), most)
}

// undelivered says which report did not get where, why, and what to do about it.
func undelivered(r agent.Run) string {
	name := r.Brief.Tick.Schedule
	line := "The report" + text.IfAny(name, " `"+name+"`") + " of " + text.Moment(r.Brief.Tick.At) + " could not be posted in " + text.Place(r.Brief.ReplyTo) + ": " +
		Unposted(agent.Undelivered(r), 300) + ".\n\nInvite me there"
	if name != "" {
		line += ", or stop the schedule: `report pause " + name + "`"
	}
	return line + "."
}

// Informed is the principal to whom a post says that a report could not be posted.
// A bare id is one of the report's platform.
func Informed(r agent.Run, p agent.Post) string {
	if strings.Contains(p.To, ":") {
		return p.To
	}
	name, _, _ := strings.Cut(r.Brief.ReplyTo, ":")
	return name + ":" + p.To
}
