package app

// This file translates the configured budgets into limits and counters of
// runs and reports. A money budget that somebody set is refused where the
// model has no price to count it by.

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop/cost"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/digest"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// priced reports whether money can be counted.
func priced(c config.Config) bool {
	_, is := c.Model.Prices[c.Model.Name]
	return is
}

// unpriced is why a run cannot have a budget in money, empty if it can.
func unpriced(c config.Config) string {
	if priced(c) {
		return ""
	}
	return fmt.Sprintf("The model `%s` has no price, so money cannot be counted. Give a budget as `tokens=100000`, `time=1h` or `steps=50`; "+
		"an administrator can set `model.prices`.", c.Model.Name)
}

// affordable is what a run of a channel may spend ("" is the terminal). A
// money limit that nobody set is dropped where the model has no price; one that
// somebody set refuses to start.
func affordable(c config.Config, place string) (agent.Limits, error) {
	limits, at := c.LimitsIn(place)
	if priced(c) || limits.USD == 0 {
		return limits, nil
	}
	if at != "" {
		return limits, config.Refuse("a money budget of $%s is set (%s), but the model %q has no price: "+
			"set model.prices.%s: {input: …, output: …} in US$ per 1,000,000 tokens, or drop the limit with usd=0",
			limits.USD, at, c.Model.Name, c.Model.Name)
	}
	limits.USD = 0
	return limits, nil
}

// countable refuses budgets of months in money where the model has no price:
// they could not be kept.
func countable(c config.Config) error {
	if priced(c) {
		return nil
	}
	for key, l := range map[string]config.MonthLimits{"person_month": c.Budget.PersonMonth, "channel_month": c.Budget.ChannelMonth, "month": c.Budget.Month} {
		if l.USD > 0 {
			return config.Refuse("budget.%s.usd is set (%s), but the model %q has no price: set model.prices.%s: {input: …, output: …} in US$ per 1,000,000 tokens",
				key, c.At("budget."+key+".usd"), c.Model.Name, c.Model.Name)
		}
	}
	return nil
}

// spendable refuses money limits, of any channel, that cannot be counted.
func spendable(c config.Config) error {
	for _, place := range append(slices.Sorted(maps.Keys(c.Channels)), "") {
		if _, err := affordable(c, place); err != nil {
			return err
		}
	}
	return countable(c)
}

// allowances lists the counters beyond a run's own: its requester's, its
// channel's and everybody's, for the month in which it began.
func allowances(c config.Config) func(b agent.RunStarted, at time.Time) []cost.Allowance {
	return func(b agent.RunStarted, at time.Time) []cost.Allowance {
		list := []cost.Allowance{
			{Counter: agent.PersonCounter(b.Requester, at), Limits: agent.Limits{USD: c.Budget.PersonMonth.USD}},
			{Counter: agent.MonthCounter(at), Limits: agent.Limits{USD: c.Budget.Month.USD}},
		}
		if b.ReplyTo != "" {
			list = append(list, cost.Allowance{Counter: agent.ChannelCounter(agent.Outer(b.Folder), at), Limits: agent.Limits{USD: c.Budget.ChannelMonth.USD}})
		}
		return list
	}
}

// counters are the month's budgets of those whom a report is about.
func counters(c config.Config, s Store, log *slog.Logger) func(ctx context.Context, scope digest.Scope, now time.Time) []digest.Counter {
	return func(ctx context.Context, scope digest.Scope, now time.Time) []digest.Counter {
		name, counter, limit := "everybody", agent.MonthCounter(now), c.Budget.Month.USD
		switch {
		case scope.Person != "":
			name, counter, limit = "you", agent.PersonCounter(scope.Person, now), c.Budget.PersonMonth.USD
		case scope.Channel != "":
			at := bot.Address{Platform: scope.Platform, Workspace: scope.Workspace, Channel: scope.Channel}
			name, counter, limit = "this channel", agent.ChannelCounter(agent.Outer(at.Folder()), now), c.Budget.ChannelMonth.USD
		}
		if limit == 0 {
			return nil // nobody set one, and the runs' own costs are in the report
		}
		spent, err := s.Spent(ctx, agent.CounterOf(counter, agent.BudgetUSD))
		if err != nil {
			log.Warn("a budget is left out of a report", "counter", counter, "err", err)
			return nil
		}
		return []digest.Counter{{Name: name + " in " + now.UTC().Format("January"), Spent: agent.Nano(spent), Limit: limit}}
	}
}

// fairUse is how many runs people and places may have.
func fairUse(c config.Config) runs.Fair {
	share := func(l config.RunLimits) runs.Share { return runs.Share{AtOnce: l.AtOnce, Day: l.Day} }
	return runs.Fair{Person: share(c.Budget.PersonRuns), Place: share(c.Budget.ChannelRuns)}
}
