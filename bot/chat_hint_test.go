package bot

import (
	"errors"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestHints(t *testing.T) {
	for text, hint := range map[string]bool{
		"use the other file": true, "other.csv": true, "No, look into src": true, "stop counting": true, "ja": true, "  why? ": true,
		"yes": false, "OK!": false, "n": false, "approve": false, "deny": false, "3": false, "": false, "?": false,
		"cancle": false, "tri again": false, "finish with what you have": false,
	} {
		d, err := ReadHint(theStuck(), text, "slack:U1")
		if is := err == nil; is != hint || (err != nil && !errors.Is(err, ErrNotAnAnswer)) || (hint && (d.Decision != agent.DecideRetry || d.Text == "")) {
			t.Errorf("%q is read as %+v, %v", text, d, err)
		}
	}
	for _, c := range []agent.CheckpointOpened{approval, planned, budget, clarify, uncertain} {
		var j agent.Run
		r := j.Apply(agent.Event{Strand: agent.Main, Seq: 1, Body: c})
		if d, err := ReadHint(r.Checks[c.ID], "use the other file", "slack:U1"); err == nil {
			t.Errorf("a hint under %s is %+v", c.Ask, d)
		}
	}
}

func theStuck() agent.Checkpoint {
	var r agent.Run
	return r.Apply(agent.Event{Strand: agent.Main, Seq: 1, Body: stuck}).Checks[stuck.ID]
}
