package card

import (
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// again is a run whose goal earlier runs had, which ended like this.
func again(ends ...agent.Episode) agent.Run {
	return bottest.Told(agent.RunStarted{}, bottest.On(agent.Main, agent.Recalled{Episodes: ends}))
}

func TestTrend(t *testing.T) {
	done, failed := agent.Episode{State: agent.RunDone}, agent.Episode{State: agent.RunFailed}
	liked := agent.Episode{State: agent.RunDone, Rating: 2}
	over := bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone})
	for _, tt := range []struct {
		r    agent.Run
		want string
	}{
		{bottest.Told(agent.RunStarted{}), ""},
		{again(failed), ""},
		{again(failed, done), "Earlier runs of this goal: failed, done · 1 of 2 done"},
		{bottest.More(again(failed, liked), over), "Earlier runs of this goal: failed, done (rated +2) · with this one 2 of 3 done"},
		{bottest.More(again(failed, failed), bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed})), "Earlier runs of this goal: failed, failed · with this one 0 of 3 done"},
	} {
		if got := Trend(tt.r); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestReportLooksBack(t *testing.T) {
	r := again(agent.Episode{Run: "r1", State: agent.RunFailed}, agent.Episode{Run: "r2", State: agent.RunDone, Rating: -1}, agent.Episode{Run: "r3", State: agent.RunDone})
	bottest.Golden(t, "live-again", Live(bottest.More(r, bottest.On(agent.Main, agent.Finding{Rule: "L12", Severity: "info", Strand: agent.Main, Events: []uint64{},
		Message: "this goal failed in an earlier run (r1): “Count the lines”: the disk is full"})), bottest.TaleBegin))
	r = bottest.More(r, bottest.On(agent.Main, agent.Finding{Rule: agent.RuleCopy, Severity: "info", Strand: agent.Main, Events: []uint64{},
		Message: "the report's text is word for word that of the earlier run r2 <!channel>"}))
	bottest.Golden(t, "report-again", Report(bottest.More(r, bottest.On(agent.Main, agent.Reported{Headline: "Counted", Body: "1,200 lines"}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))))
}
