package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// post is one of a report: it works the voice as the loop does, as often as the
// post is deferred.
func (h *heard) speak(t *testing.T, s *room, run agent.RunID) (p agent.Post, said bool) {
	t.Helper()
	for _, step := range s.fold(run).Next(agent.Voice).Steps {
		if speak, is := step.(agent.Speak); is {
			p, said = speak.Post, true
		}
	}
	if !said {
		return p, false
	}
	s.happen(t, run, agent.Voice, p.Intent(time.Time{}))
	for deferred := range 20 {
		end := time.Now().Add(h.Deadline(p))
		result := h.Post(t.Context(), s.fold(run), p, agent.Call{Deadline: end, Deferred: deferred})
		if result.Again > 0 {
			continue
		}
		s.happen(t, run, agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: result.State, Text: result.Text})
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
func (h *heard) spoken(t *testing.T, s *room, run agent.RunID) (keys []string) {
	t.Helper()
	for {
		p, said := h.speak(t, s, run)
		if !said {
			return keys
		}
		keys = append(keys, p.Key)
	}
}

// reportOf is a room in which a report was asked for, whose troubles are told
// to these.
func reportOf(t *testing.T, raise ...string) (*room, agent.RunID) {
	t.Helper()
	s := scheduler(t)
	s.live()
	s.desk.Authority.Admins = nil
	opening, err := s.chat.cfg.Reporter.now(t.Context(), daily(), noon)
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
	posts := h.stage.posts
	if len(posts) != 2 || posts[0].to != "slack:T1:C1:" || posts[1].to != "slack:T1:C1:m1" {
		t.Fatalf("posted %+v", posts)
	}
	if posts[0].card.Key.Kind != agent.PostScheduled || !strings.Contains(Markdown(posts[1].card), "Doing") {
		t.Errorf("posted %+v", posts)
	}
}

// What is said under a report begins a run that knows it.
func TestAReplyUnderAReport(t *testing.T) {
	for _, tt := range []struct {
		name  string
		say   Said
		where string
		runs  bool
	}{
		{"a mention in its thread", to("and who is late?"), "m1", true},
		{"words to others in its thread", say("thanks all"), "m1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, run := reportOf(t)
			h := onStage(t)
			h.spoken(t, s, run)
			in := s.event(stranger, tt.say)
			in.Where, in.Message = channel.At(tt.where), channel.At("m9")
			a := s.hears(in)
			if a.Started != tt.runs {
				t.Fatalf("answer %+v", a)
			}
			if !tt.runs {
				return
			}
			r := s.fold(a.Run)
			knows := fmt.Sprint(r.Said)
			if r.Brief.ReplyTo != "slack:T1:C1:m1" || !strings.Contains(knows, "count the lines") || !strings.Contains(knows, "Needs you") || !strings.Contains(knows, string(run)) {
				t.Errorf("it answers at %s and knows\n%s", r.Brief.ReplyTo, knows)
			}
			for _, said := range r.Said {
				if said.Trusted {
					t.Errorf("the report is trusted: %+v", said)
				}
			}
		})
	}
}

// A report in a conversation that is its own thread does not take the place of
// the run that lives there.
func TestAReportLeavesAConversationAlone(t *testing.T) {
	s, run := reportOf(t)
	h := onStage(t)
	h.open(t, &oneThread{h.stage})
	h.spoken(t, s, run)
	if at := s.names[agent.ThreadName("slack:T1:C1:C1")]; at != "" {
		t.Errorf("%s lives in the conversation", at)
	}
	if posts := h.stage.posts; len(posts) != 2 || posts[1].to != "slack:T1:C1:" {
		t.Errorf("posted %+v", posts)
	}
}

// oneThread is a stage whose conversations are threads of their own.
type oneThread struct{ *stage }

func (w *oneThread) Post(ctx context.Context, to Address, c Card) (Posted, error) {
	p, err := w.stage.Post(ctx, to, c)
	p.Thread = to.At(to.Channel)
	return p, err
}

// A report that has no place is tried again, and then told to everybody who
// has to know, once each.
func TestUndelivered(t *testing.T) {
	gone := fmt.Errorf("%w: not_in_channel", ErrGone)
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
		{"at once", []error{errNoReason}, append([]string{"card"}, told...)},
		{"the body", append([]error{nil}, times(maxScheduled+1)...), append([]string{"card", "report"}, told...)},
		{"and one of the people", append(times(maxScheduled+1), errNoReason), append([]string{"card"}, told...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, run := reportOf(t, "slack:U4", "slack:U6")
			h := onStage(t)
			h.stage.fails = tt.fails
			if keys := h.spoken(t, s, run); fmt.Sprint(keys) != fmt.Sprint(tt.keys) {
				t.Errorf("posts %v, want %v", keys, tt.keys)
			}
			if again := h.spoken(t, s, run); len(again) != 0 {
				t.Errorf("told again: %v", again)
			}
			raised := 0
			for _, p := range h.stage.posts {
				if strings.HasPrefix(p.card.Key.Name, keyRaise) {
					raised++
					if text := Markdown(p.card); !strings.Contains(text, "could not be posted") || !strings.Contains(text, "Needs you") || !strings.HasPrefix(p.to, "slack:T1:DU") {
						t.Errorf("told at %s:\n%s", p.to, text)
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
			h.open(t, &persons{h.stage})
			h.stage.fails = []error{errNoReason}
			h.spoken(t, s, run)
			var told []string
			for _, p := range h.stage.posts {
				told = append(told, p.to+" "+fmt.Sprint(p.card.Mentions))
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

// persons is a stage where groups cannot be talked to.
type persons struct{ *stage }

func (p *persons) Direct(ctx context.Context, who string) (Address, error) {
	if strings.HasPrefix(who, "slack:S") {
		return Address{}, fmt.Errorf("%s is no person: %w", who, ErrGone)
	}
	return p.stage.Direct(ctx, who)
}

// Somebody of the report's own platform is waited for, until it is connected.
func TestUndeliveredWhileAway(t *testing.T) {
	s, run := reportOf(t, "slack:U6")
	h := onStage(t)
	h.stage.fails = []error{errNoReason}
	h.speak(t, s, run)
	h.open(t, &stage{name: "discord"})
	p := agent.Post{Key: keyRaise + "0", Kind: agent.PostScheduled, To: "slack:U6"}
	if result := h.Post(t.Context(), s.fold(run), p, agent.Call{Deadline: time.Now().Add(time.Second), Deferred: 1000}); result.Again != elsewhere {
		t.Errorf("%+v", result)
	}
}

// An answer that was lost is looked for where the post went.
func TestARaiseThatWasLostIsFound(t *testing.T) {
	s, run := reportOf(t, "slack:U6")
	h := onStage(t)
	h.stage.fails = []error{errNoReason}
	h.speak(t, s, run)
	p := agent.Post{Key: keyRaise + "0", Kind: agent.PostScheduled, To: "slack:U6"}
	if done, _, err := h.Find(t.Context(), s.fold(run), p, p.Intent(time.Time{})); done || err != nil {
		t.Errorf("found what was not posted: %v", err)
	}
	at := Address{"slack", "T1", "DU6", ""}
	h.stage.found[at.String()] = Posted{Message: at.At("m7"), Thread: at.At("m7")}
	if done, result, err := h.Find(t.Context(), s.fold(run), p, p.Intent(time.Time{})); !done || err != nil || !strings.Contains(result.Text, "DU6:m7") {
		t.Errorf("found %v %+v %v", done, result, err)
	}
}

// Each administrator is told once, however many processes find the trouble.
func TestAlert(t *testing.T) {
	s := scheduler(t)
	s.desk.Authority.Admins = []string{"slack:U4", "slack:S1", "discord:1", "U5", "irc:x", "slack:U6"}
	stage := &persons{&stage{name: "slack", direct: Address{"slack", "T1", "D", "whole"}, found: map[string]Posted{}}}
	s.chat.Join(stage)
	other := NewChat(s.chat.cfg)
	other.Join(stage)
	for _, c := range []*Chat{s.chat, other, s.chat} {
		c.Alert(t.Context(), Alert{ID: "a", Kind: "schedule", Text: "The schedule `daily` was due."})
	}
	var told []string
	for _, run := range s.order {
		r := s.fold(run)
		told = append(told, r.Brief.ReplyTo)
		if !r.Scheduled() || !r.Brief.Direct || r.Report == nil || !strings.Contains(r.Report.Body, "`daily`") {
			t.Errorf("the alert is %+v", r.Brief)
		}
	}
	if fmt.Sprint(told) != "[slack:T1:DU4: slack:T1:DU5: slack:T1:DU6:]" {
		t.Errorf("told %v", told)
	}
	for _, who := range []string{"slack:S1", "discord:1", "irc:x"} {
		if !strings.Contains(s.log.String(), "who="+who) {
			t.Errorf("nothing is said of %s", who)
		}
	}
	for name := range s.names {
		if strings.HasPrefix(name, agent.ThreadName("")) {
			t.Errorf("an alert lives in %s", name)
		}
	}
	s.chat.Alert(t.Context(), Alert{ID: "b", Kind: "schedule", Text: "Another one."})
	if len(s.order) != 6 {
		t.Errorf("%d alerts", len(s.order))
	}
	s.down = errors.New("no route to host")
	s.chat.Alert(t.Context(), Alert{ID: "c"})
	if !strings.Contains(s.log.String(), "no route to host") {
		t.Error("an alert that nobody got is not in the log")
	}
}
