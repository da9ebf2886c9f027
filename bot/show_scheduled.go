package bot

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// ScheduledCard is one of the posts of a scheduled report: the headline, the
// body under it, or a word to somebody who has to know that it could not be posted.
func ScheduledCard(r agent.Run, p agent.Post) Card {
	c := Card{Key: Key{Run: r.ID, Name: p.Key, Kind: agent.PostScheduled}}
	rep := agent.Reported{}
	if r.Report != nil {
		rep = *r.Report
	}
	head, name := inLine(rep.Headline, 140), r.Brief.Tick.Schedule
	switch {
	case p.Key == keyCard:
		c.Text, c.Parts = head, []Part{Heading{head}}
		small := maybe(name, "schedule `"+name+"`")
		if !r.Brief.Direct { // a direct conversation may have no threads
			small = "Details in the thread" + maybe(name, " · "+small)
		}
		if small != "" {
			c.Parts = append(c.Parts, Small{small})
		}
	case strings.HasPrefix(p.Key, keyRaise):
		c.Text, c.Mentions = "A report could not be posted", []string{informed(r, p)}
		c.Parts = []Part{Heading{c.Text}, Prose{undelivered(r)}}
		if !r.Brief.Direct || c.Mentions[0] == r.Brief.Requester { // what is private stays so
			c.Parts = append(c.Parts, Prose{"What it says:\n\n**" + escape(head) + "**\n\n" + rep.Body})
		}
	default:
		c.Text, c.Parts = head, []Part{Prose{rep.Body}}
	}
	return c
}

// deliveryCard says what became of a report.
func deliveryCard(r agent.Run) Card {
	name := r.Brief.Tick.Schedule
	what, state := "The report"+maybe(name, " `"+name+"`")+" of "+moment(r.Brief.Tick.At), "is on its way"
	switch {
	case r.Undelivered() != "":
		state = "**could not be posted**: " + quoted(strings.TrimPrefix(r.Undelivered(), "error: "), 300)
	case r.Shown[keyReport].Message != "":
		state = "was posted"
	}
	text := what + " " + state + "."
	return Card{Text: plain(text), Parts: []Part{Prose{text}}}
}

// undelivered says which report did not get where, why, and what to do about it.
func undelivered(r agent.Run) string {
	name := r.Brief.Tick.Schedule
	text := "The report" + maybe(name, " `"+name+"`") + " of " + moment(r.Brief.Tick.At) + " could not be posted at " + where(r.Brief.ReplyTo) + ": " +
		quoted(strings.TrimPrefix(r.Undelivered(), "error: "), 300) + "\n\nInvite the bot there"
	if name != "" {
		text += ", or stop the schedule: `report pause " + name + "`"
	}
	return text + "."
}

// where names a place for people who may not see it.
func where(address string) string { return "`" + strings.TrimSuffix(address, ":") + "`" }

// maybe is the text, or nothing where what it is about is empty.
func maybe(about, text string) string {
	if about == "" {
		return ""
	}
	return text
}
