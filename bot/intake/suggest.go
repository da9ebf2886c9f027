package intake

import (
	"context"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/recurring"
)

// Live sums up the newest runs that have not ended and that the person may
// look at from the place, at most 20 out of the newest 100 live runs of the store.
func (c *Chat) Live(ctx context.Context, p bot.Person, at bot.Address) ([]card.Status, error) {
	req := c.asking(p, at)
	runs, err := c.newestRuns(ctx, maxListed, true, req.maySee)
	list := make([]card.Status, len(runs))
	for i, r := range runs {
		list[i] = card.StatusOf(r)
	}
	return list, err
}

// Schedules are those that the person may see or manage from the place, sorted
// by name. Beside an error there are the ones that could be read.
func (c *Chat) Schedules(ctx context.Context, p bot.Person, at bot.Address) ([]recurring.Schedule, error) {
	req := scheduleOrder{request: c.asking(p, at)}
	all, err := c.cfg.Recurring.List(ctx)
	var list []recurring.Schedule
	for _, s := range all {
		if req.sees(s) || req.manages(s) {
			list = append(list, s)
		}
	}
	return list, err
}

// asking is somebody who only looks.
func (c *Chat) asking(p bot.Person, at bot.Address) *request {
	return &request{Chat: c, in: bot.Inbound{By: p, Where: at}, now: time.Now()}
}

// opened offers what the person may say in the conversation that they have
// opened.
func (req *request) opened(context.Context, bot.Opened) (bot.Answer, error) {
	return bot.Answer{Prompts: &bot.Prompts{List: []bot.Prompt{
		{Title: "What can you do?", Text: "help"}, {Title: "What is running?", Text: "runs"},
	}}}, nil
}
