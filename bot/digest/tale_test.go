package digest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// digestNoon is when the reports of these tests are made: on a Tuesday.
var digestNoon = time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)

// ago is that long before the report.
func ago(d time.Duration) time.Time { return digestNoon.Add(-d) }

// lived is a run that began at the time and in which this happened, each a
// minute after the other.
func lived(id agent.RunID, begin time.Time, brief agent.RunStarted, happened ...agent.Event) agent.Run {
	if brief.Requester == "" {
		brief.Requester = "slack:U1"
	}
	if brief.ReplyTo == "" {
		brief.ReplyTo = "slack:T1:C1:17.1"
	}
	r := agent.Run{}.Apply(agent.Event{Run: id, Strand: agent.Main, Seq: 1, At: begin, Body: brief})
	return after(r, time.Minute, happened...)
}

// after is the run after this happened, each that long after what was before.
func after(r agent.Run, pause time.Duration, happened ...agent.Event) agent.Run {
	for _, e := range happened {
		if c, is := e.Body.(agent.CheckpointOpened); is && c.ID == "" {
			c.ID = agent.CheckpointID(string(r.ID) + "-" + string(c.Ask))
			e.Body = c
		}
		e.Run, e.Seq, e.At = r.ID, r.Seq+1, r.Last.Add(pause)
		r = r.Apply(e)
	}
	return r
}

// paid is a model call of the main strand; nil is an unknown price.
func paid(n int, cost *agent.Nano) []agent.Event {
	id := fmt.Sprint("main.", n)
	return []agent.Event{
		bottest.On(agent.Main, agent.ModelAsked{Call: id, Purpose: llm.Intake}),
		bottest.On(agent.Main, agent.ModelAnswered{Call: id, Purpose: llm.Intake, Prompt: 1000 * n, Completion: 50, Cost: cost,
			Message: &llm.Message{Role: "assistant"}}),
	}
}

func cents(n int) *agent.Nano {
	amount := agent.Nano(n) * agent.Dollar / 100
	return &amount
}

// closing is a report and the end.
func closing(headline string, state agent.RunState, reason string) []agent.Event {
	return []agent.Event{bottest.On(agent.Main, agent.Reported{Headline: headline, Body: headline}), bottest.On(agent.Main, agent.RunEnded{State: state, Reason: reason})}
}

// finished is a run that ended so long before the report.
func finished(id agent.RunID, end time.Duration, goal string, cost *agent.Nano, last []agent.Event) agent.Run {
	r := lived(id, ago(end+30*time.Minute), agent.RunStarted{Goal: goal}, paid(1, cost)...)
	return after(r, 14*time.Minute, last...)
}

var bigPlan = agent.PlanAccepted{Plan: agent.Plan{Name: "Move", Tasks: []agent.Task{
	{ID: "a", Title: "List the servers"}, {ID: "b", Title: "Copy the data"}, {ID: "c", Title: "Compare"}, {ID: "d", Title: "Switch", Deliverable: true},
}}}

// moving is a run at work with one of four tasks done and one failed.
func moving(id agent.RunID, brief agent.RunStarted) agent.Run {
	brief.Goal, brief.Slots = "Move the database", 4
	r := lived(id, ago(6*time.Hour), brief, paid(1, cents(12))...)
	r = after(r, 30*time.Minute, bottest.On(agent.Main, bigPlan), bottest.Starts("a"), bottest.Ends("a", agent.TaskDone, "3 servers"), bottest.Starts("b"), bottest.Ends("b", agent.TaskFailed, "no rights"), bottest.Starts("c"))
	return after(r, ago(5*time.Minute).Sub(r.Last), bottest.Thinks("task/c", 1, llm.Work))
}

// pausedRun is a run that a person paused two hours ago.
func pausedRun(id agent.RunID) agent.Run {
	r := lived(id, ago(3*time.Hour), agent.RunStarted{Goal: "Tidy the wiki"})
	return after(r, time.Hour, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U5"}))
}

// asking is a run that asks.
func asking(id agent.RunID, asked time.Duration, goal string, c agent.CheckpointOpened) agent.Run {
	r := lived(id, ago(asked+time.Hour), agent.RunStarted{Goal: goal}, paid(1, cents(3))...)
	if !c.Expires.IsZero() {
		c.Expires = ago(asked - 24*time.Hour)
	}
	return after(r, ago(asked).Sub(r.Last), bottest.On(agent.Main, c))
}

// stuckBeside is a run that is stuck in one task while another is worked.
func stuckBeside(id agent.RunID) agent.Run {
	r := lived(id, ago(time.Hour), agent.RunStarted{Goal: "Survey the prices", Slots: 4}, bottest.On(agent.Main, bottest.TalePlan), bottest.Starts("count"), bottest.Starts("prices"))
	return after(r, time.Minute, bottest.Thinks("task/prices", 1, llm.Work), bottest.On("task/count", bottest.AskStuck))
}

// digestApprovers are who decides in these tests.
var digestApprovers = authority.Authority{Operators: []string{"slack:U7"}, Approvers: []string{"U5", "discord:6", "slack:S2"}}

// yesterday is the period of a daily report.
var yesterday = Period{Since: ago(24 * time.Hour), Until: digestNoon}

// goldenDigest compares a report with its file.
func goldenDigest(t *testing.T, name string, d Digest) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "headline %s\nempty %t\n", d.Headline, d.Empty)
	if c := d.Chart; c != nil {
		fmt.Fprintf(&b, "%s chart %q: %s\n  x %q, y %q\n", c.Kind, c.Title, c.Text, c.XLabel, c.YLabel)
		for i, l := range c.Labels {
			fmt.Fprintf(&b, "  %s %g\n", l, c.Values[i])
		}
	}
	bottest.GoldenText(t, filepath.Join("testdata", "digest", name+".txt"), b.String()+"\n"+bottest.Named(d.Body)+"\n")
}
