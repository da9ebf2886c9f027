package bot

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

const taleRun = "abcdefghijklmnop"

var taleBegin = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// told is a run in which this happened on these strands, a minute apart.
func told(brief agent.RunStarted, happened ...agent.Event) agent.Run {
	if brief.Requester == "" {
		brief.Requester = "slack:U1"
	}
	if brief.ReplyTo == "" {
		brief.ReplyTo = "slack:T1:C1:17.1"
	}
	if brief.Goal == "" {
		brief.Goal = "Count the lines of our services\nand write a report"
	}
	return more(agent.Run{}, append([]agent.Event{on(agent.Main, brief)}, happened...)...)
}

// more is the run after more happened.
func more(r agent.Run, happened ...agent.Event) agent.Run {
	for _, e := range happened {
		e.Run, e.Seq, e.At = taleRun, r.Seq+1, taleBegin.Add(time.Duration(r.Seq)*time.Minute)
		r = r.Apply(e)
	}
	return r
}

func on(s agent.StrandID, b agent.Body) agent.Event { return agent.Event{Strand: s, Body: b} }

// called is a model call of the strand that cost a little.
func called(s agent.StrandID, n int, purpose llm.Purpose, calls ...llm.Call) []agent.Event {
	id, cost := string(s)+"."+strconv.Itoa(n), agent.Nano(12_345_000)
	return []agent.Event{
		on(s, agent.ModelAsked{Call: id, Purpose: purpose}),
		on(s, agent.ModelAnswered{Call: id, Purpose: purpose, Prompt: 1200, Completion: 34, Cost: &cost,
			Took: 1500 * time.Millisecond, Message: &llm.Message{Role: "assistant", Calls: calls}}),
	}
}

func thinks(s agent.StrandID, n int, p llm.Purpose) agent.Event {
	return on(s, agent.ModelAsked{Call: string(s) + "." + strconv.Itoa(n), Purpose: p})
}

var talePlan = agent.PlanAccepted{Plan: agent.Plan{
	Name: "Survey", Description: "Count, compare, report.", Assumptions: []string{"Only Go files count", "Tests count too"},
	DoneWhen: agent.Texts{"REPORT.md has a total"},
	Tasks: []agent.Task{
		{ID: "count", Title: "Count the lines", Tools: []string{"list_files", "read_file"}, Acceptance: "every folder has a number"},
		{ID: "prices", Title: "Look up prices"},
		{ID: "write", Title: "Write REPORT.md", Instructions: "Write the table to REPORT.md.", DependsOn: []agent.TaskID{"count", "prices"}, Deliverable: true},
	},
}}

func starts(id agent.TaskID) agent.Event { return on(agent.Main, agent.TaskStarted{Task: id}) }

func ends(id agent.TaskID, state agent.TaskState, text string) agent.Event {
	e := agent.TaskEnded{Task: id, State: state, Summary: text, Outputs: []agent.Output{}}
	if state != agent.TaskDone {
		e.Summary, e.Reason = "", text
	}
	return on(agent.TaskStrand(id), e)
}

// atWork is a run with one task done and two at work or waiting to be.
func atWork(brief agent.RunStarted) agent.Run {
	r := told(brief, called(agent.Main, 1, llm.Intake)...)
	r = more(r, on(agent.Main, talePlan), starts("count"), starts("prices"))
	r = more(r, called("task/count", 1, llm.Work, llm.Call{ID: "c1", Name: "list_files", Arguments: `{"path":"/secret"}`})...)
	return more(r, on("task/count", agent.ToolIntent{Effect: "task/count.1.0", Tool: "list_files",
		Arguments: json.RawMessage(`{"path":"/secret"}`), Repeat: agent.RepeatRead}), thinks("task/prices", 1, llm.Work))
}

func shownAs(key, message string) agent.Event {
	return on(agent.Voice, agent.ToolOutcome{Effect: agent.EffectID("post/" + key), State: agent.OutcomeOK, Trust: agent.Trusted,
		Text: agent.Shown{Message: message, Thread: "slack:T1:C1:17.1"}.Text()})
}

func posting(p agent.Post) agent.Event { return on(agent.Voice, p.Intent(time.Time{})) }

func asksFor(s agent.StrandID, c agent.CheckpointOpened) agent.Event {
	c.ID = taleRun + "-q"
	return on(s, c)
}

func decided(word, text string) agent.Event {
	return on(agent.Main, agent.CheckpointDecided{ID: taleRun + "-q", Decision: word, By: "slack:U5", Text: text})
}

func theCheck(r agent.Run) agent.Checkpoint { return r.Checks[taleRun+"-q"] }

var taleApprovers = Authority{Operators: []string{"slack:U7"}, Approvers: []string{"U5", "discord:6", "slack:S2"}}

// The questions as the loop asks them.
var (
	taleExpiry  = taleBegin.Add(24 * time.Hour)
	askApproval = agent.CheckpointOpened{Ask: agent.CheckApproval, Title: "May I call write_to_file?", Tool: "write_to_file",
		Arguments: json.RawMessage(`{"content":"| folder | lines |\n` + strings.Repeat("x", 2000) + `","lines":12000000000000000001,"mode":"` + "a\u202etxt.exe\u200b" + `","options":{"backup":true,"tags":["a","b"]},"path":"REPORT.md"}`),
		Risk:      "Changes files.", Grant: "writes", Expires: taleExpiry,
		Choices: []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit, agent.DecideAlways}}
	askPlan = agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "May I work by this plan?", Detail: "the plan as text", Plan: &talePlan.Plan,
		Choices: []string{agent.DecideApprove, agent.DecideEdit, agent.DecideDeny, agent.DecideCancel}, Expires: taleExpiry}
	askBroken = agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "The plan is still broken after two repairs", Detail: "- V4 (task count): a cycle",
		Plan: &talePlan.Plan, Choices: []string{agent.DecideEdit, agent.DecideRetry, agent.DecideCancel}}
	askOne = agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question", Expires: taleExpiry,
		Questions: []agent.Question{{ID: "q1", Question: "Which colour?", Why: "The logo needs one", Choices: []string{"Red", "Blue", "Something else that is much longer than any button could ever show to people"}}},
		Choices:   []string{"Red", "Blue", "Something else that is much longer than any button could ever show to people", agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}
	askMany = agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question",
		Questions: []agent.Question{
			{ID: "q1", Question: "Which colour?", Choices: []string{"Red", "Blue"}}, {ID: "q2", Question: "How large?"},
			{ID: "size", Question: "Which *format*?", Choices: []string{"PNG", "SVG"}}, {ID: "q4", Question: "For whom?"},
		}, Choices: []string{agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}
	askStuck = agent.CheckpointOpened{Ask: agent.CheckStuck, Title: "Stuck on “Count the lines”: the same call 4 times with the same result",
		Detail:  "- list files “src/*.go”; the answer was “no such folder: <src>”\n",
		Choices: []string{agent.DecideRetry, agent.DecideSkip, agent.DecideCancel}, Expires: taleExpiry}
	askUncertain = agent.CheckpointOpened{Ask: agent.CheckUncertain, Title: "send_mail may have run: I was interrupted during the call", Tool: "send_mail",
		Arguments: json.RawMessage(`{"to":"a@example.org"}`), Detail: "Look whether it happened. Then say done, repeat or skip.",
		Choices: []string{agent.DecideDone, agent.DecideRepeat, agent.DecideSkip}}
)

func TestLiveCards(t *testing.T) {
	limited := agent.RunStarted{Limits: agent.Limits{USD: 3 * agent.Dollar / 100, Tokens: 100_000}, Slots: 4}
	waits := more(atWork(agent.RunStarted{Slots: 4}), ends("prices", agent.TaskDone, "Prices are in prices.json"),
		on("task/count", agent.ToolOutcome{Effect: "task/count.1.0", State: agent.OutcomeOK}), asksFor("task/count", askApproval))
	done := more(waits, decided(agent.DecideApprove, ""), ends("count", agent.TaskDone, "12 folders"), starts("write"), ends("write", agent.TaskDone, "written"),
		on(agent.Main, agent.Reported{Headline: "Counted", Body: "All counted."}), on(agent.Main, agent.RunEnded{State: agent.RunDone}))
	unpriced := told(agent.RunStarted{}, on(agent.Main, agent.ModelAsked{Call: "main.1", Purpose: llm.Intake}),
		on(agent.Main, agent.ModelAnswered{Call: "main.1", Purpose: llm.Intake, Prompt: 10, Error: "overloaded"}))
	for name, r := range map[string]agent.Run{
		"live-begun":     told(agent.RunStarted{}),
		"live-attaching": more(told(agent.RunStarted{Files: []agent.Attachment{{ID: "F1", Name: "a.csv"}}}), posting(agent.Post{Key: "file/0", Kind: agent.PostAttach, About: "0"})),
		"live-work":      atWork(agent.RunStarted{Slots: 4}),
		"live-unpriced":  unpriced,
		"live-found": more(atWork(limited), on("task/count", agent.BudgetNotice{Budget: "usd", Percent: 80}), on("task/count", agent.BudgetNotice{Budget: "tokens", Percent: 50}),
			on("task/count", agent.Finding{Rule: "L1", Severity: "nudge", Strand: "task/count", Message: "the same <call> three times"})),
		"live-asks-and-works": more(atWork(agent.RunStarted{Slots: 4}), asksFor("task/count", askApproval)),
		"live-waits":          waits,
		"live-paused":         more(waits, on(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"})),
		"live-paused-itself":  more(waits, on(agent.Main, agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: "no price for x"})),
		"live-refused": more(told(agent.RunStarted{}), on(agent.Main, agent.ModelAsked{Call: "main.1", Purpose: llm.Intake}),
			on(agent.Main, agent.ModelAnswered{Call: "main.1", Purpose: llm.Intake, Error: "401: no such key", Refused: true, Cost: new(agent.Nano)})),
		"live-cancelled": more(waits, on(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: "slack:U1"})),
		"live-replans":   more(atWork(agent.RunStarted{}), ends("count", agent.TaskFailed, "no such folder"), ends("prices", agent.TaskSkipped, "not needed")),
		"end-done":       done,
		"end-failed":     more(waits, on(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "not delivered: Write REPORT.md"})),
		"end-cancelled":  more(waits, on(agent.Main, agent.RunEnded{State: agent.RunCancelled, Reason: "cancelled by slack:U1"})),
		"end-reply": more(told(agent.RunStarted{Goal: "What is 2+2?"}, called(agent.Main, 1, llm.Intake)...),
			on(agent.Main, agent.Reported{Headline: "It is *four*.", Body: "It is *four*.\n\nAlways."}), on(agent.Main, agent.RunEnded{State: agent.RunDone})),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, LiveCard(r, taleBegin.Add(3*time.Hour+90*time.Second))) })
	}
}

func TestCheckCards(t *testing.T) {
	base := atWork(agent.RunStarted{Slots: 4})
	two := agent.RunStarted{Slots: 4, Quorum: 2}
	preview := askApproval
	preview.Detail = "```diff\n+ 12\n```"
	for name, r := range map[string]agent.Run{
		"check-approval":  more(base, asksFor("task/count", askApproval)),
		"check-preview":   more(base, asksFor("task/count", preview)),
		"check-votes":     more(atWork(two), asksFor("task/count", askApproval), on("task/count", agent.CheckpointVoted{ID: taleRun + "-q", Decision: agent.DecideApprove, By: "slack:U5"})),
		"check-vote":      more(atWork(agent.RunStarted{}), asksFor("task/count", askApproval), on("task/count", agent.CheckpointVoted{ID: taleRun + "-q", Decision: agent.DecideApprove, By: "slack:U5"})),
		"check-plan":      more(told(agent.RunStarted{}), asksFor(agent.Main, askPlan)),
		"check-broken":    more(told(agent.RunStarted{}), asksFor(agent.Main, askBroken)),
		"check-clarify":   more(told(agent.RunStarted{}), asksFor(agent.Main, askOne)),
		"check-points":    more(told(agent.RunStarted{}), asksFor(agent.Main, askMany)),
		"check-budget":    more(base, on("task/prices", base.BudgetQuestion("usd", taleBegin))),
		"check-wider":     more(base, on("task/prices", base.BudgetQuestion("person/slack:U1/2026-03", taleBegin))),
		"check-stuck":     more(base, append(stuckFindings(), asksFor("task/count", askStuck))...),
		"check-replans":   more(base, ends("count", agent.TaskFailed, "the disk is full"), asksFor(agent.Main, askReplans)),
		"check-uncertain": more(base, asksFor("task/count", askUncertain)),
	} {
		t.Run(name, func(t *testing.T) {
			c := *r.OpenCheckpoint()
			golden(t, name, CheckCard(r, c, c.Opened, taleApprovers.Audience))
			golden(t, strings.Replace(name, "check", "remind", 1), RemindCard(r, c, taleBegin.Add(12*time.Hour), taleApprovers.Audience))
		})
	}
}

func TestClosedCards(t *testing.T) {
	base := more(atWork(agent.RunStarted{Slots: 4}), asksFor("task/count", askApproval))
	point := more(told(agent.RunStarted{}), asksFor(agent.Main, askMany))
	for name, r := range map[string]agent.Run{
		"closed-approved": more(more(atWork(agent.RunStarted{Quorum: 2}), asksFor("task/count", askApproval)),
			on("task/count", agent.CheckpointVoted{ID: taleRun + "-q", Decision: agent.DecideApprove, By: "slack:U6"}), decided(agent.DecideAlways, "")),
		"closed-denied":  more(base, decided(agent.DecideDeny, "not on a Friday @here")),
		"closed-expired": more(base, on("task/count", agent.CheckpointDecided{ID: taleRun + "-q", Decision: agent.DecideExpired, By: agent.DecideExpired})),
		"closed-ended":   more(base, on(agent.Main, agent.RunEnded{State: agent.RunCancelled})),
		"closed-answered": more(point, on(agent.Main, agent.CheckpointDecided{ID: taleRun + "-q", Decision: agent.DecideAnswer, By: "slack:U1",
			Answers: map[string]string{"q1": "Red", "size": "PNG"}, Text: "and make it quick"})),
		"closed-chosen": more(told(agent.RunStarted{}), asksFor(agent.Main, askOne), decided("Blue", "")),
		"closed-money":  more(base, on("task/count", agent.CheckpointDecided{ID: taleRun + "-q", Decision: agent.DecideMore25, By: Terminal})),
	} {
		t.Run(name, func(t *testing.T) {
			c := ClosedCard(r, theCheck(r))
			golden(t, name, c)
			for _, p := range c.Parts {
				if _, are := p.(Buttons); are || len(c.Mentions) > 0 {
					t.Error("a closed question has buttons or notifies somebody")
				}
			}
		})
	}
}

func TestReportCards(t *testing.T) {
	r := more(atWork(agent.RunStarted{}), on("task/prices", agent.TaskEnded{Task: "prices", State: agent.TaskDone, Summary: "found",
		Outputs: []agent.Output{{Name: "sources", Value: json.RawMessage(`["https://example.org/a","https://example.org/b","see there"]`)}, {Name: "n", Value: json.RawMessage(`3`)}}}),
		ends("count", agent.TaskFailed, "the disk is full"),
		on(agent.Main, agent.Reported{Headline: "Half of it is counted", Body: "## Result\n\nSee https://example.org/b. <!channel>",
			Artifacts: agent.Texts{"out/REPORT.md", "big.bin", "REPORT.md"}, Skipped: agent.Texts{"Write REPORT.md: no time"}, FollowUps: agent.Texts{"Try *again*"}}),
		on(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "not delivered: Write REPORT.md"}),
		shownAs("card", "slack:T1:C1:17.2"), shownAs("upload/0", "slack:T1:C1:17.9"),
		on(agent.Voice, agent.ToolOutcome{Effect: "post/upload/1", State: agent.OutcomeError, Text: "error: it is too large"}))
	golden(t, "report", ReportCard(r))
	golden(t, "report-short", ReportCard(more(told(agent.RunStarted{}), on(agent.Main, agent.Reported{Headline: "Failed before any work began", Body: "no model"}),
		on(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "no model"}))))
}

func TestAnswers(t *testing.T) {
	r := more(atWork(agent.RunStarted{Limits: agent.Limits{USD: agent.Dollar, Time: time.Hour}, Autonomy: agent.AskRisky,
		PlanApproval: agent.ApprovePlanEffects, YesTo: []string{"reads"}, Slots: 4}), asksFor("task/count", askApproval), decided(agent.DecideDeny, "no"))
	asking := more(told(agent.RunStarted{}), asksFor(agent.Main, askOne))
	list := []Status{StatusOf(r), StatusOf(asking), {Run: "broken", Problem: "entry 2 is damaged"}}
	now := taleBegin.Add(time.Hour)
	for name, c := range map[string]Card{
		"answer-status":      StatusCard(r, now),
		"answer-runs":        RunsCard(list, now),
		"answer-no-runs":     RunsCard(nil, now),
		"answer-plan":        PlanCard(r),
		"answer-no-plan":     PlanCard(asking),
		"answer-budget":      BudgetCard(more(r, on(agent.Main, agent.CheckpointOpened{ID: "b", Ask: agent.CheckBudget, Budget: "usd"}), on(agent.Main, agent.CheckpointDecided{ID: "b", Decision: agent.DecideMore25}))),
		"answer-permissions": PermissionsCard(r, taleApprovers.Audience),
		"answer-help":        HelpCard(Command{"run GOAL", "start a goal"}, Command{"status", "where this run stands"}),
		"home": HomeCard(Home{Mine: list, Pending: []Pending{{asking, theCheck(asking)}}, Month: []Fact{{"You", "$1.20 of $100"}},
			Settings: []Fact{{"Autonomy", "ask-risky"}}}, now),
		"home-empty": HomeCard(Home{}, now),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, c) })
	}
}
