package intake

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

func TestHints(t *testing.T) {
	for text, hint := range map[string]bool{
		"use the other file": true, "other.csv": true, "No, look into src": true, "stop counting": true, "ja": true, "  why? ": true,
		"yes": false, "OK!": false, "n": false, "approve": false, "deny": false, "3": false, "": false, "?": false,
		"cancle": false, "tri again": false, "finish with what you have": false,
	} {
		d, err := runs.ReadHint(theStuck(), text, "slack:U1")
		if is := err == nil; is != hint || (err != nil && !errors.Is(err, bot.ErrNotAnAnswer)) || (hint && (d.Decision != agent.DecideRetry || d.Text == "")) {
			t.Errorf("%q is read as %+v, %v", text, d, err)
		}
	}
	for _, c := range []agent.CheckpointOpened{bottest.Approval, bottest.Planned, bottest.Budget, bottest.Clarify, bottest.Uncertain} {
		var j agent.Run
		r := j.Apply(agent.Event{Strand: agent.Main, Seq: 1, Body: c})
		if d, err := runs.ReadHint(r.Checks[c.ID], "use the other file", "slack:U1"); err == nil {
			t.Errorf("a hint under %s is %+v", c.Ask, d)
		}
	}
}

func theStuck() agent.Checkpoint {
	var r agent.Run
	return r.Apply(agent.Event{Strand: agent.Main, Seq: 1, Body: bottest.Stuck}).Checks[bottest.Stuck.ID]
}

// A file is a hint, too, with and without words: both come into the journal at
// once, and the first of two messages decides.
func TestAFileIsAHint(t *testing.T) {
	for _, text := range []string{"", "use this one"} {
		s := opened(t)
		run, _ := s.live(bottest.Stuck)
		before := len(s.Journals[run])
		file := agent.Attachment{ID: "F1", Name: "other.csv"}
		s.hear(bottest.Stranger, bot.Said{Text: "mine", Files: []agent.Attachment{file}})
		if r := s.fold(run); r.OpenCheckpoint() == nil || len(r.Files) > 0 {
			t.Fatalf("a stranger's file is a hint: %+v", r.Files)
		}
		a := s.hear(bottest.Requester, bot.Said{Text: text, Files: []agent.Attachment{file}})
		s.hear(bottest.Requester, bot.Said{Text: "and later: this", Files: []agent.Attachment{file}})
		id := s.fold(run).Asked[0]
		want := []agent.Body{
			agent.PersonSaid{By: bottest.Requester.ID, Text: text, Trusted: true, Files: []agent.Attachment{file}},
			agent.CheckpointDecided{ID: id, Decision: agent.DecideRetry, By: bottest.Requester.ID},
			agent.PersonSaid{By: bottest.Requester.ID, Text: "and later: this", Trusted: true, Files: []agent.Attachment{file}},
		}
		if diff := cmp.Diff(want, s.events(run, before)[1:], cmpopts.IgnoreFields(agent.PersonSaid{}, "Message")); diff != "" || a.Mark != bot.MarkNoted {
			t.Errorf("%q: %+v\n%s", text, a, diff)
		}
	}
}
