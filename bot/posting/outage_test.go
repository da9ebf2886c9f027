package posting

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// gossip is who hears of places.
type gossip struct{ heard []string }

func (g *gossip) Away(_ context.Context, at bot.Address, _ error) {
	g.heard = append(g.heard, "away "+at.Place())
}
func (g *gossip) Back(_ context.Context, at bot.Address) error {
	g.heard = append(g.heard, "back "+at.Place())
	return nil
}

// shownIn is what became of a post, whatever its state.
func shownIn(t *testing.T, res agent.Result) agent.Shown {
	t.Helper()
	var s agent.Shown
	if err := json.Unmarshal([]byte(res.Text), &s); err != nil {
		t.Fatalf("%+v: %v", res, err)
	}
	return s
}

// came is the run with what became of a post.
func came(r agent.Run, p agent.Post, res agent.Result) agent.Run {
	return bottest.More(r, bottest.Posting(p), bottest.On(agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: res.State, Trust: res.Trust, Text: res.Text}))
}

var errBarred = fmt.Errorf("not_in_channel: %w", bot.ErrBarred)

// A question whose place takes nothing now is told directly, and asked in its
// place once that takes it; both lose their buttons.
func TestBarredForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, g := onStage(t), &gossip{}
		h.outages.places = g
		r := inThread(agent.RunStarted{})
		h.stage.Fails = []error{errBarred}
		first := h.call(t, r, postAsk)
		told := shownOf(t, first)
		if told.Message != "slack:T1:DU1:m1" || !told.Again.Equal(time.Now().Add(barredPause)) {
			t.Errorf("told at %+v", told)
		}
		if note := bottest.Drawn(h.stage.Posts[0].Card); !strings.Contains(note, "just now") || !strings.Contains(note, "[Approve]") || strings.Contains(note, "not_in_channel") {
			t.Errorf("the requester reads %s", note)
		}
		r = came(r, postAsk, first)
		again := agent.Post{Key: agent.KeyAgain(postAsk.Key), Kind: postAsk.Kind, About: postAsk.About}
		for tries, want := range []time.Duration{barredPause, 2 * barredPause, 4 * barredPause} {
			h.stage.Fails = []error{errBarred}
			res := h.call(t, r, again)
			if s := shownIn(t, res); res.State != agent.OutcomeError || s.Message != "" || !s.Again.Equal(time.Now().Add(want)) || s.Tries != tries+1 {
				t.Errorf("try %d: %+v", tries, s)
			}
			r = came(r, again, res)
		}
		if n := len(h.stage.Posts); n != 1 {
			t.Errorf("the requester was told %d times", n)
		}
		pass(2 * tellAgain)
		there := h.call(t, r, again)
		if s := shownOf(t, there); s.Message != "slack:T1:C1:m2" || !s.Again.IsZero() {
			t.Errorf("asked in its place: %+v", s)
		}
		if key := h.stage.Posts[1].Card.Key.Name; key != again.Key {
			t.Errorf("posted as %s", key)
		}
		r = came(r, again, there)
		r = bottest.More(r, bottest.Decided(agent.DecideApprove, ""))
		h.call(t, r, postClose)
		var closed []string
		for _, e := range h.stage.Edits {
			closed = append(closed, e.To)
		}
		if diff := cmp.Diff([]string{"slack:T1:DU1:m1", "slack:T1:C1:m2"}, closed); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"away slack:T1:C1", "back slack:T1:C1"}, g.heard); diff != "" {
			t.Error(diff)
		}
	})
}

// What stood in a thread that is gone is told directly; what was told directly
// already is not told twice.
func TestAgainWhereThePlaceIsGone(t *testing.T) {
	again := agent.Post{Key: agent.KeyAgain(postAsk.Key), Kind: postAsk.Kind, About: postAsk.About}
	for name, at := range map[string]agent.Shown{
		"in the thread": {Message: "slack:T1:C1:20", Thread: "slack:T1:C1:17.1"}, "directly": {Message: "slack:T1:DU1:5", Thread: "slack:T1:DU1:5"},
	} {
		h := onStage(t)
		r := came(inThread(agent.RunStarted{}), postAsk, agent.Result{State: agent.OutcomeOK, Text: at.Text()})
		h.stage.Fails = []error{bot.ErrGone}
		res := h.call(t, r, again)
		if direct := name == "in the thread"; (res.State == agent.OutcomeOK) != direct || len(h.stage.Posts) == 1 != direct {
			t.Errorf("%s: %+v, %d posts", name, res, len(h.stage.Posts))
		}
	}
}

// Nobody is told of a file or a report a week after its run's end.
func TestPlacesAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		h.files["/out/REPORT.md"] = "all is well"
		r := inThread(agent.RunStarted{}, bottest.On(agent.Main, agent.Reported{Headline: "done", Artifacts: agent.Texts{"out/REPORT.md"}}),
			bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))
		r.Finished = time.Now()
		h.stage.Fails = []error{errBarred}
		res := h.call(t, r, postUpload)
		if s := shownOf(t, res); s.Again.IsZero() || len(h.stage.Uploads) != 1 || s.Message != "slack:T1:DU1:file" {
			t.Errorf("the file: %+v", s)
		}
		r = came(r, postUpload, res)
		pass(giveUpAfter + time.Second)
		h.stage.Fails = []error{errBarred}
		if res := h.call(t, r, agent.Post{Key: agent.KeyAgain(postUpload.Key), Kind: postUpload.Kind, About: postUpload.About}); res.State != agent.OutcomeError || strings.Contains(res.Text, "again") {
			t.Errorf("after a week: %+v", res)
		}
		h.stage.Fails = []error{errBarred, errBarred}
		if again := h.Show(t.Context(), r); again != 0 {
			t.Errorf("its card is edited again in %s", again)
		}
	})
}
