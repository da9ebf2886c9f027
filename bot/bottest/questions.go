package bottest

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Noon is when the journals of a Memory begin.
var Noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// AskedRun is the run that Asked makes.
const AskedRun = "abcdefghijklmnop"

// Asked is a run in which the questions are open, in this order.
func Asked(questions ...agent.CheckpointOpened) agent.Run {
	r := agent.Run{}.Apply(agent.Event{Run: AskedRun, Strand: agent.Main, Seq: 1, At: Noon,
		Body: agent.RunStarted{Goal: "count the lines", Requester: "slack:U1"}})
	for _, q := range questions {
		r = r.Apply(agent.Event{Run: AskedRun, Strand: agent.Main, Seq: r.Seq + 1, At: Noon, Body: q})
	}
	return r
}

// The questions as the loop asks them.
var (
	Approval = agent.CheckpointOpened{ID: AskedRun + "-approval", Ask: agent.CheckApproval, Title: "May I?", Class: agent.ClassWrite,
		Choices: []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit, agent.DecideAlways}}
	Planned = agent.CheckpointOpened{ID: AskedRun + "-planned", Ask: agent.CheckPlan, Title: "May I work by this plan?",
		Choices: []string{agent.DecideApprove, agent.DecideEdit, agent.DecideDeny, agent.DecideCancel}}
	Mended = agent.CheckpointOpened{ID: AskedRun + "-mended", Ask: agent.CheckPlan, Title: "The plan is still broken",
		Choices: []string{agent.DecideEdit, agent.DecideRetry, agent.DecideCancel}}
	Clarify = agent.CheckpointOpened{ID: AskedRun + "-clarify", Ask: agent.CheckClarify, Title: "I have a question",
		Questions: []agent.Question{{ID: "q1", Question: "Which colour?"}},
		Choices:   []string{"Red", "Blue", agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}
	Budget = agent.CheckpointOpened{ID: AskedRun + "-budget", Ask: agent.CheckBudget, Title: "The budget is used up",
		Choices: []string{agent.DecideMore25, agent.DecideMore100, agent.DecideFinish, agent.DecideCancel}}
	Stuck = agent.CheckpointOpened{ID: AskedRun + "-stuck", Ask: agent.CheckStuck, Title: "I am stuck",
		Choices: []string{agent.DecideRetry, agent.DecideFinish, agent.DecideCancel}}
	Uncertain = agent.CheckpointOpened{ID: AskedRun + "-uncertain", Ask: agent.CheckUncertain, Title: "It may have run",
		Choices: []string{agent.DecideDone, agent.DecideRepeat, agent.DecideSkip}}
)
