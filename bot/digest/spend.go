package digest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The section Spend: sums over runs, the dearest of them, and wider budgets.

// maxSpenders is how many of the dearest runs are named.
const maxSpenders = 3

// spendSum is what runs spent together. Some of them may have called models whose
// price nobody knows: nano is the rest.
type spendSum struct {
	runs, unpriced int
	nano           agent.Nano
	tokens         int64
	calls          int
}

func tally(runs []agent.Run) spendSum {
	sum := spendSum{runs: len(runs)}
	for _, r := range runs {
		sum.nano += r.Spent.Cost
		sum.tokens += r.Spent.Tokens()
		sum.calls += r.Spent.Calls
		if r.Spent.Unpriced {
			sum.unpriced++
		}
	}
	return sum
}

// least is the money that is known of.
func (s spendSum) least() string {
	switch {
	case s.unpriced == 0:
		return format.Money(s.nano)
	case s.nano == 0:
		return ""
	}
	return "at least " + format.Money(s.nano)
}

// cost is the money, and how many runs it is not all of.
func (s spendSum) cost() string {
	if s.unpriced > 0 && s.nano > 0 {
		return s.least() + " (" + format.Count(s.unpriced, "run") + " with an unknown price)"
	}
	return s.least()
}

// costOf is the cost of one run, as far as it is known.
func costOf(r agent.Run) string {
	return tally([]agent.Run{r}).least()
}

// String is what is known of the sum: money, or tokens where a price is not known.
func (s spendSum) String() string {
	if s.unpriced == 0 && s.nano > 0 {
		return s.cost()
	}
	return dotted(s.cost(), format.Count(s.tokens, "token"))
}

// spendLines are what was spent. A fold has totals only, so a run's spend
// counts where it ended, and that of a live one from its start.
func (d grouped) spendLines() []string {
	ended, live := tally(d.ended), tally(d.live)
	var lines []string
	if ended.calls > 0 {
		lines = append(lines, format.Count(ended.runs, "run")+" that ended in this time: "+ended.String())
	}
	if live.calls > 0 {
		lines = append(lines, format.Count(live.runs, "run")+" still open, until now: "+live.String())
	}
	lines = append(lines, d.dearest()...)
	lines = append(lines, d.monthly()...)
	return append(lines, d.nearlySpent()...)
}

// dearest names the runs that spent most, where there is more than one.
func (d grouped) dearest() []string {
	runs := slices.DeleteFunc(slices.Concat(d.ended, d.live), func(r agent.Run) bool { return r.Spent.Calls == 0 })
	if len(runs) <= maxSpenders { // each line above says what its run cost
		return nil
	}
	slices.SortFunc(runs, func(a, b agent.Run) int {
		return cmp.Or(cmp.Compare(b.Spent.Cost, a.Spent.Cost), cmp.Compare(b.Spent.Tokens(), a.Spent.Tokens()), cmp.Compare(a.ID, b.ID))
	})
	var most []string
	for _, r := range runs[:min(len(runs), maxSpenders)] {
		most = append(most, d.short(r)+" "+tally([]agent.Run{r}).String())
	}
	return []string{"Most: " + format.List(most, "and")}
}

// monthly is what the month cost: of the runs, and as the store counts it.
func (d grouped) monthly() []string {
	begin := d.Period.month()
	var runs []agent.Run
	for _, r := range d.Runs {
		if !r.Scheduled() && (r.Ended == nil || (!r.Finished.Before(begin) && !r.Finished.After(d.Period.Until))) {
			runs = append(runs, r)
		}
	}
	var lines []string
	if sum := tally(runs); sum.calls > 0 {
		lines = append(lines, fmt.Sprintf("%s so far, %s: %s", begin.Format("January"), format.Count(sum.runs, "run"), sum))
	}
	for _, c := range d.Counters {
		line := text.Quoted(c.Name, 80) + ": " + format.Money(c.Spent)
		if c.Limit > 0 {
			b := card.BudgetUse{Spent: int64(c.Spent), Limit: int64(c.Limit)}
			line += fmt.Sprintf(" of %s (%d %%)", format.Money(c.Limit), b.Percent())
			if b.Percent() >= nearly {
				line = "**Budget**: " + line
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// nearly is the part of a budget, in percent, from which it is named.
const nearly = 80

// nearlySpent are the live runs' own budgets that are nearly used up.
func (d grouped) nearlySpent() []string {
	var lines []string
	for _, r := range d.live {
		for _, b := range card.Budgets(r) {
			if b.Percent() >= nearly {
				lines = append(lines, fmt.Sprintf("**Budget**: %s has used %d %% of its %s (%s of %s)", d.short(r), b.Percent(), card.BudgetName(b.Name), b.Show(b.Spent), b.Show(b.Limit)))
			}
		}
	}
	return lines
}
