package chat

// This file holds the scenarios of what is remembered from run to run: within
// the scope of where it was told, after a restart, by who may still see it.

import (
	"regexp"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Leaver is a Server whose channel people can leave.
type Leaver interface {
	// Leave takes somebody out of the channel.
	Leave(w Who)
}

// memories are about what outlives runs.
var memories = []scenario{
	{"memory/told", harmless, nil, remembered},
	{"memory/told on Redis", harmless, distributed, remembered},
	{"memory/by command", harmless, nil, commandedMemory},
}

// master is what is told, and what is asked for later.
const (
	masterFact = "the harbour master of Bergen is Petra Lund"
	masterGoal = "Write to the harbour master of Bergen"
	masterName = "Petra Lund"
)

// remembered is a fact that is told in one run and used in another, after a
// restart: in its channel, not in a direct conversation, and not on behalf of
// somebody who left.
func remembered(h *harness) {
	card, run, release := h.busy()
	h.Mention(Ann, card.Thread, masterFact)
	h.heard(run, Ann, masterFact, true)
	release()
	h.ends(run, agent.RunDone)
	h.leave()
	h.join()
	h.Mention(Ben, h.Channel(), masterGoal)
	_, second := h.card(2)
	r := h.ends(second, agent.RunDone)
	if told := h.intakeOf(second); !strings.Contains(told, masterName) {
		h.Errorf("the second run was not told of it:\n%s", told)
	}
	if r.Recalled == nil || len(r.Recalled.Records) == 0 || len(r.Recalled.Scores) != len(r.Recalled.Records) || r.Recalled.Records[0].Trust != agent.Trusted {
		h.Errorf("recalled %+v", r.Recalled)
	}
	h.Begin(Ann, masterGoal+" again")
	_, direct := h.card(3)
	h.ends(direct, agent.RunDone)
	if told := h.intakeOf(direct); strings.Contains(told, masterName) {
		h.Errorf("a direct run was told what a channel said:\n%s", told)
	}
	left, can := h.Server.(Leaver)
	if !can {
		h.Fatal("nobody can leave this platform's channel")
	}
	left.Leave(Cleo)
	gone, err := h.desk.Start(h.Context(), agent.RunStarted{Goal: masterGoal + " once more", Requester: h.Principal(Cleo), ReplyTo: h.Channel().String(),
		Folder: h.Channel().Folder(), PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Slots: 4})
	if err != nil {
		h.Fatal(err)
	}
	h.ends(gone, agent.RunDone)
	if told := h.intakeOf(gone); strings.Contains(told, masterName) || h.load(gone).Recalled != nil {
		h.Errorf("the run of somebody who left was told:\n%s", told)
	}
	h.whole()
}

// intakeOf is what the model was asked first for the run.
func (h *harness) intakeOf(run agent.RunID) string {
	h.Helper()
	for _, r := range h.model.requests(llm.Intake) {
		if r.Run == string(run) {
			return read(r)
		}
	}
	h.Fatalf("the model was never asked about %s", run)
	return ""
}

// memoryID is an id in an answer.
var memoryID = regexp.MustCompile(`\bm[0-9a-f]{12}\b`)

// commandedMemory is what people have remembered by commands: used by a run, and
// gone once it is forgotten.
func commandedMemory(h *harness) {
	give := func(w Who, text, want string) string {
		before := len(h.Whispers(w))
		h.does("a command about memory is given", func() error { return h.Slash(w, text) })
		answer := ""
		h.sees("it is answered with "+want, func() bool {
			list := h.Whispers(w)
			if len(list) <= before {
				return false
			}
			answer = list[len(list)-1]
			return strings.Contains(answer, want)
		})
		return answer
	}
	id := memoryID.FindString(give(Ann, "remember "+masterFact, "for this channel"))
	give(Ben, "memory list", masterName)
	give(Ben, "memory forget "+id, "not yours")
	h.Mention(Ben, h.Channel(), masterGoal)
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	if told := h.intakeOf(run); !strings.Contains(told, masterName) {
		h.Errorf("the run was not told of it:\n%s", told)
	}
	give(Ann, "memory forget "+id, "Forgotten")
	h.Mention(Ben, h.Channel(), masterGoal+" tomorrow")
	_, after := h.card(2)
	h.ends(after, agent.RunDone)
	if told := h.intakeOf(after); strings.Contains(told, masterName) {
		h.Errorf("what was forgotten is told:\n%s", told)
	}
	h.whole()
}
