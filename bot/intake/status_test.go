package intake

import (
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// A question where a run stands is answered by a card of the run's own, which is
// kept up to date, as often as that many are worth it; an answer that nobody keeps
// up to date has no buttons.
func TestStatusIsACardOfTheRun(t *testing.T) {
	s := opened(t)
	run, _ := s.live(bottest.Approval)
	for n := range maxCards {
		a := s.hear(bottest.Requester, to("status"))
		if r := s.fold(run); len(r.Further)+len(r.Unreported) != n+1 || a.Public != nil || a.Private != "" {
			t.Fatalf("question %d: %+v, cards at %q and %q", n+1, a, r.Further, r.Unreported)
		}
	}
	a := s.hear(bottest.Requester, to("status"))
	if a.Public == nil {
		t.Fatalf("one more: %+v", a)
	}
	for _, p := range a.Public.Parts {
		if _, are := p.(bot.Buttons); are {
			t.Error("an answer that stays as it is has buttons")
		}
	}
	s.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
	if a := s.hear(bottest.Requester, to("status")); a.Public == nil {
		t.Errorf("after the end: %+v", a)
	}
}
