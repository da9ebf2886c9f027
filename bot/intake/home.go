package intake

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
func (h *request) visited(ctx context.Context) (bot.Answer, error) {
	mine, err := h.Mine(ctx, h.in.By)
	if err != nil {
		return bot.Answer{}, err
	}
	pending, err := h.Pending(ctx, h.in.By)
	if err != nil {
		return bot.Answer{}, err
	}
	spent, err := h.cfg.Store.Spent(ctx, agent.CounterOf(agent.PersonCounter(h.in.By.ID, h.now), agent.BudgetUSD))
	if err != nil {
		return bot.Answer{}, err
	}
	a := h.cfg.Desk.Authority
	settings := []bot.Fact{{Name: "Who starts runs", Value: listed(a.Start, "every full member")}, {Name: "Operators", Value: listed(a.Operators, "nobody")},
		{Name: "Approvers", Value: listed(a.Approvers, "the requester and the operators")}}
	home := card.HomePage(card.Home{Mine: mine, Pending: pending,
		Month: []bot.Fact{{Name: "Your runs", Value: monthly(agent.Nano(spent), mine)}}, Settings: settings}, h.now)
	return bot.Answer{Home: &home}, nil
}

// monthly is what a person's runs cost this month: unknown where their model
// has no price.
func monthly(spent agent.Nano, mine []card.Status) string {
	if slices.ContainsFunc(mine, func(s card.Status) bool { return s.Cost == nil && s.Problem == "" }) {
		return "at least " + format.Money(spent) + ": the cost of some is unknown, their model has no price"
	}
	return format.Money(spent)
}

// listed lists principals as facts show them.
func listed(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.ReplaceAll(bot.Mentions(list, "and"), "\n", " ")
}
