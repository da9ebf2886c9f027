package authority

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Authority says who may do what, beside the requester of a run. Entries are
// principals of people, groups and roles: "slack:U1", "slack:S1", "discord:&42",
// "terminal", or a bare id of any platform.
type Authority struct {
	Start               []string // who may start runs; empty: every full member
	Operators           []string
	Approvers           []string
	RequesterMayApprove bool
	// Quorum is how many people must approve an approval or a plan of a run
	// whose brief does not say; 0 and 1: one.
	Quorum    int
	AllowBots []string // bots that are heard; they decide nothing
	Admins    []string // who is told about what is wrong with the bot itself
	// Places is what differs at a place: "platform:workspace:channel", or
	// "platform:workspace" for all of its channels.
	Places map[string]Place
}

// Place is who may do what at a place. A list that is empty differs in nothing.
type Place struct{ Start, Operators, Approvers []string }

// In is the authority at an address.
func (a Authority) In(where string) Authority {
	to, err := bot.ParseAddress(where)
	if err != nil {
		return a // a run of the terminal
	}
	for _, place := range []string{to.Platform + ":" + to.Workspace, to.Place()} {
		p := a.Places[place]
		a.Start, a.Operators, a.Approvers = Or(p.Start, a.Start), Or(p.Operators, a.Operators), Or(p.Approvers, a.Approvers)
	}
	return a
}

// Or is the list, or the other one where it is empty.
func Or(list, other []string) []string {
	if len(list) > 0 {
		return list
	}
	return other
}

// Has reports whether the list names the person or one of their groups.
func Has(list []string, p bot.Person) bool {
	return slices.ContainsFunc(p.Principals(), func(name string) bool {
		_, bare, _ := strings.Cut(name, ":")
		return (name != "" && slices.Contains(list, name)) || (bare != "" && slices.Contains(list, bare))
	})
}

func Requested(r agent.Run, by bot.Person) bool { return by.ID != "" && by.ID == r.Brief.Requester }

// Starts reports whether the person may start a run at the place.
func (a Authority) Starts(where bot.Address, by bot.Person) bool {
	a = a.In(where.String())
	switch {
	case by.AtTerminal():
		return true
	case by.Bot:
		return a.Hears(by)
	case len(a.Start) == 0 && by.Full:
		return true
	}
	return Has(a.Start, by) || Has(a.Operators, by)
}

// Hears reports whether what somebody says counts at all.
func (a Authority) Hears(by bot.Person) bool { return !by.Bot || Has(a.AllowBots, by) }

// Steers reports whether the person may steer and stop the run.
func (a Authority) Steers(r agent.Run, by bot.Person) bool {
	a = a.In(r.Brief.ReplyTo)
	return by.AtTerminal() || Requested(r, by) || Has(a.Operators, by)
}

// May reports whether the person may decide a checkpoint of the kind: clarify
// and stuck are for the requester and the operators, budget for approvers and
// operators too, the rest for the approvers (where none are named: the
// requester and the operators). Who is no full member of the workspace decides
// about money and effects only where a list names them; a bot decides nothing.
// A review is for the reviewers alone.
func (a Authority) May(r agent.Run, ask agent.CheckpointKind, by bot.Person) bool {
	a = a.In(r.Brief.ReplyTo)
	switch {
	case Reviewing(r, ask): // a person who is named for it, also at the command line
		return !by.Bot && Has(r.Brief.Reviewers, by) && (a.RequesterMayApprove || !Requested(r, by))
	case by.AtTerminal():
		return true
	case by.Bot:
		return false
	}
	approvers := r.Brief.Approvers
	if len(approvers) == 0 {
		approvers = a.Approvers
	}
	requester := Requested(r, by)
	switch ask {
	case agent.CheckClarify, agent.CheckStuck:
		return requester || Has(a.Operators, by)
	case agent.CheckBudget:
		return Has(approvers, by) || Has(a.Operators, by) || (len(approvers) == 0 && requester && by.Full)
	case agent.CheckPlan, agent.CheckApproval, agent.CheckUncertain:
	}
	if requester && !a.RequesterMayApprove {
		return false // not as an operator or approver either: four eyes
	}
	if len(approvers) == 0 {
		return Has(a.Operators, by) || (requester && by.Full)
	}
	return Has(approvers, by)
}

// Reviewing reports whether an approval of the run is its review.
func Reviewing(r agent.Run, ask agent.CheckpointKind) bool {
	return ask == agent.CheckApproval && r.Review() != nil
}
