package posting

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

func (h *heard) said(t *testing.T, what string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, h.stage.Status); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
	h.stage.Status = nil
}

func TestSessionsAreKeptUpToDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		h.stage.Fades = time.Second
		working := onCard()
		waiting := bottest.More(working, bottest.AsksFor(agent.Main, bottest.AskApproval))
		for _, r := range []agent.Run{working, working, waiting, waiting, working} {
			h.look(t, r)
		}
		h.said(t, "as it changes", "17.1=working Survey", "17.1=asking", "17.1=working")
		pass(heartbeat)
		h.look(t, working)
		h.said(t, "what the platform forgets", "17.1=working")
		h.look(t, bottest.More(working, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"})))
		h.look(t, bottest.More(working, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: "no money"})))
		over := bottest.More(working, bottest.On(agent.Main, agent.Reported{Headline: "done"}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed}))
		h.look(t, over)
		h.said(t, "to its end", "17.1=idle", "17.1=asking", "17.1=over")
	})
}

// A status that stays at "working" keeps people waiting: what did not get
// through is said again, with growing pauses, and after a restart.
func TestSessionsAreNotLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		working := onCard()
		h.look(t, working)
		over := bottest.More(working, bottest.On(agent.Main, agent.Reported{Headline: "done"}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))
		h.stage.Status = nil
		h.stage.Unshown = []error{bot.ErrLost, &bot.BusyError{After: 20 * time.Second}, bot.ErrRefused}
		pass(cardEvery)
		for i, wait := range []time.Duration{time.Second, 20 * time.Second, 4 * time.Second, 0} {
			if again := h.Show(t.Context(), over); again != wait {
				t.Errorf("look %d: again in %s, want %s", i, again, wait)
			}
			pass(wait)
		}
		h.said(t, "until it got through", "17.1=over", "17.1=over Survey", "17.1=over Survey", "17.1=over Survey")
		h.open(t, h.stage)
		h.look(t, over)
		h.said(t, "after a restart", "17.1=over Survey")
		h.stage.Unshown = []error{bot.ErrGone}
		h.open(t, h.stage)
		if again := h.Show(t.Context(), over); again != 0 {
			t.Errorf("the thread is gone: again in %s", again)
		}
	})
}

// A thread that another run lives in by now is that one's.
func TestAThreadIsItsNewestRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		over := onCard(bottest.On(agent.Main, agent.Reported{Headline: "done"}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))
		name := agent.ThreadName(over.Thread())
		h.lives[name] = "anotherrun"
		h.look(t, over)
		h.said(t, "another run's")
		h.lives[name] = ""
		h.open(t, h.stage)
		if again := h.Show(t.Context(), over); again != time.Second {
			t.Errorf("the store does not answer: again in %s", again)
		}
		h.lives[name] = string(over.ID)
		pass(time.Second)
		h.look(t, over)
		h.said(t, "its own", "17.1=over Survey")
	})
}

func TestSessionOfAnAnswerIsOpen(t *testing.T) {
	for _, c := range []struct {
		run  agent.Run
		want bot.SessionStatus
	}{
		{bottest.Told(agent.RunStarted{}, bottest.On(agent.Main, agent.Reported{Headline: "42"}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone})), bot.SessionIdle},
		{bottest.Told(agent.RunStarted{}), bot.SessionWorking},
	} {
		if s := bot.SessionOf(c.run); s.Status != c.want || s.Title == "" {
			t.Errorf("%+v, want %s", s, c.want)
		}
	}
}
