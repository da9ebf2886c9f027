package agent

import (
	"encoding/json"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestNewID(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z2-7]{16}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if !shape.MatchString(id) || seen[id] {
			t.Fatalf("id %q has another shape or came before", id)
		}
		seen[id] = true
	}
}

func TestTaskStrand(t *testing.T) {
	for _, id := range []TaskID{"a", "t/1", "task/a", "", "ünï"} {
		if got, ok := TaskStrand(id).Task(); got != id || !ok {
			t.Errorf("the strand of task %q works %q, %v", id, got, ok)
		}
	}
	for _, s := range []StrandID{Main, Voice, "agent/task/a", "tasks/a", ""} {
		if id, ok := s.Task(); ok {
			t.Errorf("strand %q works the task %q", s, id)
		}
	}
}

// A button carries nothing but the checkpoint's id: the run must follow from it.
func TestCheckpointIDsCarryTheirRun(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z2-7]{16}-[a-z2-7]{8}$`)
	run := RunID(NewID())
	r := Run{ID: run}
	ids := map[CheckpointID]string{}
	for about, id := range map[string]CheckpointID{
		"a call":                    r.CheckpointID("task/a.1.0"),
		"another call":              r.CheckpointID("task/a.1.1"),
		"the call, a second time":   Run{ID: run, Questions: Questions{Asked: make([]CheckpointID, 1)}}.CheckpointID("task/a.1.0"),
		"money":                     BudgetQuestion(r, "usd", noon).ID,
		"tokens":                    BudgetQuestion(r, "tokens", noon).ID,
		"more money":                BudgetQuestion(Run{ID: run, Budget: Budget{Raised: map[string]int{"usd": 25}}}, "usd", noon).ID,
		"being stuck":               checkpointID(run, "stuck", 2, 0),
		"being stuck, once more":    checkpointID(run, "stuck", 3, 3),
		"numbers that run together": checkpointID(run, "stuck", 33, 0),
	} {
		if id.Run() != run || !shape.MatchString(string(id)) {
			t.Errorf("about %s: id %q belongs to run %q, want %q", about, id, id.Run(), run)
		}
		if other, taken := ids[id]; taken {
			t.Errorf("%s and %s have the same id", about, other)
		}
		ids[id] = about
	}
	if id := r.CheckpointID("x"); id != (Run{ID: run}).CheckpointID("x") {
		t.Error("the same question has two ids")
	}
	if (Run{ID: RunID(NewID())}).CheckpointID("x")[17:] == r.CheckpointID("x")[17:] {
		t.Error("the end of an id does not depend on the run")
	}
}

func TestDigestTellsCallsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool, args := rapid.StringMatching(`[a-z_]{0,4}`), rapid.StringMatching(`\{[a-z]{0,4}\}`)
		t1, a1, t2, a2 := tool.Draw(t, "tool"), args.Draw(t, "args"), tool.Draw(t, "tool"), args.Draw(t, "args")
		same := t1 == t2 && a1 == a2
		if got := Digest(t1, json.RawMessage(a1)) == Digest(t2, json.RawMessage(a2)); got != same {
			t.Fatalf("%s%s and %s%s: equal digests %v", t1, a1, t2, a2, got)
		}
	})
}

func TestTexts(t *testing.T) {
	for in, want := range map[string]int{`"one"`: 1, `["one","two"]`: 2, `[]`: 0, `""`: 0, `null`: 0} {
		var got Texts
		if err := json.Unmarshal([]byte(in), &got); err != nil || len(got) != want {
			t.Errorf("%s is %q, %v; want %d texts", in, got, err, want)
		}
	}
	for _, in := range []string{`7`, `{"a":1}`, `[1]`} {
		var got Texts
		if err := json.Unmarshal([]byte(in), &got); err == nil {
			t.Errorf("%s was read as %q", in, got)
		}
	}
}
