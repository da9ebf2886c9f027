package runs

// Fair use: how many runs people and places may have at once and a day, counted
// in the commit that starts a run and given back in the one that ends it.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Share is how many runs somebody may have; 0: no bound.
type Share struct {
	AtOnce int64 // live ones
	Day    int64 // started on a day (UTC)
}

// Fair is how many runs each person and each place may have.
type Fair struct{ Person, Place Share }

// The beginnings of the names of counters.
const (
	liveRuns = "live/"
	dayRuns  = "day/"
)

// Take adds what the start of a run takes of the shares of its requester and of
// its place.
func (f Fair) Take(o NewRun, at time.Time) NewRun {
	take := func(who string, s Share) {
		if s.AtOnce > 0 {
			o.Spend = append(o.Spend, agent.Spend{Counter: liveRuns + who, Nano: 1, Limit: s.AtOnce})
			o.Brief.Counted = append(o.Brief.Counted, liveRuns+who)
		}
		if s.Day > 0 {
			o.Spend = append(o.Spend, agent.Spend{Counter: dayRuns + who + "/" + at.UTC().Format(time.DateOnly), Nano: 1, Limit: s.Day})
		}
	}
	take("person/"+o.Brief.Requester, f.Person)
	take("channel/"+agent.Outer(o.Brief.Folder), f.Place)
	return o
}

// Refused says in words why a start was refused and when it goes again; empty: not
// for a share.
func (f Fair) Refused(err error, at time.Time) string {
	over, is := errors.AsType[*agent.BudgetError](err)
	if !is {
		return ""
	}
	kind, who, _ := strings.Cut(over.Counter, "/")
	share, whose, has := f.Person, "You", "have"
	if strings.HasPrefix(who, "channel/") {
		share, whose, has = f.Place, "This channel", "has"
	}
	switch kind + "/" {
	case liveRuns:
		return fmt.Sprintf("%s %s %s going on, and no more at once are allowed. It goes again as soon as one of them ends; `runs` lists yours.",
			whose, has, format.Count(int(share.AtOnce), "run"))
	case dayRuns:
		next := at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		return fmt.Sprintf("%s started %s today, and no more a day are allowed. It goes again at 00:00 UTC, in %s.",
			whose, format.Count(int(share.Day), "run"), format.Minutes(next.Sub(at)))
	}
	return ""
}

// RaiseError refuses more of a budget than the requester may add.
type RaiseError struct {
	Most int // percent in all
	Left int // that may still be added
}

// Error says how much may be added.
func (e *RaiseError) Error() string {
	if e.Left <= 0 {
		return fmt.Sprintf("a requester adds at most %d %% to a budget, and that much was added: more is for an approver or an operator", e.Most)
	}
	return fmt.Sprintf("a requester adds at most %d %% to a budget, so %d %% more: anything above is for an approver or an operator", e.Most, e.Left)
}

// raisable refuses a decision by which the requester would raise a budget further
// than they may.
func (d *Client) raisable(q Question, decision string, operator bool) error {
	more := agent.Raise(decision)
	if d.RequesterRaise <= 0 || operator || more == 0 || q.Check.Ask != agent.CheckBudget {
		return nil
	}
	left := d.RequesterRaise
	for _, c := range q.Run.Checks {
		if c.Ask == agent.CheckBudget && c.Budget == q.Check.Budget && !c.Open() && c.Decision.By == q.Run.Brief.Requester {
			left -= agent.Raise(c.Decision.Decision)
		}
	}
	if more > left {
		return fmt.Errorf("checkpoint %s: %w", q.Check.ID, &RaiseError{d.RequesterRaise, left})
	}
	return nil
}
