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
	head := inLine(rep.Headline, 140)
	switch {
	case p.Key == keyCard:
		c.Text, c.Parts = head, []Part{Heading{head}}
		if r.Brief.Tick.Schedule != "" {
			c.Parts = append(c.Parts, Small{"Details in the thread · schedule `" + r.Brief.Tick.Schedule + "`"})
		}
	case strings.HasPrefix(p.Key, keyRaise):
		c.Text = "A scheduled report could not be posted"
		c.Mentions = []string{p.To}
		c.Parts = []Part{Heading{c.Text},
			Prose{"The report of the schedule `" + r.Brief.Tick.Schedule + "` could not be posted at " + where(r.Brief.ReplyTo) + ": " +
				quoted(strings.TrimPrefix(r.Undelivered(), "error: "), 300) + "\n\nInvite the bot there, or remove the schedule: `report remove " + r.Brief.Tick.Schedule + "`."},
			Prose{"**" + escape(head) + "**\n\n" + rep.Body}}
	default:
		c.Text, c.Parts = head, []Part{Prose{rep.Body}}
	}
	return c
}

// where names a place for people who may not see it.
func where(address string) string { return "`" + strings.TrimSuffix(address, ":") + "`" }
