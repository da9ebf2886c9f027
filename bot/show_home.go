package bot

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Home is what the bot's own page shows to one person.
type Home struct {
	Mine     []Status
	Pending  []Pending
	Month    []Fact // spent this month: name and amount of its limit
	Settings []Fact
}

// Pending is an open question that the person may decide.
type Pending struct {
	Run   agent.Run
	Check agent.Checkpoint
}

// maxPending is how many questions the page shows with their buttons.
const maxPending = 5

// HomeCard is the bot's own page: what waits for the person, the person's
// runs, money and settings.
func HomeCard(h Home, now time.Time) Card {
	c := Card{Text: "Deckhand"}
	c.Parts = append(c.Parts, Heading{"Waiting for you"})
	if len(h.Pending) == 0 {
		c.Parts = append(c.Parts, Prose{"Nothing."})
	}
	for _, p := range h.Pending[:min(len(h.Pending), maxPending)] {
		line := "**" + escape(title(p.Check)) + "**" + nextLine + about(p.Run, p.Check)
		if expiry := untilThen(p.Check.Expires, now); expiry != "" {
			line += nextLine + "It " + expiry
		}
		c.Parts = append(c.Parts, Prose{line})
		if p.Check.Ask == agent.CheckApproval {
			c.Parts = append(c.Parts, arguments(p.Check, besideValue)...)
		}
		c = with(c, decisions(p.Check))
	}
	if more := len(h.Pending) - maxPending; more > 0 {
		c.Parts = append(c.Parts, Small{"and " + countOf(more, "more question") + ", in their threads"})
	}
	c.Parts = append(c.Parts, Heading{"My runs"})
	if len(h.Mine) == 0 {
		c.Parts = append(c.Parts, Prose{"None yet."})
	} else {
		c.Parts = append(c.Parts, Prose{runLines(h.Mine, now)})
	}
	c = with(c, []Button{{Label: "New goal", Style: StylePrimary, Act: ActStart}})
	for _, part := range []struct {
		head string
		list []Fact
	}{{"This month", h.Month}, {"Settings", h.Settings}} {
		if len(part.list) > 0 {
			c.Parts = append(c.Parts, Heading{part.head}, Facts{part.list})
		}
	}
	return c
}
