package card

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// askReplans is what the main strand asks when new plans do not help.
var askReplans = agent.CheckpointOpened{Ask: agent.CheckStuck, Title: "Stuck: 2 new plans did not help",
	Detail:  "- “Count the lines” failed: the disk is full\n",
	Choices: []string{agent.DecideRetry, agent.DecideFinish, agent.DecideCancel}, Expires: bottest.TaleExpiry}

// stuckFindings are what was noticed before askStuck: one streak, seen by three
// rules, and a failing call before it.
func stuckFindings() []agent.Event {
	found := func(rule, severity, message string, events ...uint64) agent.Event {
		return bottest.On("task/count", agent.Finding{Rule: rule, Severity: severity, Strand: "task/count", Message: message, Events: events})
	}
	return []agent.Event{
		found("L2", "nudge", "the same call failed 3 times: count lines “*”; the last error was “too many files”", 20, 21, 22),
		found("L9", "check-in", "the same call 2 times running: list files “src/*.go”", 31, 32),
		found("L1", "nudge", "the same call 3 times with the same result: list files “src/*.go”; the answer was “no such folder: <src>”", 31, 32, 33),
		found("L3", "stop", "the same call 4 times with the same result: list files “src/*.go”; the answer was “no such folder: <src>”", 31, 32, 33, 34),
	}
}

// A way out is asked of the requester alone; the reminder asks the operators.
func TestRungs(t *testing.T) {
	ops := authority.Authority{Operators: []string{"U7", "slack:S8", "discord:8"}}
	for _, tt := range []struct {
		name, requester       string
		authority             authority.Authority
		first, reminded, says string
	}{
		{"the requester, then the operators", "slack:U1", ops, "slack:U1", "slack:U7 slack:S8", "@slack:U1 has not answered. @slack:U7 or @slack:S8, you may"},
		{"no operators", "slack:U1", authority.Authority{}, "slack:U1", "slack:U1", "@slack:U1, I cannot go on without you"},
		{"an operator's own run", "slack:U7", authority.Authority{Operators: []string{"U7"}}, "slack:U7", "slack:U7", "@slack:U7, I cannot go on"},
		{"a requester of somewhere else", "discord:1", ops, "slack:U7 slack:S8", "slack:U7 slack:S8", "Nobody has answered yet. @slack:U7 or"},
		{"a schedule's", agent.Deckhand, ops, "slack:U7 slack:S8", "slack:U7 slack:S8", "Nobody has answered yet. @slack:U7 or"},
		{"nobody", "terminal", authority.Authority{}, "", "", "Nobody has answered yet."},
	} {
		r := bottest.More(bottest.Told(agent.RunStarted{Requester: tt.requester}), bottest.AsksFor(agent.Main, askReplans))
		r.Brief.Requester = tt.requester
		c := bottest.TheCheck(r)
		put, reminder := Question(r, c, c.Opened, tt.authority.Audience), Reminder(r, c, bottest.TaleBegin.Add(12*time.Hour), tt.authority.Audience)
		got := []string{strings.Join(put.Mentions, " "), strings.Join(reminder.Mentions, " ")}
		if diff := cmp.Diff([]string{tt.first, tt.reminded}, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		if text := bottest.Drawn(reminder); !strings.Contains(text, tt.says) {
			t.Errorf("%s: the reminder does not say %q:\n%s", tt.name, tt.says, text)
		}
	}
}

// Other questions notify everybody at once, and again.
func TestOnlyAWayOutIsEscalated(t *testing.T) {
	a := authority.Authority{Operators: []string{"slack:U7"}, RequesterMayApprove: true}
	for ask := range WaitReasons {
		if ask == agent.CheckStuck {
			continue
		}
		r := bottest.Told(agent.RunStarted{})
		all := a.Audience(r, ask)
		if !cmp.Equal(all, authority.FirstAsked(r, ask, a.Audience)) || !cmp.Equal(all, authority.LastAsked(r, ask, a.Audience)) {
			t.Errorf("%s: %v, then %v, want %v", ask, authority.FirstAsked(r, ask, a.Audience), authority.LastAsked(r, ask, a.Audience), all)
		}
	}
}

// What was tried may hold anything.
func TestWhatWasTriedIsQuoted(t *testing.T) {
	hostile := bottest.AskStuck
	hostile.Detail = "- fetch “[press here](https://evil.example)”; the answer was “<!channel> **Approve** \u202e”\n"
	r := bottest.More(bottest.AtWork(agent.RunStarted{}), bottest.AsksFor("task/count", hostile))
	text := bottest.Drawn(Question(r, bottest.TheCheck(r), bottest.TaleBegin, authority.Authority{}.Audience))
	for _, bad := range []string{"[press", "<!channel", "**Approve**", "\u202e"} {
		if strings.Contains(strings.ReplaceAll(text, "\\"+bad, ""), bad) {
			t.Errorf("%q is in\n%s", bad, text)
		}
	}
}

// A run that nobody showed a way out says what is missing, and why.
func TestReportOfAStuckRun(t *testing.T) {
	r := bottest.More(bottest.AtWork(agent.RunStarted{Slots: 4}), append(stuckFindings(), bottest.Ends("prices", agent.TaskDone, "Prices are in prices.json"), bottest.AsksFor("task/count", bottest.AskStuck),
		bottest.On("task/count", agent.CheckpointDecided{ID: bottest.TaleRun + "-q", Decision: agent.DecideExpired, By: agent.DecideExpired}))...)
	for range 5 { // as the loop does
		for _, s := range []agent.StrandID{"task/count", agent.Main} {
			for _, step := range r.Next(s).Steps {
				d, is := step.(agent.Decide)
				if !is {
					t.Fatalf("%s wants %T: no model is asked any more", s, step)
				}
				r = bottest.More(r, d.Events...)
			}
		}
	}
	bottest.Golden(t, "report-stuck", Report(r))
	bottest.Golden(t, "closed-stuck", Closed(r, bottest.TheCheck(r)))
	hinted := bottest.More(bottest.AtWork(agent.RunStarted{}), bottest.AsksFor("task/count", bottest.AskStuck), bottest.Decided(agent.DecideRetry, "use the *other* folder"))
	bottest.Golden(t, "closed-hint", Closed(hinted, bottest.TheCheck(hinted)))
}

// A check-in that passes on what a rule found adds nothing to what was tried.
func TestACheckInRepeatsNothing(t *testing.T) {
	found := stuckFindings()
	nudge, _ := found[2].Body.(agent.Finding)
	echo, own := nudge, nudge
	echo.Rule, echo.Events = "L13", nil
	own.Rule, own.Events, own.Message = "L13", nil, "the work goes round in circles"
	events := slices.Concat(found[:3], []agent.Event{bottest.On("task/count", echo), bottest.On("task/count", own), found[3], bottest.AsksFor("task/count", bottest.AskStuck)})
	r := bottest.More(bottest.AtWork(agent.RunStarted{}), events...)
	lines := tried(r, bottest.TheCheck(r))
	if text := strings.Join(lines, "\n"); strings.Count(text, "the same step 3 times") != 0 || !strings.Contains(text, own.Message) {
		t.Errorf("what was tried:\n%s", text)
	}
}

// A second question is about what happened since the first.
func TestASecondQuestionForgetsTheFirst(t *testing.T) {
	r := bottest.More(bottest.AtWork(agent.RunStarted{}), append(stuckFindings(), bottest.AsksFor("task/count", bottest.AskStuck), bottest.Decided(agent.DecideRetry, ""),
		bottest.On("task/count", agent.Finding{Rule: "L2", Severity: "nudge", Strand: "task/count", Message: "the same call failed 3 times: open “new”", Events: []uint64{50, 51, 52}}),
		bottest.On("task/count", agent.Finding{Rule: "L6", Severity: "stop", Strand: "task/count", Message: "chanting: “a”", Events: []uint64{55}}),
		bottest.On("task/prices", agent.Finding{Rule: "L1", Severity: "nudge", Strand: "task/prices", Message: "another task's", Events: []uint64{56}}),
		bottest.On("task/count", agent.Finding{Rule: "L3", Severity: "stop", Strand: "task/count", Message: "the same call 4 times", Events: []uint64{60, 61, 62, 63}}))...)
	second := bottest.AskStuck
	second.ID, second.Detail = bottest.TaleRun+"-q2", "- list files “lib”\n"
	r = bottest.More(r, bottest.On("task/count", second))
	want := []string{"list files “lib”", "the same step failed 3 times: open “new”", "chanting: “a”"}
	if diff := cmp.Diff(want, tried(r, r.Checks[second.ID])); diff != "" {
		t.Error(diff)
	}
}

// A question that goes back to a denial says whose it was, and asks.
func TestStuckOnADenial(t *testing.T) {
	write := agent.CheckpointOpened{Ask: agent.CheckApproval, Title: "May I call write_to_file?", Tool: "write_to_file",
		Arguments: json.RawMessage(`{"path":"notes/v2.4.md"}`), Choices: []string{agent.DecideApprove, agent.DecideDeny}}
	stuck := agent.CheckpointOpened{ID: bottest.TaleRun + "-s", Ask: agent.CheckStuck, Title: "Blocked: “Write” needs something that I do not have",
		Choices: []string{agent.DecideRetry, agent.DecideFinish, agent.DecideCancel}}
	for _, tt := range []struct {
		decision, text, by, title, asked string
	}{
		{agent.DecideDeny, "Not on a Friday", "slack:U1", "‹slack:U1› denied writing notes/v2.4.md (“Not on a Friday”), and I found no other way",
			"You denied writing notes/v2.4.md (“Not on a Friday”), and I found no other way. What should I do instead?"},
		{agent.DecideDeny, "", "slack:U5", "‹slack:U5› denied writing notes/v2.4.md, and I found no other way",
			"‹slack:U5› denied writing notes/v2.4.md, and I found no other way. What should I do instead?"},
		{agent.DecideExpired, "", agent.DecideExpired, "Nobody allowed writing notes/v2.4.md in time, and I found no other way",
			"Nobody allowed writing notes/v2.4.md in time, and I found no other way. What should I do instead?"},
		{agent.DecideApprove, "", "slack:U5", "Blocked: “Write” needs something that I do not have", "Blocked: “Write” needs something that I do not have"},
	} {
		r := bottest.Told(agent.RunStarted{}, bottest.On(agent.Main, bottest.TalePlan), bottest.Starts("count"), bottest.AsksFor("task/count", write),
			bottest.On(agent.Main, agent.CheckpointDecided{ID: bottest.TaleRun + "-q", Decision: tt.decision, By: tt.by, Text: tt.text}),
			bottest.On("task/count", agent.TaskEnded{Task: "count", State: agent.TaskFailed, Fail: agent.FailBlocked, Reason: "denied"}),
			bottest.On(agent.Main, stuck))
		c := *r.OpenCheckpoint()
		name := func(text string) string {
			return bot.Unmention(text, func(p string) string { return "‹" + p + "›" })
		}
		if got := name(Title(r, c)); got != tt.title {
			t.Errorf("%s: title %q, want %q", tt.decision, got, tt.title)
		}
		if got := name(Question(r, c, bottest.TaleBegin, nobody).Text); got != tt.asked {
			t.Errorf("%s: asked %q, want %q", tt.decision, got, tt.asked)
		}
	}
}

func nobody(agent.Run, agent.CheckpointKind) []string { return nil }

// A run that a person ended early is no failure of its own: it says who wanted it.
func TestFinishedEarly(t *testing.T) {
	budget := agent.CheckpointOpened{Ask: agent.CheckBudget, Budget: agent.BudgetSteps, Choices: []string{agent.DecideFinish}}
	for by, want := range map[string]string{
		"slack:U1": "Finished early, as you asked: 1 of 3 tasks done", "slack:U5": "Finished early, as ‹slack:U5› asked: 1 of 3 tasks done",
		agent.DecideExpired: "Finished early, since nobody answered in time: 1 of 3 tasks done",
	} {
		word := agent.DecideFinish
		if by == agent.DecideExpired {
			word = agent.DecideExpired
		}
		r := bottest.Told(agent.RunStarted{}, bottest.On(agent.Main, bottest.TalePlan), bottest.Starts("count"), bottest.Ends("count", agent.TaskDone, "counted"),
			bottest.AsksFor(agent.Main, budget), bottest.On(agent.Main, agent.CheckpointDecided{ID: bottest.TaleRun + "-q", Decision: word, By: by}))
		for range 3 {
			for _, s := range r.Next(agent.Main).Steps {
				if d, is := s.(agent.Decide); is {
					r = bottest.More(r, d.Events...)
				}
			}
		}
		if r.Ended == nil {
			t.Fatalf("the run has not ended: %+v", r.Next(agent.Main))
		}
		name := func(text string) string {
			return bot.Unmention(text, func(p string) string { return "‹" + p + "›" })
		}
		if got := name(Report(r).Text); got != want {
			t.Errorf("the report says %q, want %q", got, want)
		}
		if card := name(Live(r, bottest.TaleBegin).Text); !strings.HasPrefix(card, "Finished early, ") || strings.Contains(card, "ended early") {
			t.Errorf("the card says %q", card)
		}
	}
}
