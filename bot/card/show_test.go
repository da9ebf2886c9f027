package card

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

var taleApprovers = authority.Authority{Operators: []string{"slack:U7"}, Approvers: []string{"U5", "discord:6", "slack:S2"}}

func TestLiveCards(t *testing.T) {
	limited := agent.RunStarted{Limits: agent.Limits{USD: 3 * agent.Dollar / 100, Tokens: 100_000}, Slots: 4}
	waits := bottest.More(bottest.AtWork(agent.RunStarted{Slots: 4}), bottest.Ends("prices", agent.TaskDone, "Prices are in prices.json"),
		bottest.On("task/count", agent.ToolOutcome{Effect: "task/count.1.0", State: agent.OutcomeOK}), bottest.AsksFor("task/count", bottest.AskApproval))
	done := bottest.More(waits, bottest.Decided(agent.DecideApprove, ""), bottest.Ends("count", agent.TaskDone, "12 folders"), bottest.Starts("write"), bottest.Ends("write", agent.TaskDone, "written"),
		bottest.On(agent.Main, agent.Reported{Headline: "Counted", Body: "All counted."}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))
	unpriced := bottest.Told(agent.RunStarted{}, bottest.On(agent.Main, agent.ModelAsked{Call: "main.1", Purpose: llm.Intake}),
		bottest.On(agent.Main, agent.ModelAnswered{Call: "main.1", Purpose: llm.Intake, Prompt: 10, Error: "overloaded"}))
	for name, r := range map[string]agent.Run{
		"live-begun":     bottest.Told(agent.RunStarted{}),
		"live-attaching": bottest.More(bottest.Told(agent.RunStarted{Files: []agent.Attachment{{ID: "F1", Name: "a.csv"}}}), bottest.Posting(agent.Post{Key: "file/0", Kind: agent.PostAttach, About: "0"})),
		"live-work":      bottest.AtWork(agent.RunStarted{Slots: 4}),
		"live-unpriced":  unpriced,
		"live-found": bottest.More(bottest.AtWork(limited), bottest.On("task/count", agent.BudgetNotice{Budget: "usd", Percent: 80}), bottest.On("task/count", agent.BudgetNotice{Budget: "tokens", Percent: 50}),
			bottest.On("task/count", agent.Finding{Rule: "L1", Severity: "nudge", Strand: "task/count", Message: "the same <call> three times"})),
		"live-asks-and-works": bottest.More(bottest.AtWork(agent.RunStarted{Slots: 4}), bottest.AsksFor("task/count", bottest.AskApproval)),
		"live-waits":          waits,
		"live-paused":         bottest.More(waits, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"})),
		"live-paused-itself":  bottest.More(waits, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: "no price for x"})),
		"live-refused": bottest.More(bottest.Told(agent.RunStarted{}), bottest.On(agent.Main, agent.ModelAsked{Call: "main.1", Purpose: llm.Intake}),
			bottest.On(agent.Main, agent.ModelAnswered{Call: "main.1", Purpose: llm.Intake, Error: "401: no such key", Refused: true, RetryReason: "does not take the key (HTTP 401)", Cost: new(agent.Nano)})),
		"live-away":           bottest.More(bottest.Told(agent.RunStarted{}), away(agent.Main)...),
		"live-away-and-works": bottest.More(bottest.AtWork(agent.RunStarted{Slots: 4}), away("task/count")...),
		"live-cancelled":      bottest.More(waits, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: "slack:U1"})),
		"live-replans":        bottest.More(bottest.AtWork(agent.RunStarted{}), bottest.Ends("count", agent.TaskFailed, "no such folder"), bottest.Ends("prices", agent.TaskSkipped, "not needed")),
		"end-done":            done,
		"end-failed":          bottest.More(waits, bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "not delivered: Write REPORT.md"})),
		"end-cancelled":       bottest.More(waits, bottest.On(agent.Main, agent.RunEnded{State: agent.RunCancelled, Reason: "cancelled by slack:U1"})),
		"end-reply": bottest.More(bottest.Told(agent.RunStarted{Goal: "What is 2+2?"}, bottest.Called(agent.Main, 1, llm.Intake)...),
			bottest.On(agent.Main, agent.Reported{Headline: "It is *four*.", Body: "It is *four*.\n\nAlways."}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone})),
	} {
		t.Run(name, func(t *testing.T) {
			bottest.Golden(t, name, Live(r, bottest.TaleBegin.Add(3*time.Hour+90*time.Second)))
		})
	}
}

// away is a question to a model whose endpoint was overloaded.
func away(s agent.StrandID) []agent.Event {
	return []agent.Event{
		bottest.On(s, agent.ModelAsked{Call: "away", Purpose: llm.Work}),
		bottest.On(s, agent.ModelAnswered{Call: "away", Purpose: llm.Work, Cost: new(agent.Nano),
			RetryAt: bottest.TaleBegin.Add(4 * time.Hour), RetryReason: "is overloaded (HTTP 503)"}),
	}
}

func TestCheckCards(t *testing.T) {
	base := bottest.AtWork(agent.RunStarted{Slots: 4})
	two := agent.RunStarted{Slots: 4, Quorum: 2}
	preview := bottest.AskApproval
	preview.Detail = "```diff\n+ 12\n```"
	for name, r := range map[string]agent.Run{
		"check-approval":  bottest.More(base, bottest.AsksFor("task/count", bottest.AskApproval)),
		"check-preview":   bottest.More(base, bottest.AsksFor("task/count", preview)),
		"check-votes":     bottest.More(bottest.AtWork(two), bottest.AsksFor("task/count", bottest.AskApproval), bottest.On("task/count", agent.CheckpointVoted{ID: bottest.TaleRun + "-q", Decision: agent.DecideApprove, By: "slack:U5"})),
		"check-vote":      bottest.More(bottest.AtWork(agent.RunStarted{}), bottest.AsksFor("task/count", bottest.AskApproval), bottest.On("task/count", agent.CheckpointVoted{ID: bottest.TaleRun + "-q", Decision: agent.DecideApprove, By: "slack:U5"})),
		"check-plan":      bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskPlan)),
		"check-broken":    bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskBroken)),
		"check-clarify":   bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskOne)),
		"check-points":    bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskMany)),
		"check-budget":    bottest.More(base, bottest.On("task/prices", agent.BudgetQuestion(base, "usd", bottest.TaleBegin))),
		"check-wider":     bottest.More(base, bottest.On("task/prices", agent.BudgetQuestion(base, "person/slack:U1/2026-03", bottest.TaleBegin))),
		"check-stuck":     bottest.More(base, append(stuckFindings(), bottest.AsksFor("task/count", bottest.AskStuck))...),
		"check-replans":   bottest.More(base, bottest.Ends("count", agent.TaskFailed, "the disk is full"), bottest.AsksFor(agent.Main, askReplans)),
		"check-uncertain": bottest.More(base, bottest.AsksFor("task/count", bottest.AskUncertain)),
	} {
		t.Run(name, func(t *testing.T) {
			c := *r.OpenCheckpoint()
			bottest.Golden(t, name, Question(r, c, c.Opened, taleApprovers.Audience))
			bottest.Golden(t, strings.Replace(name, "check", "remind", 1), Reminder(r, c, bottest.TaleBegin.Add(12*time.Hour), taleApprovers.Audience))
		})
	}
}

func TestClosedCards(t *testing.T) {
	base := bottest.More(bottest.AtWork(agent.RunStarted{Slots: 4}), bottest.AsksFor("task/count", bottest.AskApproval))
	point := bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskMany))
	for name, r := range map[string]agent.Run{
		"closed-approved": bottest.More(bottest.More(bottest.AtWork(agent.RunStarted{Quorum: 2}), bottest.AsksFor("task/count", bottest.AskApproval)),
			bottest.On("task/count", agent.CheckpointVoted{ID: bottest.TaleRun + "-q", Decision: agent.DecideApprove, By: "slack:U6"}), bottest.Decided(agent.DecideAlways, "")),
		"closed-denied":  bottest.More(base, bottest.Decided(agent.DecideDeny, "not on a Friday @here")),
		"closed-expired": bottest.More(base, bottest.On("task/count", agent.CheckpointDecided{ID: bottest.TaleRun + "-q", Decision: agent.DecideExpired, By: agent.DecideExpired})),
		"closed-ended":   bottest.More(base, bottest.On(agent.Main, agent.RunEnded{State: agent.RunCancelled})),
		"closed-answered": bottest.More(point, bottest.On(agent.Main, agent.CheckpointDecided{ID: bottest.TaleRun + "-q", Decision: agent.DecideAnswer, By: "slack:U1",
			Answers: map[string]string{"q1": "Red", "size": "PNG"}, Text: "and make it quick"})),
		"closed-chosen": bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskOne), bottest.Decided("Blue", "")),
		"closed-plan":   bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskPlan), bottest.On(agent.Main, bottest.TalePlan), bottest.Decided(agent.DecideApprove, "")),
		"closed-money":  bottest.More(base, bottest.On("task/count", agent.CheckpointDecided{ID: bottest.TaleRun + "-q", Decision: agent.DecideMore25, By: bot.Terminal})),
	} {
		t.Run(name, func(t *testing.T) {
			c := Closed(r, bottest.TheCheck(r))
			bottest.Golden(t, name, c)
			for _, p := range c.Parts {
				if _, are := p.(bot.Buttons); are || len(c.Mentions) > 0 {
					t.Error("a closed question has buttons or notifies somebody")
				}
			}
		})
	}
}

func TestReportCards(t *testing.T) {
	r := bottest.More(bottest.AtWork(agent.RunStarted{}), bottest.On("task/prices", agent.TaskEnded{Task: "prices", State: agent.TaskDone, Summary: "found",
		Outputs: []agent.Output{{Name: "sources", Value: json.RawMessage(`["https://example.org/a","https://example.org/b","see there"]`)}, {Name: "n", Value: json.RawMessage(`3`)}}}),
		bottest.Ends("count", agent.TaskFailed, "the disk is full"),
		bottest.On(agent.Main, agent.Reported{Headline: "Half of it is counted", Body: "## Result\n\nSee https://example.org/b. <!channel>",
			Artifacts: agent.Texts{"out/REPORT.md", "big.bin", "REPORT.md"}, Skipped: agent.Texts{"Write REPORT.md: no time"}, FollowUps: agent.Texts{"Try *again*"}}),
		bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "not delivered: Write REPORT.md"}),
		bottest.ShownAs("card", "slack:T1:C1:17.2"), bottest.ShownAs("upload/0", "slack:T1:C1:17.9"),
		bottest.On(agent.Voice, agent.ToolOutcome{Effect: "post/upload/1", State: agent.OutcomeError, Text: "error: it is too large"}))
	bottest.Golden(t, "report", Report(r))
	bottest.Golden(t, "report-short", Report(bottest.More(bottest.Told(agent.RunStarted{}), bottest.On(agent.Main, agent.Reported{Headline: "Failed before any work began", Body: "no model"}),
		bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "no model"}))))
}

func TestAnswers(t *testing.T) {
	r := bottest.More(bottest.AtWork(agent.RunStarted{Limits: agent.Limits{USD: agent.Dollar, Time: time.Hour}, Autonomy: agent.AskRisky,
		PlanApproval: agent.ApprovePlanEffects, YesTo: []string{"reads"}, Slots: 4}), bottest.AsksFor("task/count", bottest.AskApproval), bottest.Decided(agent.DecideDeny, "no"))
	asking := bottest.More(bottest.Told(agent.RunStarted{}), bottest.AsksFor(agent.Main, bottest.AskOne))
	list := []Status{StatusOf(r), StatusOf(asking), {Run: "broken", Problem: "entry 2 is damaged"}}
	now := bottest.TaleBegin.Add(time.Hour)
	for name, c := range map[string]bot.Card{
		"answer-status":      Standing(r, now),
		"answer-runs":        Runs(list, now),
		"answer-no-runs":     Runs(nil, now),
		"answer-plan":        Plan(r),
		"answer-no-plan":     Plan(asking),
		"answer-budget":      Budget(bottest.More(r, bottest.On(agent.Main, agent.CheckpointOpened{ID: "b", Ask: agent.CheckBudget, Budget: "usd"}), bottest.On(agent.Main, agent.CheckpointDecided{ID: "b", Decision: agent.DecideMore25}))),
		"answer-permissions": Permissions(r, nil, taleApprovers.Audience),
		"answer-help":        Help([]string{"@Deckhand sum up what was decided here this week"}, []Command{{"stop", "pauses a run"}, {"status", "where this run stands"}}),
		"home": HomePage(Home{Mine: list, Pending: []Pending{{asking, bottest.TheCheck(asking)}}, Month: []bot.Fact{{Name: "You", Value: "$1.20 of $100"}},
			Settings: []bot.Fact{{Name: "Autonomy", Value: "ask-risky"}}}, now),
		"home-empty": HomePage(Home{}, now),
	} {
		t.Run(name, func(t *testing.T) { bottest.Golden(t, name, c) })
	}
}
