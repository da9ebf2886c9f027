package loop_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// idler is a model whose work is the calls in turn, and then the end.
func idler(calls ...llm.Message) scripted {
	plain := noter("note")
	return func(r llm.Request) llm.Message {
		switch {
		case r.Purpose == llm.Intake:
			return call("submit_plan", map[string]any{"name": "Notes", "tasks": []map[string]any{
				task("a", "note", nil), task("b", "note", map[string]any{"depends_on": []string{"a"}})}})
		case r.Purpose == llm.Work && r.Task == "a" && turns(r) < len(calls):
			return calls[turns(r)]
		}
		return plain(r)
	}
}

// What a status says is what the journal up to it says.
func TestStatusIsWhatTheStoreHas(t *testing.T) {
	again := call("note", map[string]any{"text": "again"})
	h := open(t, idler(call("note", map[string]any{"text": "one"}), call("nothing_like_it", nil), again,
		call(agent.CallStatus, map[string]any{}), call(agent.CallNothing, map[string]any{"reason": "so"})),
		nil, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Limits: agent.Limits{Steps: 20, Tokens: 100_000}})
	if r := h.ended(run); r.Ended.State != agent.RunDone {
		t.Fatalf("ended %+v", r.Ended)
	}
	events, err := h.store.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	var r agent.Run
	said, idle := "", false
	for _, e := range events {
		if b, is := e.Body.(agent.CallReplied); is && strings.HasPrefix(b.Text, "Where things stand") {
			said = b.Text
			break
		}
		r = r.Apply(e)
	}
	for _, e := range events {
		if b, is := e.Body.(agent.CallReplied); is && b.Text == "Nothing was done." {
			idle = true
		}
	}
	_, data, framed := strings.Cut(said, "trust=untrusted\n")
	data, _, _ = strings.Cut(data, "\nDECKHAND-RESULT")
	var got prompt.Standing
	if err := json.Unmarshal([]byte(data), &got); err != nil || !framed || !idle {
		t.Fatalf("status said %q (%v); nothing was done: %v", said, err, idle)
	}
	want := prompt.StandingOf(r, "a")
	if want.Left.Steps == nil || *want.Left.Steps != 20-int64(r.Spent.Calls) || len(want.Calls) != 2 || len(want.Tasks) != 2 || want.Missing[0] != "out_a" {
		t.Errorf("the fold stands at %+v", want)
	}
	want.More = nil // an empty one is not written
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status differs from the store:\n%s", diff)
	}
	if diff := cmp.Diff([]prompt.CallCount{{Name: "note", Times: 2}, {Name: "nothing_like_it", Times: 1, Errors: 1}}, got.Calls); diff != "" {
		t.Errorf("the calls differ:\n%s", diff)
	}
}

// Doing nothing, for whatever reason, ends as any other loop does.
func TestDoingNothingIsALoop(t *testing.T) {
	for _, function := range []string{agent.CallNothing, agent.CallStatus} {
		asked := 0
		h := open(t, scripted(func(r llm.Request) llm.Message {
			if r.Purpose == llm.Work {
				asked++
				return call(function, map[string]any{"reason": strings.Repeat("z", asked)})
			}
			return noter("note", task("a", "note", nil))(r)
		}), nil, newNote("note", agent.ClassRead, agent.RepeatRead))
		run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
		r := h.until(run, "a person is asked", func(r agent.Run) bool { return r.OpenCheckpoint() != nil })
		if c := r.OpenCheckpoint(); c.Ask != agent.CheckStuck || asked > 5 {
			t.Errorf("%s: after %d calls %+v", function, asked, c)
		}
		rules := map[string]bool{}
		for _, f := range r.Findings {
			rules[f.Rule+" "+f.Severity] = true
		}
		if !rules["L1 nudge"] || !rules["L3 stop"] || !rules["L9 check-in"] {
			t.Errorf("%s: found %+v", function, r.Findings)
		}
	}
}

// A tool that has the name of a function of Deckhand's own would never be called.
func TestToolsHaveNamesOfTheirOwn(t *testing.T) {
	store := openStore(t)
	box, err := tools.New(newNote(agent.CallStatus, agent.ClassRead, agent.RepeatRead))
	if err != nil {
		t.Fatal(err)
	}
	_, err = loop.New(loop.Config{Store: store, Blobs: store, Model: &silent{}, Tools: box, Policy: policy.Default{}, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "a tool is called status") {
		t.Errorf("a loop with a tool called status: %v", err)
	}
}
