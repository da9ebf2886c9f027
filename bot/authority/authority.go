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

// At is the authority at an address.
func (a Authority) At(where string) Authority {
	to, err := bot.ParseAddress(where)
	if err != nil {
		return a // a run of the terminal
	}
	for _, place := range []string{to.Platform + ":" + to.Workspace, to.Rules()} {
		p := a.Places[place]
		a.Start, a.Operators, a.Approvers = or(p.Start, a.Start), or(p.Operators, a.Operators), or(p.Approvers, a.Approvers)
	}
	return a
}

// WorkspaceOperators are the operators of the whole workspace of an address.
func (a Authority) WorkspaceOperators(where string) []string {
	to, err := bot.ParseAddress(where)
	if err != nil {
		return a.Operators
	}
	return or(a.Places[to.Platform+":"+to.Workspace].Operators, a.Operators)
}

// or is the list, or the other one where it is empty.
func or(list, other []string) []string {
	if len(list) > 0 {
		return list
	}
	return other
}

// Includes reports whether the list names the person or one of their groups.
func Includes(list []string, p bot.Person) bool {
	return slices.ContainsFunc(p.Principals(), func(name string) bool {
		_, bare, _ := strings.Cut(name, ":")
		return (name != "" && slices.Contains(list, name)) || (bare != "" && slices.Contains(list, bare))
	})
}

// IsRequester reports whether the person asked for the run.
func IsRequester(r agent.Run, by bot.Person) bool { return by.ID != "" && by.ID == r.Brief.Requester }

// MayStart reports whether the person may start a run at the place.
func (a Authority) MayStart(where bot.Address, by bot.Person) bool {
	a = a.At(where.String())
	switch {
	case by.AtTerminal():
		return true
	case by.Bot:
		return a.Hears(by)
	case len(a.Start) == 0 && by.Full:
		return true
	}
	return Includes(a.Start, by) || Includes(a.Operators, by)
}

// Hears reports whether what somebody says counts at all.
func (a Authority) Hears(by bot.Person) bool { return !by.Bot || Includes(a.AllowBots, by) }

// MaySteer reports whether the person may steer and stop the run.
func (a Authority) MaySteer(r agent.Run, by bot.Person) bool {
	a = a.At(r.Brief.ReplyTo)
	return by.AtTerminal() || IsRequester(r, by) || Includes(a.Operators, by)
}

// role is what a person is to a run; one can be several at once.
type role int

const (
	requester     role = 1 << iota // asked for the run
	fullRequester                  // and is a full member of the workspace
	operator                       // is named as an operator of the place
	approver                       // is named as an approver of the run or the place
)

// deciders is who may decide a question: which roles, where approvers are named
// and where none are. Four eyes: the requester does not decide it in any role,
// unless the configuration says that requesters may approve.
var deciders = map[agent.CheckpointKind]struct {
	named, unnamed role
	fourEyes       bool
}{
	agent.CheckClarify:   {requester | operator, requester | operator, false},
	agent.CheckStuck:     {requester | operator, requester | operator, false},
	agent.CheckBudget:    {approver | operator, fullRequester | operator, false},
	agent.CheckPlan:      {approver, fullRequester | operator, true},
	agent.CheckApproval:  {approver, fullRequester | operator, true},
	agent.CheckUncertain: {approver, fullRequester | operator, true},
}

// MayDecide reports whether the person may decide a checkpoint of the kind, by the
// table above. The terminal may decide everything but a review, a bot nothing.
// A review is for the reviewers alone, also at the terminal.
func (a Authority) MayDecide(r agent.Run, ask agent.CheckpointKind, by bot.Person) bool {
	a = a.At(r.Brief.ReplyTo)
	switch {
	case IsReview(r, ask):
		return !by.Bot && Includes(r.Brief.Reviewers, by) && (a.RequesterMayApprove || !IsRequester(r, by))
	case by.AtTerminal():
		return true
	case by.Bot:
		return false
	}
	approvers := or(r.Brief.Approvers, a.Approvers)
	row := deciders[ask]
	may, is := row.named, a.roles(r, by, approvers)
	if len(approvers) == 0 {
		may = row.unnamed
	}
	if row.fourEyes && is&requester != 0 && !a.RequesterMayApprove {
		return false
	}
	return is&may != 0
}

// RaisesFreely reports whether the person raises budgets of the run as far as they
// like: operators and approvers do.
func (a Authority) RaisesFreely(r agent.Run, by bot.Person) bool {
	a = a.At(r.Brief.ReplyTo)
	return by.AtTerminal() || Includes(a.Operators, by) || Includes(or(r.Brief.Approvers, a.Approvers), by)
}

// roles is everything that the person is to the run.
func (a Authority) roles(r agent.Run, by bot.Person, approvers []string) (is role) {
	if IsRequester(r, by) {
		is |= requester
		if by.Full {
			is |= fullRequester
		}
	}
	if Includes(a.Operators, by) {
		is |= operator
	}
	if Includes(approvers, by) {
		is |= approver
	}
	return is
}

// IsReview reports whether an approval of the run is its review.
func IsReview(r agent.Run, ask agent.CheckpointKind) bool {
	return ask == agent.CheckApproval && r.Review() != nil
}
