package agent

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"
)

// Whatever a journal holds, folding it is total and leaves every older value
// of the run as it was.
func TestApplyLeavesTheOldRunAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{}
		for _, e := range drawHistory(t, 40) {
			before := encode(t, r)
			next := r.Apply(e)
			if diff := cmp.Diff(before, encode(t, r)); diff != "" {
				t.Fatalf("%s changed the old run:\n%s", e.Body.Kind(), diff)
			}
			if next.Seq != e.Seq || !next.Last.Equal(e.At) {
				t.Fatalf("the run stands at %d %s after event %d %s", next.Seq, next.Last, e.Seq, e.At)
			}
			r = next
		}
	})
}

// Two futures of one run know nothing of each other: a worker's view and the
// committed fold share slices and maps.
func TestFuturesAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{}.Fold(drawHistory(t, 30))
		one := drawFuture(t, r, "one")
		alone := encode(t, r.Fold(one))
		left := r.Fold(one[:len(one)/2])
		r.Fold(drawFuture(t, r, "two"))
		left.Fold(drawFuture(t, left, "three"))
		if diff := cmp.Diff(alone, encode(t, left.Fold(one[len(one)/2:]))); diff != "" {
			t.Fatalf("another future leaked in:\n%s", diff)
		}
	})
}

func drawFuture(t *rapid.T, r Run, name string) []Event {
	var events []Event
	for range rapid.IntRange(1, 6).Draw(t, name) {
		e := drawEvent(t, r)
		events = append(events, e)
		r = r.Apply(e)
	}
	return events
}

// A snapshot is as good as the journal before it.
func TestSnapshotStandsForItsJournal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawHistory(t, 40)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		kept := encode(t, Run{}.Fold(events[:cut]))
		var restored Run
		if err := json.Unmarshal([]byte(kept), &restored); err != nil {
			t.Fatalf("read the snapshot: %v", err)
		}
		if diff := cmp.Diff(kept, encode(t, restored)); diff != "" {
			t.Fatalf("the snapshot changes when it is read:\n%s", diff)
		}
		whole := Run{}.Fold(events)
		restored = restored.Fold(events[cut:])
		if diff := cmp.Diff(encode(t, whole), encode(t, restored)); diff != "" {
			t.Fatalf("a fold from the snapshot differs:\n%s", diff)
		}
		if diff := cmp.Diff(moves(t, whole), moves(t, restored)); diff != "" {
			t.Fatalf("the moves after the snapshot differ:\n%s", diff)
		}
	})
}

func TestNextIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{}.Fold(drawHistory(t, 40))
		want := moves(t, r)
		for range 5 {
			if diff := cmp.Diff(want, moves(t, r)); diff != "" {
				t.Fatalf("the same run moves in two ways:\n%s", diff)
			}
		}
	})
}

// What may never follow from a run, however it came about.
func TestWhatNextNeverDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{}
		for _, e := range drawHistory(t, 60) {
			r = r.Apply(e)
			for _, s := range append(known(r), someStrands...) {
				forbid(t, r, s)
			}
		}
	})
}

func forbid(t *rapid.T, r Run, s StrandID) {
	if s == Voice {
		return // it posts whatever the run does; TestRunsLive follows it
	}
	m := r.Next(s)
	if r.Ended != nil && (len(m.Steps) > 0 || !m.Wake.IsZero()) {
		t.Fatalf("the ended run moves on %s: %+v", s, m)
	}
	if _, is := s.Task(); !is && s != Main && len(m.Steps) > 0 {
		t.Fatalf("nobody works %s, but it does %+v", s, m)
	}
	if r.Strands.Of(s).Call != nil {
		return // somebody is asking, or was when the process died
	}
	for _, step := range m.Steps {
		_, asks := step.(AskModel)
		_, dispatches := step.(Dispatch)
		_, invokes := step.(Invoke)
		if halted := r.Cancelled == nil && (r.Paused != "" || r.Refused != ""); halted && (asks || dispatches || invokes) {
			t.Fatalf("the paused run does %T on %s", step, s)
		}
		if asks && r.budgetOpen() {
			t.Fatalf("%s asks the model while a budget waits for an answer", s)
		}
		if d, is := step.(Decide); is {
			for _, e := range d.Events {
				if c, opens := e.Body.(CheckpointOpened); opens && r.Checks[c.ID].ID != "" {
					t.Fatalf("%s opens the checkpoint %s again: it would change nothing for ever", s, c.ID)
				}
			}
		}
	}
}

func TestFirstDecisionCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{}
		decided := map[CheckpointID]string{}
		for _, e := range drawHistory(t, 60) {
			r = r.Apply(e)
			for id, c := range r.Checks {
				first, was := decided[id]
				switch {
				case was && (c.Open() || c.Decision.Decision != first):
					t.Fatalf("checkpoint %s was decided as %q and is now %+v", id, first, c.Decision)
				case !c.Open():
					decided[id] = c.Decision.Decision
				}
			}
		}
	})
}

// A second outcome, a second reply and a second settlement change nothing but
// the place in the journal: money is counted once, and the model is told once.
func TestFirstOutcomeCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{}
		for _, e := range drawHistory(t, 40) {
			once := r.Apply(e)
			switch b := e.Body.(type) {
			case ToolOutcome:
				b.Text, b.State = "another", OutcomeError
				e.Body = b
			case CallReplied:
				b.Text = "another"
				e.Body = b
			case ModelAnswered:
				b.Completion++
				e.Body = b
			case RunEnded, Reported, RunStarted:
			default:
				r = once
				continue
			}
			if diff := cmp.Diff(encode(t, once), encode(t, once.Apply(e))); diff != "" {
				t.Fatalf("a second %s changed the run:\n%s", e.Body.Kind(), diff)
			}
			r = once
		}
	})
}

// What a writer folded before its events had their stamps is what they are.
func TestTimelessEventsGiveTheSameRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Run{}
		for _, e := range drawHistory(t, 60) {
			later := e
			later.At = e.At.Add(time.Hour)
			if other := r.Apply(later); Timeless(e.Body) {
				other.Last = e.At
				if diff := cmp.Diff(encode(t, r.Apply(e)), encode(t, other)); diff != "" {
					t.Fatalf("%s an hour later gives another run:\n%s", e.Body.Kind(), diff)
				}
			}
			r = r.Apply(e)
		}
	})
}
