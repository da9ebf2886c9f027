package bottest

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// TaleRun is the run of the tale.
const TaleRun = "abcdefghijklmnop"

// TaleBegin is when it began.
var TaleBegin = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// Told is a run in which this happened on these strands, a minute apart.
func Told(brief agent.RunStarted, happened ...agent.Event) agent.Run {
	if brief.Requester == "" {
		brief.Requester = "slack:U1"
	}
	if brief.ReplyTo == "" {
		brief.ReplyTo = "slack:T1:C1:17.1"
	}
	if brief.Goal == "" {
		brief.Goal = "Count the lines of our services\nand write a report"
	}
	return More(agent.Run{}, append([]agent.Event{On(agent.Main, brief)}, happened...)...)
}

// More is the run after more happened.
func More(r agent.Run, happened ...agent.Event) agent.Run {
	for _, e := range happened {
		e.Run, e.Seq, e.At = TaleRun, r.Seq+1, TaleBegin.Add(time.Duration(r.Seq)*time.Minute)
		r = r.Apply(e)
	}
	return r
}

// On is an event on a strand.
func On(s agent.StrandID, b agent.Body) agent.Event { return agent.Event{Strand: s, Body: b} }

// Called is a model call of the strand that cost a little.
func Called(s agent.StrandID, n int, purpose llm.Purpose, calls ...llm.Call) []agent.Event {
	id, cost := string(s)+"."+strconv.Itoa(n), agent.Nano(12_345_000)
	return []agent.Event{
		On(s, agent.ModelAsked{Call: id, Purpose: purpose}),
		On(s, agent.ModelAnswered{Call: id, Purpose: purpose, Prompt: 1200, Completion: 34, Cost: &cost,
			Took: 1500 * time.Millisecond, Message: &llm.Message{Role: "assistant", Calls: calls}}),
	}
}

// Thinks is the n-th model call of a strand, which has no answer yet.
func Thinks(s agent.StrandID, n int, p llm.Purpose) agent.Event {
	return On(s, agent.ModelAsked{Call: string(s) + "." + strconv.Itoa(n), Purpose: p})
}

// TalePlan is the plan of the tale.
var TalePlan = agent.PlanAccepted{Plan: agent.Plan{
	Name: "Survey", Description: "Count, compare, report.", Assumptions: []string{"Only Go files count", "Tests count too"},
	DoneWhen: agent.Texts{"REPORT.md has a total"},
	Tasks: []agent.Task{
		{ID: "count", Title: "Count the lines", Tools: []string{"list_files", "read_file"}, Acceptance: "every folder has a number"},
		{ID: "prices", Title: "Look up prices"},
		{ID: "write", Title: "Write REPORT.md", Instructions: "Write the table to REPORT.md.", DependsOn: []agent.TaskID{"count", "prices"}, Deliverable: true},
	},
}}

// Starts is the start of a task.
func Starts(id agent.TaskID) agent.Event { return On(agent.Main, agent.TaskStarted{Task: id}) }

// Ends is the end of a task, with its summary or reason.
func Ends(id agent.TaskID, state agent.TaskState, text string) agent.Event {
	e := agent.TaskEnded{Task: id, State: state, Summary: text, Outputs: []agent.Output{}}
	if state != agent.TaskDone {
		e.Summary, e.Reason = "", text
	}
	return On(agent.TaskStrand(id), e)
}

// AtWork is a run with one task done and two at work or waiting to be.
func AtWork(brief agent.RunStarted) agent.Run {
	r := Told(brief, Called(agent.Main, 1, llm.Intake)...)
	r = More(r, On(agent.Main, TalePlan), Starts("count"), Starts("prices"))
	r = More(r, Called("task/count", 1, llm.Work, llm.Call{ID: "c1", Name: "list_files", Arguments: `{"path":"/secret"}`})...)
	return More(r, On("task/count", agent.ToolIntent{Effect: "task/count.1.0", Tool: "list_files",
		Arguments: json.RawMessage(`{"path":"/secret"}`), Repeat: agent.RepeatRead}), Thinks("task/prices", 1, llm.Work))
}

// ShownAs is a post that was made.
func ShownAs(key, message string) agent.Event {
	return On(agent.Voice, agent.ToolOutcome{Effect: agent.EffectID("post/" + key), State: agent.OutcomeOK, Trust: agent.Trusted,
		Text: agent.Shown{Message: message, Thread: "slack:T1:C1:17.1"}.Text()})
}

// Posting is a post that is being made.
func Posting(p agent.Post) agent.Event { return On(agent.Voice, p.Intent(time.Time{})) }

// AsksFor is a question of the strand.
func AsksFor(s agent.StrandID, c agent.CheckpointOpened) agent.Event {
	c.ID = TaleRun + "-q"
	return On(s, c)
}

// Decided is the decision of that question.
func Decided(word, text string) agent.Event {
	return On(agent.Main, agent.CheckpointDecided{ID: TaleRun + "-q", Decision: word, By: "slack:U5", Text: text})
}

// TheCheck is that question.
func TheCheck(r agent.Run) agent.Checkpoint { return r.Checks[TaleRun+"-q"] }

// The questions as the loop asks them.
var (
	TaleExpiry  = TaleBegin.Add(24 * time.Hour)
	AskApproval = agent.CheckpointOpened{Ask: agent.CheckApproval, Title: "May I call write_to_file?", Tool: "write_to_file",
		Arguments: json.RawMessage(`{"content":"| folder | lines |\n` + strings.Repeat("x", 2000) + `","lines":12000000000000000001,"mode":"` + "a\u202etxt.exe\u200b" + `","options":{"backup":true,"tags":["a","b"]},"path":"REPORT.md"}`),
		Risk:      "Changes files.", Grant: "writes", Expires: TaleExpiry,
		Choices: []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit, agent.DecideAlways}}
	AskPlan = agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "May I work by this plan?", Detail: "the plan as text", Plan: &TalePlan.Plan,
		Choices: []string{agent.DecideApprove, agent.DecideEdit, agent.DecideDeny, agent.DecideCancel}, Expires: TaleExpiry}
	AskBroken = agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "The plan is still broken after two repairs", Detail: "- V4 (task count): a cycle",
		Plan: &TalePlan.Plan, Choices: []string{agent.DecideEdit, agent.DecideRetry, agent.DecideCancel}}
	AskOne = agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question", Expires: TaleExpiry,
		Questions: []agent.Question{{ID: "q1", Question: "Which colour?", Why: "The logo needs one", Choices: []string{"Red", "Blue", "Something else that is much longer than any button could ever show to people"}}},
		Choices:   []string{"Red", "Blue", "Something else that is much longer than any button could ever show to people", agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}
	AskMany = agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question",
		Questions: []agent.Question{
			{ID: "q1", Question: "Which colour?", Choices: []string{"Red", "Blue"}}, {ID: "q2", Question: "How large?"},
			{ID: "size", Question: "Which *format*?", Choices: []string{"PNG", "SVG"}}, {ID: "q4", Question: "For whom?"},
		}, Choices: []string{agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}
	AskStuck = agent.CheckpointOpened{Ask: agent.CheckStuck, Title: "Stuck on “Count the lines”: the same call 4 times with the same result",
		Detail:  "- list files “src/*.go”; the answer was “no such folder: <src>”\n",
		Choices: []string{agent.DecideRetry, agent.DecideSkip, agent.DecideCancel}, Expires: TaleExpiry}
	AskUncertain = agent.CheckpointOpened{Ask: agent.CheckUncertain, Title: "send_mail may have run: I was interrupted during the call", Tool: "send_mail",
		Arguments: json.RawMessage(`{"to":"a@example.org"}`), Detail: "Look whether it happened. Then say done, repeat or skip.",
		Choices: []string{agent.DecideDone, agent.DecideRepeat, agent.DecideSkip}}
)
