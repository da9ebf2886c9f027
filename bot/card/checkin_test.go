package card

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// What a check-in is not content with is one line of the card.
func TestCheckInsStandInTheCard(t *testing.T) {
	made := agent.CheckInMade{Verdict: agent.CheckInNudge, Reason: "the work goes *round* in circles",
		Ledger: &agent.Ledger{Verdict: agent.CheckInNudge, Evidence: []uint64{4}}}
	r := agent.Run{ID: "r1", Work: agent.Work{Plan: agent.Plan{Tasks: []agent.Task{{ID: "a", Title: "Count lines"}}}},
		Strands: agent.Strands{Table: agent.TableOf(map[agent.StrandID]agent.Strand{"task/a": {}})}}
	for _, e := range agent.FinishCheckIn(r, "task/a", made, "think", time.Time{}).Events {
		if e.Body.Kind() == (agent.Finding{}).Kind() && !agent.Visible(e.Body) {
			t.Error("nobody would look at the card for it")
		}
		r = r.Apply(e)
	}
	want := bot.Small{Markdown: `Looking back at “Count lines”: the work goes \*round\* in circles`}
	if parts := Live(r, time.Now()).Parts; !slices.Contains(parts, bot.Part(want)) {
		t.Errorf("the card has %+v, want %+v among them", parts, want)
	}
}

// How far a check-in saw a task, how much of the work was to the point, and
// whether the plan is still the best, are a line of the card while it works,
// also of a check-in that is content.
func TestLedgersStandInTheCard(t *testing.T) {
	check := func(l agent.Ledger) agent.Event {
		return bottest.On("task/prices", agent.CheckInMade{Ledger: &l, Verdict: agent.CheckInContinue, Progress: l.Progress})
	}
	r := bottest.More(bottest.AtWork(agent.RunStarted{Slots: 4}), check(agent.Ledger{Progress: 0.25, Relevance: 1, PlanStillBest: true}))
	at := format.Moment(r.Last)
	for _, step := range []struct {
		r    agent.Run
		want string
	}{
		{r, "“Look up prices” is about 25 % done, by its own estimate · " + at},
		{bottest.More(r, check(agent.Ledger{Progress: 0.5, Relevance: 0.4, Looping: true})),
			"“Look up prices” is about 50 % done, by its own estimate · "},
		{bottest.More(r, bottest.On("task/prices", agent.CheckInMade{Missed: "no model", Verdict: agent.CheckInContinue})), ""},
		{bottest.More(r, bottest.Ends("prices", agent.TaskDone, "found")), ""},
	} {
		var got []string
		for _, p := range Live(step.r, bottest.TaleBegin).Parts {
			if s, is := p.(bot.Small); is && strings.Contains(s.Markdown, "own estimate") {
				got = append(got, bottest.Named(s.Markdown))
			}
		}
		if step.want == "" && len(got) > 0 || step.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], step.want)) {
			t.Errorf("the card has %q, want %q", got, step.want)
		}
	}
}
