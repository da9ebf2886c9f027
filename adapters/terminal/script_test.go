package terminal

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

var theBrief = agent.RunStarted{
	Goal: "Count the lines of Go in this folder\nand write REPORT.md", Requester: "terminal", Slots: 4,
	Limits: agent.Limits{USD: 5 * agent.Dollar, Tokens: 500_000, Time: 2 * time.Hour}, Expires: 24 * time.Hour,
}

var thePlan = agent.Plan{Name: "Count and report", Tasks: []agent.Task{
	{ID: "t1", Title: "Count the files"},
	{ID: "t2", Title: "Chart the counts", DependsOn: []agent.TaskID{"t1"}},
	{
		ID: "t3", Title: "Write the report", DependsOn: []agent.TaskID{"t1", "t2"}, Deliverable: true,
		Instructions: "Write REPORT.md.\nOne row per folder.", Acceptance: "REPORT.md has a total",
	},
	{ID: "t4", Title: "Look for tests", DependsOn: []agent.TaskID{"t1"}},
}}

func cents(n int) *agent.Nano {
	v := agent.Nano(n) * agent.Dollar / 100
	return &v
}

// call is a model call of the strand that ends in the tool call.
func call(strand agent.StrandID, n, tool, arguments string) []agent.Body {
	id := string(strand) + "." + n
	return []agent.Body{
		agent.ModelAsked{Call: id, Purpose: llm.Work, Model: "m"},
		agent.ModelAnswered{Call: id, Purpose: llm.Work, Model: "m", Prompt: 1000, Completion: 50, Cost: cents(1), Took: time.Second,
			Message: &llm.Message{Role: llm.Assistant, Content: "Next step.", Calls: []llm.Call{{ID: "c" + n, Name: tool, Arguments: arguments}}}},
	}
}

func intent(strand agent.StrandID, n, tool, arguments string) agent.ToolIntent {
	return agent.ToolIntent{Effect: agent.EffectID(string(strand) + "." + n + ".0"), Tool: tool, Arguments: json.RawMessage(arguments)}
}

func done(i agent.ToolIntent) agent.ToolOutcome {
	return agent.ToolOutcome{Effect: i.Effect, State: agent.OutcomeOK, Trust: agent.Trusted, Text: "ok", Took: time.Second}
}

func approval(r agent.Run, i agent.ToolIntent) agent.CheckpointOpened {
	opened := time.Now()
	return agent.CheckpointOpened{
		ID: r.CheckpointID(i.Effect), Ask: agent.CheckApproval, Title: "May I call write_to_file?", Tool: i.Tool,
		Arguments: i.Arguments, Effect: i.Effect, Risk: "it replaces a file", Expires: opened.Add(24 * time.Hour), Detail: "```diff\n+| total | 3 | 40 |\n```",
		Choices: []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit, agent.DecideAlways},
	}
}

const (
	task1 = agent.StrandID("task/t1")
	task2 = agent.StrandID("task/t2")
	task3 = agent.StrandID("task/t3")
	task4 = agent.StrandID("task/t4")
)

// fold is what is true of the log.
func fold(log *journal) agent.Run {
	log.mu.Lock()
	defer log.mu.Unlock()
	return agent.Run{}.Fold(log.events)
}

// begin puts a run into the log that works on its first task.
func begin(t *testing.T, log *journal) {
	t.Helper()
	put(t, log, agent.Main, theBrief, agent.PlanAccepted{Plan: thePlan}, agent.TaskStarted{Task: "t1"})
}

// asking puts an approval of task 1 into the log.
func asking(t *testing.T, log *journal) agent.CheckpointOpened {
	t.Helper()
	begin(t, log)
	args := `{"path":"REPORT.md","text":"one\ntwo\nthree\nfour\nfive"}`
	put(t, log, task1, call(task1, "1", "write_to_file", args)...)
	c := approval(fold(log), intent(task1, "1", "write_to_file", args))
	put(t, log, task1, c)
	return c
}

var theReport = agent.Reported{
	Headline: "3 files, 40 lines", Body: "The table is in **REPORT.md**.\n\n| total | 3 | 40 |",
	Artifacts: agent.Texts{"REPORT.md"}, Skipped: agent.Texts{"Look for tests: there are none"}, FollowUps: agent.Texts{"Count again next week"},
}

// rest finishes the run that asking began.
func rest(t *testing.T, log *journal) {
	t.Helper()
	first := intent(task1, "1", "write_to_file", `{"path":"REPORT.md","text":"x"}`)
	put(t, log, task1, first, done(first), agent.TaskEnded{Task: "t1", State: agent.TaskDone, Summary: "3 files found"})
	put(t, log, agent.Main, agent.BudgetNotice{Budget: "tokens", Percent: 80}, agent.TaskStarted{Task: "t2"}, agent.TaskStarted{Task: "t4"})
	put(t, log, agent.Main, agent.Finding{Rule: "L1", Severity: "nudge", Message: "the same call three times"})
	put(t, log, task2, call(task2, "1", "plot", `{"path":"chart.png"}`)...)
	second := intent(task2, "1", "plot", `{"path":"chart.png"}`)
	failed := done(second)
	failed.State, failed.Text = agent.OutcomeError, "error: no labels"
	put(t, log, task2, second, failed, agent.TaskJudged{Task: "t2", Reasons: agent.Texts{"no labels"}, Missing: agent.Texts{"a title"}})
	put(t, log, task2, agent.TaskEnded{Task: "t2", State: agent.TaskDone, Summary: "chart.png drawn"})
	put(t, log, task4, call(task4, "1", "send_mail", `{}`)...)
	put(t, log, task4, agent.CallReplied{Effect: "task/t4.1.0", Text: "denied by policy (P3): nothing leaves here"})
	put(t, log, task4, agent.TaskEnded{Task: "t4", State: agent.TaskFailed, Reason: "there are none"})
	put(t, log, agent.Main, agent.PersonSaid{By: "slack:U1", Text: "hurry"}, agent.TaskStarted{Task: "t3"})
	put(t, log, task3, agent.TaskEnded{Task: "t3", State: agent.TaskDone, Summary: "REPORT.md written"})
	put(t, log, agent.Main, theReport, agent.RunEnded{State: agent.RunDone, Cost: cents(2), Prompt: 2000, Completion: 100, ModelCalls: 2})
}
