package intake

// This file gathers what a person sees on the bot's own page: their runs, the
// questions that wait for them, their spending this month, and the settings
// of who may start, operate and approve.

import (
	"context"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// visited shows the bot's own page.
func (req *request) visited(ctx context.Context) (bot.Answer, error) {
	mine, err := req.Mine(ctx, req.in.By)
	if err != nil {
		return bot.Answer{}, err
	}
	pending, err := req.Pending(ctx, req.in.By)
	if err != nil {
		return bot.Answer{}, err
	}
	spent, err := req.cfg.Store.Spent(ctx, agent.CounterOf(agent.PersonCounter(req.in.By.ID, req.now), agent.BudgetUSD))
	if err != nil {
		return bot.Answer{}, err
	}
	a := req.cfg.Runs.Authority
	settings := []bot.Fact{{Name: "Who starts runs", Value: nameList(a.Start, "every full member")}, {Name: "Operators", Value: nameList(a.Operators, "nobody")},
		{Name: "Approvers", Value: nameList(a.Approvers, "the requester and the operators")}}
	home := card.HomePage(card.Home{Mine: mine, Pending: pending,
		Month: slices.DeleteFunc([]bot.Fact{{Name: "Your runs", Value: monthly(agent.Nano(spent), mine)}}, func(f bot.Fact) bool { return f.Value == "" }), Settings: settings}, req.now)
	return bot.Answer{Home: &home}, nil
}

// monthly is what a person's runs cost this month: unknown where their model
// has no price.
func monthly(spent agent.Nano, mine []card.Status) string {
	if slices.ContainsFunc(mine, func(s card.Status) bool { return s.Cost == nil && s.Problem == "" }) {
		if spent == 0 { // nothing that is known
			return ""
		}
		return "at least " + format.Money(spent) + "; for some no price is known"
	}
	return format.Money(spent)
}

// nameList lists principals as facts show them.
func nameList(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.ReplaceAll(bot.Mentions(list, "and"), "\n", " ")
}
