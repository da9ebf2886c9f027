package bot

import (
	"context"
	"maps"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// reportNow posts a report at once.
func (h *hearing) reportNow(ctx context.Context, options string) (Answer, error) {
	s, err := h.orderedReport(ctx, Schedule{Name: "now", By: h.in.By.ID, Zone: h.zone("").String(), Always: true}, options)
	if err != nil {
		return Answer{}, err
	}
	opening, err := h.cfg.Reporter.now(ctx, s, h.now)
	if err != nil {
		return Answer{}, err
	}
	opening.Along = Along{Once: h.along.Once, Set: maps.Clone(h.along.Set)}
	if _, err := h.cfg.Desk.Begin(ctx, opening); h.wrote(err) != nil {
		return Answer{}, err
	}
	return h.marked("", "The report is on its way."), nil
}

// alone reports whether the person talks to the bot alone.
func (h *hearing) alone() bool {
	switch a := h.in.Act.(type) {
	case Said:
		return a.Direct
	case Commanded:
		return a.Direct
	case Filled:
		return a.Direct || h.in.Where.Channel == ""
	case Pressed, Stopped, Visited:
	}
	return h.in.Where.Channel == ""
}

// lastly is how far back a report looks that is asked for.
const lastly = 24 * time.Hour

// reportBefore is the report that a thread is about, as context.
func reportBefore(old agent.Run) agent.Body {
	return agent.PersonSaid{By: agent.Deckhand, Text: "The thread is about this report" + maybe(old.Brief.Tick.Schedule, " of the schedule "+old.Brief.Tick.Schedule) +
		" of " + moment(old.Brief.Tick.At) + " (run " + string(old.ID) + "):\n" + quote(old.Report.Headline+"\n"+old.Report.Body, maxEarlier)}
}
