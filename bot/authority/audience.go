package authority

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Who is told of a question, out of those who may decide it: at first those
// who are closest to it, later everybody else.

// Audience lists the principals who are to be notified of a question.
type Audience func(r agent.Run, ask agent.CheckpointKind) []string

// FirstAsked is who is notified of a question when it is put, out of its
// audience: of a way out the requester alone, where that is somebody who can be
// reached.
func FirstAsked(r agent.Run, ask agent.CheckpointKind, audience Audience) []string {
	requester, others := escalation(r, ask, audience)
	if len(requester) > 0 {
		return requester
	}
	return others
}

// LastAsked is who is reminded of it: of a way out the operators, where there
// are any.
func LastAsked(r agent.Run, ask agent.CheckpointKind, audience Audience) []string {
	requester, others := escalation(r, ask, audience)
	if len(others) > 0 {
		return others
	}
	return requester
}

// escalation splits the audience of a question. Where a run is stuck, the
// requester is asked first and the others later; everybody in the audience of any
// other question is among the others.
func escalation(r agent.Run, ask agent.CheckpointKind, audience Audience) (requester, others []string) {
	for _, who := range audience(r, ask) {
		if ask == agent.CheckStuck && who == r.Brief.Requester {
			requester = append(requester, who)
		} else {
			others = append(others, who)
		}
	}
	return requester, others
}

// Audience is who is notified of a checkpoint of the kind, out of those who may
// decide it: the requester for clarify; the requester, and later the operators,
// for stuck; the approvers for the rest (where none are named: the requester
// and the operators), with the operators for money; the reviewers for a review. A bare id is taken as one
// of the run's platform; people of other platforms cannot be notified there.
func (a Authority) Audience(r agent.Run, ask agent.CheckpointKind) []string {
	platform, _, _ := strings.Cut(r.Brief.ReplyTo, ":")
	var list []string
	for _, who := range a.asked(r, ask) {
		if who == bot.Terminal || who == agent.Deckhand {
			continue // nobody of a platform
		}
		if who != "" && !strings.Contains(who, ":") {
			who = platform + ":" + who
		}
		if strings.HasPrefix(who, platform+":") && !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	return list
}

func (a Authority) asked(r agent.Run, ask agent.CheckpointKind) []string {
	a = a.At(r.Brief.ReplyTo)
	requester := []string{r.Brief.Requester}
	approvers := r.Brief.Approvers
	if len(approvers) == 0 {
		approvers = a.Approvers
	}
	switch ask {
	case agent.CheckClarify:
		return requester
	case agent.CheckStuck:
		return slices.Concat(requester, a.Operators)
	case agent.CheckBudget:
		if len(approvers) == 0 {
			approvers = requester
		}
		return slices.Concat(approvers, a.Operators)
	case agent.CheckPlan, agent.CheckApproval, agent.CheckUncertain:
	}
	if IsReview(r, ask) {
		approvers = r.Brief.Reviewers
	}
	if len(approvers) == 0 {
		approvers = slices.Concat(requester, a.Operators)
	}
	if a.RequesterMayApprove {
		return approvers
	}
	_, bare, _ := strings.Cut(r.Brief.Requester, ":")
	return slices.DeleteFunc(slices.Clone(approvers), func(who string) bool { // four eyes
		return who == r.Brief.Requester || (bare != "" && who == bare)
	})
}
