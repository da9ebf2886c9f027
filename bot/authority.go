package bot

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// Terminal is the principal of whoever has the store itself in hand: the
// person at the command line. It may do everything but review, unless it is
// named for that.
const Terminal = "terminal"

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

// in is the authority at an address.
func (a Authority) in(where string) Authority {
	to, err := ParseAddress(where)
	if err != nil {
		return a // a run of the terminal
	}
	for _, place := range []string{to.Platform + ":" + to.Workspace, to.Place()} {
		p := a.Places[place]
		a.Start, a.Operators, a.Approvers = or(p.Start, a.Start), or(p.Operators, a.Operators), or(p.Approvers, a.Approvers)
	}
	return a
}

// or is the list, or the other one where it is empty.
func or(list, other []string) []string {
	if len(list) > 0 {
		return list
	}
	return other
}

// names are the person's principal and those of their groups and roles.
func (p Person) names() []string { return append([]string{p.ID}, p.Also...) }

// terminal is the person at the command line.
func (p Person) terminal() bool { return p.ID == Terminal }

// has reports whether the list names the person or one of their groups.
func has(list []string, p Person) bool {
	return slices.ContainsFunc(p.names(), func(name string) bool {
		_, bare, _ := strings.Cut(name, ":")
		return (name != "" && slices.Contains(list, name)) || (bare != "" && slices.Contains(list, bare))
	})
}

func requested(r agent.Run, by Person) bool { return by.ID != "" && by.ID == r.Brief.Requester }

// starts reports whether the person may start a run at the place.
func (a Authority) starts(where Address, by Person) bool {
	a = a.in(where.String())
	switch {
	case by.terminal():
		return true
	case by.Bot:
		return a.hears(by)
	case len(a.Start) == 0 && by.Full:
		return true
	}
	return has(a.Start, by) || has(a.Operators, by)
}

// hears reports whether what somebody says counts at all.
func (a Authority) hears(by Person) bool { return !by.Bot || has(a.AllowBots, by) }

// steers reports whether the person may steer and stop the run.
func (a Authority) steers(r agent.Run, by Person) bool {
	a = a.in(r.Brief.ReplyTo)
	return by.terminal() || requested(r, by) || has(a.Operators, by)
}

// may reports whether the person may decide a checkpoint of the kind: clarify
// and stuck are for the requester and the operators, budget for approvers and
// operators too, the rest for the approvers (where none are named: the
// requester and the operators). Who is no full member of the workspace decides
// about money and effects only where a list names them; a bot decides nothing.
// A review is for the reviewers alone.
func (a Authority) may(r agent.Run, ask agent.CheckpointKind, by Person) bool {
	a = a.in(r.Brief.ReplyTo)
	switch {
	case reviewing(r, ask): // a person who is named for it, also at the command line
		return !by.Bot && has(r.Brief.Reviewers, by) && (a.RequesterMayApprove || !requested(r, by))
	case by.terminal():
		return true
	case by.Bot:
		return false
	}
	approvers := r.Brief.Approvers
	if len(approvers) == 0 {
		approvers = a.Approvers
	}
	requester := requested(r, by)
	switch ask {
	case agent.CheckClarify, agent.CheckStuck:
		return requester || has(a.Operators, by)
	case agent.CheckBudget:
		return has(approvers, by) || has(a.Operators, by) || (len(approvers) == 0 && requester && by.Full)
	case agent.CheckPlan, agent.CheckApproval, agent.CheckUncertain:
	}
	if requester && !a.RequesterMayApprove {
		return false // not as an operator or approver either: four eyes
	}
	if len(approvers) == 0 {
		return has(a.Operators, by) || (requester && by.Full)
	}
	return has(approvers, by)
}
