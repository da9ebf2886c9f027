package intake

import (
	"context"
	"maps"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// reportNow posts a report at once.
func (h scheduleOrder) reportNow(ctx context.Context, options string) (bot.Answer, error) {
	s, err := h.orderedReport(ctx, recurring.Schedule{Name: "now", By: h.in.By.ID, Zone: h.zone("").String(), Always: true}, options)
	if err != nil {
		return bot.Answer{}, err
	}
	opening, err := h.cfg.Reporter.Now(ctx, s, h.now)
	if err != nil {
		return bot.Answer{}, err
	}
	opening.Dedupe = runs.Dedupe{Once: h.dedupe.Once, Set: maps.Clone(h.dedupe.Set)}
	if _, err := h.cfg.Desk.Begin(ctx, opening); h.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return h.marked("", "The report is on its way."), nil
}

// alone reports whether the person talks to the bot alone.
func (h *request) alone() bool {
	switch a := h.in.Act.(type) {
	case bot.Said:
		return a.Direct
	case bot.Commanded:
		return a.Direct
	case bot.Filled:
		return a.Direct || h.in.Where.Channel == ""
	case bot.Pressed, bot.Stopped, bot.Visited:
	}
	return h.in.Where.Channel == ""
}

// reportBefore is the report that a thread is about, as context.
func reportBefore(old agent.Run) agent.Body {
	return agent.PersonSaid{By: agent.Deckhand, Text: "The thread is about this report" + text.Maybe(old.Brief.Tick.Schedule, " of the schedule "+old.Brief.Tick.Schedule) +
		" of " + format.Moment(old.Brief.Tick.At) + " (run " + string(old.ID) + "):\n" + quote(old.Report.Headline+"\n"+old.Report.Body, maxEarlier)}
}
