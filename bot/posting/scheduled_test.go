package posting

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// post is one of a report: it works the voice as the loop does, as often as the
// post is deferred.
func (h *heard) speak(t *testing.T, s *store, run agent.RunID) (p agent.Post, said bool) {
	t.Helper()
	for _, step := range s.fold(run).Next(agent.Voice).Steps {
		if speak, is := step.(agent.Speak); is {
			p, said = speak.Post, true
		}
	}
	if !said {
		return p, false
	}
	s.Happen(t, run, agent.Voice, p.Intent(time.Time{}))
	for deferred := range 20 {
		end := time.Now().Add(h.Deadline(p))
		result := h.Post(t.Context(), s.fold(run), p, agent.Call{Deadline: end, Deferred: deferred})
		if result.Again > 0 {
			continue
		}
		s.Happen(t, run, agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: result.State, Text: result.Text})
		var shown agent.Shown
		if result.State == agent.OutcomeOK {
			shown = s.fold(run).Shown[p.Key]
		}
		if shown.Thread != "" { // which the loop names with the outcome
			if err := s.SetValue(t.Context(), agent.ThreadName(shown.Thread), string(run)); err != nil {
				t.Fatal(err)
			}
		}
		return p, true
	}
	t.Fatalf("the post %s is tried for ever", p.Key)
	return p, false
}

// spoken makes all posts of a report.
func (h *heard) spoken(t *testing.T, s *store, run agent.RunID) (keys []string) {
	t.Helper()
	for {
		p, said := h.speak(t, s, run)
		if !said {
			return keys
		}
		keys = append(keys, p.Key)
	}
}

// store is what the runs of a test are kept in, and who commits to them.
type store struct {
	*testing.T
	*bottest.Memory
	desk *runs.Client
}

func (s *store) fold(run agent.RunID) agent.Run {
	s.Helper()
	r, err := s.desk.Load(s.Context(), run)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// reportOf is a store in which a report was asked for, whose troubles are told
// to these.
func reportOf(t *testing.T, raise ...string) (*store, agent.RunID) {
	t.Helper()
	m := bottest.NewMemory()
	s := &store{T: t, Memory: m, desk: &runs.Client{Journals: m, Authority: stageApprovers}}
	_, err := s.desk.Start(t.Context(), agent.RunStarted{Goal: "count the lines", Requester: bottest.Requester.ID, ReplyTo: bottest.Thread.String(), Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	daily := recurring.Schedule{Name: "daily", Report: recurring.OfChannel, When: "0 9 * * *", Zone: "UTC", To: "slack:T1:C1", Always: true, By: bottest.Requester.ID}
	opening, err := recurring.Reporter{Runs: s.desk, Log: slog.New(slog.DiscardHandler)}.Now(t.Context(), daily, bottest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	opening.Brief.Tick.Schedule, opening.Brief.Tick.Raise = "daily", raise
	run, err := s.desk.Begin(t.Context(), opening)
	if err != nil {
		t.Fatal(err)
	}
	return s, run
}

func TestAReportIsPosted(t *testing.T) {
	s, run := reportOf(t, "slack:U4")
	h := onStage(t)
	if keys := h.spoken(t, s, run); fmt.Sprint(keys) != "[card report]" {
		t.Errorf("posts %v", keys)
	}
	posts := h.stage.Posts
	if len(posts) != 2 || posts[0].To != "slack:T1:C1:" || posts[1].To != "slack:T1:C1:m1" {
		t.Fatalf("posted %+v", posts)
	}
	if posts[0].Card.Key.Kind != agent.PostScheduled || !strings.Contains(bot.Markdown(posts[1].Card), "Doing") {
		t.Errorf("posted %+v", posts)
	}
}

// A report in a conversation that is its own thread does not take the place of
// the run that lives there.
func TestAReportLeavesAConversationAlone(t *testing.T) {
	s, run := reportOf(t)
	h := onStage(t)
	h.open(t, &oneThread{h.stage})
	h.spoken(t, s, run)
	if at := s.Names[agent.ThreadName("slack:T1:C1:C1")]; at != "" {
		t.Errorf("%s lives in the conversation", at)
	}
	if posts := h.stage.Posts; len(posts) != 2 || posts[1].To != "slack:T1:C1:" {
		t.Errorf("posted %+v", posts)
	}
}

// oneThread is a stage whose conversations are threads of their own.
type oneThread struct{ *bottest.Stage }

func (w *oneThread) Post(ctx context.Context, to bot.Address, c bot.Card) (bot.Posted, error) {
	p, err := w.Stage.Post(ctx, to, c)
	p.Thread = to.At(to.Channel)
	return p, err
}

// A report that has no place is tried again, and then told to everybody who
// has to know, once each.
func TestUndelivered(t *testing.T) {
	gone := fmt.Errorf("%w: not_in_channel", bot.ErrGone)
	times := func(n int) (list []error) {
		for range n {
			list = append(list, gone)
		}
		return list
	}
	told := []string{"raise/0", "raise/1"}
	for _, tt := range []struct {
		name  string
		fails []error
		keys  []string
	}{
		{"for a while", times(maxScheduled), []string{"card", "report"}},
		{"for good", times(maxScheduled + 1), append([]string{"card"}, told...)},
		{"at once", []error{bottest.ErrNoReason}, append([]string{"card"}, told...)},
		{"the body", append([]error{nil}, times(maxScheduled+1)...), append([]string{"card", "report"}, told...)},
		{"and one of the people", append(times(maxScheduled+1), bottest.ErrNoReason), append([]string{"card"}, told...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, run := reportOf(t, "slack:U4", "slack:U6")
			h := onStage(t)
			h.stage.Fails = tt.fails
			if keys := h.spoken(t, s, run); fmt.Sprint(keys) != fmt.Sprint(tt.keys) {
				t.Errorf("posts %v, want %v", keys, tt.keys)
			}
			if again := h.spoken(t, s, run); len(again) != 0 {
				t.Errorf("told again: %v", again)
			}
			raised := 0
			for _, p := range h.stage.Posts {
				if strings.HasPrefix(p.Card.Key.Name, "raise/") {
					raised++
					if text := bot.Markdown(p.Card); !strings.Contains(text, "could not be posted") || !strings.Contains(text, "Needs you") || !strings.HasPrefix(p.To, "slack:T1:DU") {
						t.Errorf("told at %s:\n%s", p.To, text)
					}
				}
			}
			if want := map[string]int{"for a while": 0, "and one of the people": 1}; raised != valueOr(want, tt.name, 2) {
				t.Errorf("%d were told", raised)
			}
		})
	}
}

func valueOr(m map[string]int, key string, other int) int {
	if n, is := m[key]; is {
		return n
	}
	return other
}

// Whoever cannot be talked to is in the log; the others are told all the same.
func TestUndeliveredAndNobodyThere(t *testing.T) {
	for _, who := range []string{"discord:1", "irc:x", "slack:S1", "U4"} {
		t.Run(who, func(t *testing.T) {
			s, run := reportOf(t, who, "slack:U6")
			h := onStage(t)
			h.open(t, &bottest.Persons{Stage: h.stage})
			h.stage.Fails = []error{bottest.ErrNoReason}
			h.spoken(t, s, run)
			var told []string
			for _, p := range h.stage.Posts {
				told = append(told, p.To+" "+fmt.Sprint(p.Card.Mentions))
			}
			want := "[slack:T1:DU6: [slack:U6]]"
			if who == "U4" {
				want = "[slack:T1:DU4: [slack:U4] slack:T1:DU6: [slack:U6]]"
			}
			if fmt.Sprint(told) != want {
				t.Errorf("told %v", told)
			}
			if who != "U4" && !strings.Contains(h.log.String(), "post=raise/0") {
				t.Errorf("the log says %s", h.log)
			}
		})
	}
}

// Somebody of the report's own platform is waited for, until it is connected.
func TestUndeliveredWhileAway(t *testing.T) {
	s, run := reportOf(t, "slack:U6")
	h := onStage(t)
	h.stage.Fails = []error{bottest.ErrNoReason}
	h.speak(t, s, run)
	h.open(t, &bottest.Stage{ID: "discord"})
	p := agent.Post{Key: agent.KeyRaise(0), Kind: agent.PostScheduled, To: "slack:U6"}
	if result := h.Post(t.Context(), s.fold(run), p, agent.Call{Deadline: time.Now().Add(time.Second), Deferred: 1000}); result.Again != elsewhere {
		t.Errorf("%+v", result)
	}
}

// An answer that was lost is looked for where the post went.
func TestARaiseThatWasLostIsFound(t *testing.T) {
	s, run := reportOf(t, "slack:U6")
	h := onStage(t)
	h.stage.Fails = []error{bottest.ErrNoReason}
	h.speak(t, s, run)
	p := agent.Post{Key: agent.KeyRaise(0), Kind: agent.PostScheduled, To: "slack:U6"}
	if done, _, err := h.Find(t.Context(), s.fold(run), p, p.Intent(time.Time{})); done || err != nil {
		t.Errorf("found what was not posted: %v", err)
	}
	at := bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU6", ID: ""}
	h.stage.Found[at.String()] = bot.Posted{Message: at.At("m7"), Thread: at.At("m7")}
	if done, result, err := h.Find(t.Context(), s.fold(run), p, p.Intent(time.Time{})); !done || err != nil || !strings.Contains(result.Text, "DU6:m7") {
		t.Errorf("found %v %+v %v", done, result, err)
	}
}
