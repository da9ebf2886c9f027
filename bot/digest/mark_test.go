package digest

import (
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

func digestAt(at time.Time, runs ...agent.Run) Digest {
	return New(Source{Period: Period{Since: at.Add(-24 * time.Hour), Until: at}, Runs: runs})
}

func TestDigestMark(t *testing.T) {
	r := moving("movingeeeeeeeeee", agent.RunStarted{Limits: agent.Limits{USD: 20 * agent.Dollar / 100}})
	asks := after(r, time.Minute, bottest.On("task/c", bottest.AskApproval))
	old := finished("oldaaaaaaaaaaaaa", 2*time.Hour, "Old", cents(1), closing("Old", agent.RunDone, ""))
	before := digestAt(digestNoon, r)
	for _, tt := range []struct {
		name string
		next Digest
		base Digest
		news bool
	}{
		{"time passes", digestAt(digestNoon.Add(30*time.Minute), r), before, false},
		{"time passes at a question", digestAt(digestNoon.Add(12*time.Hour), asks), digestAt(digestNoon, asks), false},
		{"time passes while it is paused", digestAt(digestNoon.Add(12*time.Hour), pausedRun("p")), digestAt(digestNoon, pausedRun("p")), false},
		{"a model thinks", digestAt(digestNoon.Add(time.Minute), after(r, time.Minute, bottest.On("task/c", agent.ModelAnswered{Call: "task/c.1", Purpose: llm.Work, Cost: cents(1), Prompt: 9}), bottest.Thinks("task/c", 2, llm.Work))), before, false},
		{"a question opens", digestAt(digestNoon, asks), before, true},
		{"a vote", digestAt(digestNoon, after(asks, time.Minute, bottest.On("task/c", agent.CheckpointVoted{ID: "movingeeeeeeeeee-approval", Decision: agent.DecideApprove, By: "slack:U5"}))), digestAt(digestNoon, asks), true},
		{"a task ends", digestAt(digestNoon, after(r, time.Minute, bottest.Ends("c", agent.TaskDone, "same"))), before, true},
		{"it is paused", digestAt(digestNoon, after(r, time.Minute, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"}))), before, true},
		{"a budget is nearly spent", digestAt(digestNoon, after(r, time.Minute, bottest.On("task/c", agent.ModelAnswered{Call: "task/c.1", Purpose: llm.Work, Cost: cents(5)}))), before, true},
		{"it ends", digestAt(digestNoon, after(r, time.Minute, bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed}))), before, true},
		{"another begins", digestAt(digestNoon, r, lived("new", ago(time.Minute), agent.RunStarted{Goal: "New"})), before, true},
		{"another began and ended since", digestAt(digestNoon, r, old), before, true},
		{"what ended was told before", digestAt(digestNoon.Add(30*time.Hour), old, asks), digestAt(digestNoon, asks, old), false},
		{"it has fallen silent", digestAt(digestNoon.Add(2*time.Hour), r), before, true},
		{"it is still silent", digestAt(digestNoon.Add(9*time.Hour), r), digestAt(digestNoon.Add(2*time.Hour), r), false},
		{"it waits for a time", digestAt(digestNoon.Add(2*time.Hour), deferred(3*time.Hour)), digestAt(digestNoon, deferred(3*time.Hour)), false},
		{"the time has come", digestAt(digestNoon.Add(4*time.Hour), deferred(3*time.Hour)), digestAt(digestNoon, deferred(3*time.Hour)), true},
		{"the first report", before, Digest{}, true},
		{"nothing at all", digestAt(digestNoon), before, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.next.News(tt.base.Mark); got != tt.news {
				t.Errorf("news: %t; %q after %q", got, tt.next.Headline, tt.base.Headline)
			}
		})
	}
}

// deferred is a run whose one call looks again after so long.
func deferred(wait time.Duration) agent.Run {
	r := lived("deferred", ago(10*time.Minute), agent.RunStarted{Goal: "Wait"}, bottest.On(agent.Main, bottest.TalePlan), bottest.Starts("count"))
	r = after(r, time.Minute, bottest.Called("task/count", 1, llm.Work, llm.Call{ID: "c1", Name: "wait", Arguments: `{}`})...)
	return after(r, time.Minute, bottest.On("task/count", agent.ToolIntent{Effect: "task/count.1.0", Tool: "wait"}),
		bottest.On("task/count", agent.ToolDeferred{Effect: "task/count.1.0", Until: digestNoon.Add(wait)}))
}

// A report that could not be posted is told of, and is no reason for one.
func TestUndeliveredIsNoNews(t *testing.T) {
	report := lived("report", ago(time.Hour), agent.RunStarted{Tick: &agent.Tick{Schedule: "daily", At: ago(time.Hour), Report: true}},
		bottest.On(agent.Main, agent.Reported{Headline: "h"}), bottest.On(agent.Voice, agent.ToolOutcome{Effect: "post/card", State: agent.OutcomeError, Text: "error: gone"}))
	d := digestAt(digestNoon, pausedRun("p"), report)
	if before := digestAt(digestNoon, pausedRun("p")); d.News(before.Mark) || !strings.Contains(d.Body, "could not be posted: gone") {
		t.Errorf("news: %t\n%s", d.News(before.Mark), d.Body)
	}
}

func TestLateness(t *testing.T) {
	var week []time.Time
	for i := range 7 {
		week = append(week, digestNoon.AddDate(0, 0, i-8))
	}
	for _, tt := range []struct {
		name string
		late Lateness
		want string
		head string
	}{
		{"in time", Lateness{Due: ago(0), Now: digestNoon}, "", "h"},
		{"nearly in time", Lateness{Due: ago(4 * time.Minute), Now: digestNoon}, "", "h"},
		{"late", Lateness{Due: ago(90 * time.Minute), Now: digestNoon},
			"This report was due on Tuesday 3 Mar 10:30 (UTC) and comes 1h 30m late because Deckhand was not running.", "h (1h 30m late)"},
		{"late after one", Lateness{Due: ago(time.Hour), Now: digestNoon, Missed: week[6:], Why: "Slack was *down*"},
			"This report was due on Tuesday 3 Mar 11:00 (UTC) and comes 1h late because Slack was \\*down\\*; 1 earlier one was missed: Sun 1 Mar 12:00.", "h (1h late)"},
		{"one skipped", Lateness{Due: digestNoon, Now: digestNoon, Missed: week[6:]},
			"1 report was missed: Sun 1 Mar 12:00 (UTC), because Deckhand was not running.", "h"},
		{"many skipped", Lateness{Due: digestNoon, Now: digestNoon, Missed: week},
			"7 reports were missed: 2 before, Wed 25 Feb 12:00, Thu 26 Feb 12:00, Fri 27 Feb 12:00, Sat 28 Feb 12:00, Sun 1 Mar 12:00 (UTC), because Deckhand was not running.", "h"},
		{"more skipped than are known", Lateness{Due: digestNoon, Now: digestNoon, Missed: week[6:], Count: 1200},
			"1,200 reports were missed: 1,199 before, Sun 1 Mar 12:00 (UTC), because Deckhand was not running.", "h"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.late.String(); got != tt.want {
				t.Errorf("%q\nwant %q", got, tt.want)
			}
			d := Digest{Headline: "h", Body: "b", Mark: "m"}.Late(tt.late)
			if d.Headline != tt.head || d.Mark != "m" || !strings.HasSuffix(d.Body, "b") || !strings.HasPrefix(d.Body, tt.want) {
				t.Errorf("the report is %+v", d)
			}
		})
	}
}
