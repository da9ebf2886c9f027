package posting

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// onCard is a run at work whose card is shown.
func onCard(happened ...agent.Event) agent.Run {
	r := bottest.More(bottest.AtWork(agent.RunStarted{Slots: 4}), bottest.Posting(postCard), bottest.ShownAs("card", "slack:T1:C1:17.2"))
	return bottest.More(r, happened...)
}

// look is one Show: what it said, and how many edits there are now.
type look struct {
	Again time.Duration
	Edits int
}

func (h *heard) look(t *testing.T, r agent.Run) look {
	t.Helper()
	return look{h.Show(t.Context(), r), len(h.stage.Edits)}
}

// waits moves the clock of a synctest bubble.
func pass(d time.Duration) { <-time.After(d) }

func expect(t *testing.T, what string, got, want look) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestEditsAreFewAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		r := onCard()
		expect(t, "an unknown card", h.look(t, r), look{heartbeat, 1})
		expect(t, "nothing new", h.look(t, r), look{heartbeat, 1})
		pass(time.Second)
		done := bottest.More(r, bottest.Ends("prices", agent.TaskDone, "found"))
		expect(t, "a change too soon", h.look(t, done), look{2 * time.Second, 1})
		pass(2 * time.Second)
		expect(t, "a change", h.look(t, done), look{heartbeat, 2})
		pass(59 * time.Second)
		expect(t, "before the heartbeat", h.look(t, done), look{time.Second, 2})
		pass(time.Second)
		expect(t, "the heartbeat", h.look(t, done), look{heartbeat, 3})
		if got := h.turns.Taken; got[0].Leave != forClosings || got[2].Leave != 5 || got[2].Book {
			t.Errorf("turns %+v", got)
		}
		if e := h.stage.Edits[0]; e.To != "slack:T1:C1:17.2" || len(e.Card.Mentions) > 0 || e.Card.Key.Name != "card" {
			t.Errorf("edited %s as %+v", e.To, e.Card)
		}
	})
}

// Spending alone is left to the heartbeat: a platform's edits are for all runs.
func TestSpendingIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		r := onCard()
		h.look(t, r)
		pass(time.Minute / 2)
		cost := agent.Dollar / 100
		spent := bottest.More(r, bottest.On("task/prices", agent.ModelAnswered{Call: "task/prices.1", Purpose: llm.Work, Cost: &cost, Problem: "empty"}),
			bottest.Thinks("task/prices", 2, llm.Work))
		expect(t, "more spent", h.look(t, spent), look{heartbeat / 2, 1})
		pass(time.Minute / 2)
		expect(t, "the heartbeat", h.look(t, spent), look{heartbeat, 2})
		if !strings.Contains(bottest.Drawn(h.stage.Edits[1].Card), "$0.03") {
			t.Errorf("shown: %s", bottest.Drawn(h.stage.Edits[1].Card))
		}
	})
}

// The first post is what the card shows: no edit has to follow it.
func TestThePostedCardIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		r := bottest.AtWork(agent.RunStarted{Slots: 4})
		h.call(t, r, postCard)
		expect(t, "right after the post", h.look(t, onCard()), look{heartbeat, 0})
	})
}

func TestNoHeartbeatWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		r := inThread(agent.RunStarted{})
		r.Brief.Quorum = 2
		expect(t, "waiting", h.look(t, r), look{0, 1})
		pass(time.Hour)
		expect(t, "still waiting", h.look(t, r), look{0, 1})
		busy := onCard(bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"}))
		h.call(t, busy, postCard)
		expect(t, "paused while a model answers", h.look(t, busy), look{heartbeat, 1})
	})
}

// What somebody else did meanwhile may be on the screen: while a run rests,
// nothing is taken to be there that was shown before.
func TestOthersEditToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		r := inThread(agent.RunStarted{})
		h.look(t, r)
		pass(time.Hour)
		r = bottest.More(r, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"}), bottest.On(agent.Main, agent.RunControlled{Word: agent.WordResume, By: "slack:U1"}))
		expect(t, "paused and resumed", h.look(t, r), look{0, 2})
	})
}

func TestTheLastEditIsBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		r := onCard()
		h.look(t, r)
		pass(time.Minute)
		over := bottest.More(r, bottest.On(agent.Main, agent.Reported{Headline: "done"}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))
		h.turns.Waits = []time.Duration{10 * time.Second}
		expect(t, "a turn is booked", h.look(t, over), look{10 * time.Second, 1})
		pass(4 * time.Second)
		expect(t, "woken before it", h.look(t, over), look{6 * time.Second, 1})
		pass(6 * time.Second)
		expect(t, "its turn", h.look(t, over), look{0, 2})
		if n := len(h.turns.Taken); n != 2 || !h.turns.Taken[1].Book {
			t.Errorf("turns %+v", h.turns.Taken)
		}
		if len(h.cards) > 0 {
			t.Error("the run is still remembered")
		}
		if got := bottest.Drawn(h.stage.Edits[1].Card); !strings.Contains(got, "**Done**") || strings.Contains(got, "[") {
			t.Errorf("shown: %s", got)
		}
	})
}

func TestTurnsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		h.turns.Waits = []time.Duration{10 * time.Second}
		expect(t, "no turn", h.look(t, onCard()), look{10 * time.Second, 0})
		expect(t, "a turn", h.look(t, onCard()), look{heartbeat, 1})
		h.turns.Err = bottest.ErrNoReason
		pass(time.Hour)
		expect(t, "no pace", h.look(t, onCard()), look{time.Second, 1})
	})
}

func TestTroubleWithEdits(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		then []look // one a look, with enough time in between
	}{
		{"busy", &bot.BusyError{After: 20 * time.Second}, []look{{20 * time.Second, 0}, {heartbeat, 1}}},
		{"lost", bot.ErrLost, []look{{cardEvery, 0}, {heartbeat, 1}}},
		{"gone", bot.ErrGone, []look{{0, 0}, {0, 0}}},
		{"barred", bot.ErrBarred, []look{{barredPause, 0}, {heartbeat, 1}}},
		{"refused", bot.ErrRefused, []look{{time.Second, 0}, {heartbeat, 1}}},
		{"refused for good", bottest.ErrNoReason, []look{{heartbeat, 0}, {heartbeat, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := onStage(t)
				h.stage.Fails = []error{tt.err}
				for i, want := range tt.then {
					expect(t, "look "+strconv.Itoa(i), h.look(t, onCard()), want)
					pass(heartbeat)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		h.stage.Fails = []error{bot.ErrRefused, bot.ErrRefused, bot.ErrRefused}
		for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, heartbeat} {
			if again := h.Show(t.Context(), onCard()); again != want {
				t.Errorf("again in %s, want %s", again, want)
			}
			pass(heartbeat)
		}
	})
}

// Votes are shown where the question stands.
func TestVotesAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		r := inThread(agent.RunStarted{Quorum: 3}, bottest.Posting(postAsk), bottest.ShownAs(postAsk.Key, "slack:T1:C1:20"))
		h.look(t, r)
		pass(time.Minute)
		for i, by := range []string{"slack:U5", "slack:U6"} {
			r = bottest.More(r, bottest.On(agent.Main, agent.CheckpointVoted{ID: bottest.TaleRun + "-q", Decision: agent.DecideApprove, By: by}))
			h.look(t, r)
			pass(time.Minute)
			h.look(t, r)
			last := h.stage.Edits[len(h.stage.Edits)-1]
			if got := bottest.Drawn(last.Card); last.To != "slack:T1:C1:20" || len(last.Card.Mentions) > 0 || !strings.Contains(got, strconv.Itoa(i+1)+" of 3 approvals") {
				t.Errorf("edited %s: %s", last.To, got)
			}
		}
	})
}

func TestDisplaysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		for i := range maxDisplays + 10 {
			pass(time.Millisecond)
			h.display(agent.RunID(strconv.Itoa(i)))
		}
		_, oldest := h.cards["9"]
		_, next := h.cards["10"]
		if len(h.cards) != maxDisplays || oldest || !next {
			t.Errorf("%d are kept; the oldest %v, the next %v", len(h.cards), oldest, next)
		}
	})
}

// linked is a stage whose messages have addresses for browsers.
type linked struct{ *bottest.Stage }

// Link is the address with what it is of behind it.
func (linked) Link(message bot.Address) string { return "https://chat.example/" + message.ID }

// A card that stands away from the run's questions says where and how to decide.
func TestAWatchedCardSaysWhereToDecide(t *testing.T) {
	h := onStage(t)
	r := onCard(bottest.On(agent.Main, agent.RunWatched{Where: "slack:T1:C2:18.1", By: "slack:U1"}),
		bottest.ShownAs(agent.KeyWatch(0, agent.KeyCard), "slack:T1:C2:18.2"), bottest.AsksFor("task/count", bottest.AskApproval))
	ask := agent.KeyAsk(bottest.TheCheck(r).ID)
	r = bottest.More(r, bottest.Posting(agent.Post{Key: ask, Kind: agent.PostCheckpoint}), bottest.ShownAs(ask, "slack:T1:C1:17.3"))
	for name, tt := range map[string]struct {
		platform bot.Platform
		want     string
	}{"with links": {linked{h.stage}, "[in the thread of the run](https://chat.example/17.3)"}, "without": {h.stage, "in the thread of the run."}} {
		h.open(t, tt.platform)
		text := bot.Markdown(h.live(r, agent.KeyWatch(0, agent.KeyCard), bottest.TaleBegin))
		if !strings.Contains(text, "**To decide**") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %s", name, text)
		}
		if own := bot.Markdown(h.live(r, agent.KeyCard, bottest.TaleBegin)); strings.Contains(own, "To decide") {
			t.Errorf("%s: the card beside the question says so, too: %s", name, own)
		}
	}
}
