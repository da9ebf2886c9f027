// Package cost reckons what the questions to a model cost: their prices, the
// counters that they are charged to, the room that a budget leaves, and which of
// its shares were passed.
//
//	cost.go  Price, Amount, Spend, Room, Notices
package cost

import (
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// million is what prices are quoted for, in tokens.
const million = 1_000_000

// Price is what a model's tokens cost, in billionths of a dollar per million
// tokens.
type Price struct{ Input, Cached, Output agent.Nano }

// Allowance is a counter of money or tokens with its limit, 0: none.
type Allowance struct {
	Counter string // without the unit
	Limits  agent.Limits
}

// Of is the price of the usage at list price, in billionths of a dollar,
// rounded up.
func (p Price) Of(u llm.Usage) agent.Nano {
	sum := p.Input*agent.Nano(u.Prompt-u.Cached) + p.Cached*agent.Nano(u.Cached) + p.Output*agent.Nano(u.Completion)
	return (sum + million - 1) / million
}

// Amount is an amount of money and tokens, to be added to every counter that
// a call is charged to.
type Amount struct{ Nano, Tokens int64 }

// Reserved is what a question reserves.
func Reserved(a agent.ModelAsked) Amount {
	return Amount{Nano: Nano(a.Reserve), Tokens: int64(a.ReserveTokens)}
}

// Back is the difference of an answer's cost to what its question reserved.
func Back(answered agent.ModelAnswered, asked agent.ModelAsked) Amount {
	return Amount{Nano: Nano(answered.Cost) - Nano(asked.Reserve),
		Tokens: int64(answered.Prompt+answered.Completion) - int64(asked.ReserveTokens)}
}

// Nano is the amount, 0 where it is not known.
func Nano(n *agent.Nano) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// Spend spreads an amount over the run's counters and the wider ones. Limits
// are enforced where bounded is true; giving back is never refused.
func Spend(r *agent.Run, wider []Allowance, c Amount, steps int64, bounded bool) []agent.Spend {
	var list []agent.Spend
	add := func(counter string, amount, limit int64) {
		if !bounded {
			limit = 0
		}
		if amount != 0 {
			list = append(list, agent.Spend{Counter: counter, Nano: amount, Limit: limit})
		}
	}
	scope := func(name string, l agent.Limits) {
		add(agent.CounterOf(name, agent.BudgetUSD), c.Nano, int64(l.USD))
		add(agent.CounterOf(name, agent.BudgetTokens), c.Tokens, l.Tokens)
		add(agent.CounterOf(name, agent.BudgetSteps), steps, l.Steps)
	}
	scope(agent.RunCounter(r.ID), r.Limits())
	for _, w := range wider {
		scope(w.Counter, w.Limits)
	}
	return list
}

// Room is how long an answer may be, in tokens: the smaller of the
// configured most and what the run's budget leaves after the prompt.
func Room(r *agent.Run, prompt, most int, p Price) int {
	room := int64(most)
	l := r.Limits()
	if l.Tokens > 0 {
		room = min(room, l.Tokens-r.Spent.Tokens()-int64(prompt))
	}
	if l.USD > 0 && p.Output > 0 {
		left := l.USD - r.Spent.Cost - p.Of(llm.Usage{Prompt: prompt})
		room = min(room, int64(float64(left)/float64(p.Output)*million))
	}
	return int(room)
}

// Notices are the shares of the run's budgets that were passed just now: 50,
// 80 and 100 %.
func Notices(r *agent.Run) []agent.BudgetNotice {
	l := r.Limits()
	var list []agent.BudgetNotice
	look := func(budget string, spent, limit int64) {
		if limit <= 0 {
			return
		}
		share := int(spent * 100 / limit)
		for _, mark := range []int{100, 80, 50} {
			if share >= mark {
				if r.Notices[budget] < mark {
					list = append(list, agent.BudgetNotice{Budget: budget, Percent: mark})
				}
				return
			}
		}
	}
	look(agent.BudgetUSD, int64(r.Spent.Cost), int64(l.USD))
	look(agent.BudgetTokens, r.Spent.Tokens(), l.Tokens)
	look(agent.BudgetTime, int64(r.Spent.Time), int64(l.Time))
	look(agent.BudgetSteps, r.Spent.Steps(), l.Steps)
	return list
}
