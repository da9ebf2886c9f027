package loop

import (
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// million is what prices are quoted for, in tokens.
const million = 1_000_000

// of is the price of the usage at list price, in billionths of a dollar,
// rounded up.
func (p Price) of(u llm.Usage) agent.Nano {
	sum := p.Input*agent.Nano(u.Prompt-u.Cached) + p.Cached*agent.Nano(u.Cached) + p.Output*agent.Nano(u.Completion)
	return (sum + million - 1) / million
}

func (t *turn) price(model string) (Price, bool) {
	p, known := t.Prices[model]
	return p, known
}

// charge is an amount of money and tokens, to be added to every counter that
// a call is charged to.
type charge struct{ nano, tokens int64 }

func reserved(a agent.ModelAsked) charge {
	return charge{nano: nanoOf(a.Reserve), tokens: int64(a.ReserveTokens)}
}

func nanoOf(n *agent.Nano) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// charges spreads a charge over the run's counters and the wider ones. Limits
// are enforced where bounded is true; giving back is never refused.
func (t *turn) charges(r *agent.Run, c charge, steps int64, bounded bool) []agent.Spend {
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
		add(agent.CounterOf(name, agent.BudgetUSD), c.nano, int64(l.USD))
		add(agent.CounterOf(name, agent.BudgetTokens), c.tokens, l.Tokens)
		add(agent.CounterOf(name, agent.BudgetSteps), steps, l.Steps)
	}
	scope(agent.RunCounter(t.lease.Run), r.Limits())
	if t.Wider != nil {
		// a settlement goes to the counters of the month that its run began in
		for _, w := range t.Wider(r.Brief, r.Started) {
			scope(w.Counter, w.Limits)
		}
	}
	return list
}

// answerRoom is how long an answer may be, in tokens: the smaller of the
// configured most and what the run's budget leaves after the prompt.
func answerRoom(r *agent.Run, prompt, most int, p Price) int {
	room := int64(most)
	l := r.Limits()
	if l.Tokens > 0 {
		room = min(room, l.Tokens-r.Spent.Tokens()-int64(prompt))
	}
	if l.USD > 0 && p.Output > 0 {
		left := l.USD - r.Spent.Cost - p.of(llm.Usage{Prompt: prompt})
		room = min(room, int64(float64(left)/float64(p.Output)*million))
	}
	return int(room)
}

// notices are the shares of the run's budgets that were passed just now: 50,
// 80 and 100 %.
func notices(r *agent.Run) []agent.BudgetNotice {
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
