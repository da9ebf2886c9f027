package reflect

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent"
)

// anyStep draws a step from a small world, so that steps repeat.
func anyStep(t *rapid.T, i int) Step {
	s := Step{Event: uint64(i)*3 + 1, Turn: uint64(i/2 + 1)}
	s.Kind = rapid.SampledFrom([]Kind{Called, Called, Called, Called, Called, Called, Said, Prose, Person, Compaction}).Draw(t, "kind")
	s.Tool = rapid.SampledFrom([]string{"a", "b", "c", "wait"}).Draw(t, "tool")
	s.Arguments = rapid.SampledFrom([]string{`{"seconds":2}`, `{"x":1}`, "broken"}).Draw(t, "arguments")
	s.Text = rapid.SampledFrom([]string{"", "one", "two", "error: x"}).Draw(t, "text")
	s.Error = rapid.Bool().Draw(t, "error")
	s.Unusable = rapid.IntRange(0, 3).Draw(t, "unusable") == 0
	s.Pause = time.Duration(rapid.IntRange(0, 3).Draw(t, "pause")) * time.Second
	return s
}

// Nothing is found where every call and every result is a new one.
func TestDistinctStepsAreFine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := &Trace{}
		n := rapid.IntRange(0, 150).Draw(t, "steps")
		for i := range n {
			s := Step{Event: uint64(i), Tool: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "tool"),
				Arguments: fmt.Sprintf(`{"n":%d}`, i), Text: fmt.Sprintf("%d of %d things", i, n),
				Error: rapid.Bool().Draw(t, "error"), Pause: time.Duration(rapid.IntRange(0, 5).Draw(t, "pause")) * time.Second}
			trace.Push(s)
		}
		if found := Examine(trace, Defaults()); len(found) > 0 {
			t.Fatalf("found %q", brief(found))
		}
	})
}

// Findings name steps of their trace, in order and once, and the same trace
// gives the same findings.
func TestFindingsAreProved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := &Trace{Strand: task}
		known := map[uint64]bool{}
		for i := range rapid.IntRange(0, 80).Draw(t, "steps") {
			s := anyStep(t, i)
			known[s.Event] = true
			trace.Push(s)
		}
		found := Examine(trace, Defaults())
		for _, f := range found {
			if !slices.IsSorted(f.Events) || len(slices.Compact(slices.Clone(f.Events))) != len(f.Events) || len(f.Events) == 0 {
				t.Fatalf("%s names %v", f.Rule, f.Events)
			}
			for _, n := range f.Events {
				if !known[n] {
					t.Fatalf("%s names event %d, which there is not", f.Rule, n)
				}
			}
		}
		if again := Examine(trace, Defaults()); !slices.Equal(brief(found), brief(again)) {
			t.Fatalf("%q, then %q", brief(found), brief(again))
		}
	})
}

// A watch after every step finds the stops and nudges that an examination of
// the trace so far finds, as long as both see all of it, and each streak once.
func TestWatchFindsWhatExamineFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := &Trace{Strand: task}
		var already []agent.Finding
		for i := range rapid.IntRange(0, reach).Draw(t, "steps") {
			trace.Push(anyStep(t, i))
			found := Watch(trace, Defaults(), already)
			if dup := len(New(found, already)); dup != len(found) && !slices.ContainsFunc(found, func(f agent.Finding) bool { return f.Severity == CheckIn }) {
				t.Fatalf("step %d: %q is reported again", i, brief(found))
			}
			already = append(already, found...)
		}
		for _, f := range Examine(trace, Defaults()) {
			if f.Severity != CheckIn && len(New([]agent.Finding{f}, already)) > 0 {
				t.Fatalf("no watch found %q; they found %q", brief([]agent.Finding{f}), brief(already))
			}
		}
	})
}

// A wait, a person or an unknown stretch before a loop does not hide it.
func TestLoopsAreFoundAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := &Trace{}
		n := rapid.IntRange(0, 60).Draw(t, "before")
		for i := range n {
			trace.Push(anyStep(t, i))
		}
		for i := range 4 {
			trace.Push(Step{Event: uint64(1000 + i), Tool: "loop", Text: "same"})
		}
		found := Watch(trace, Defaults(), nil)
		if !slices.ContainsFunc(found, func(f agent.Finding) bool {
			return f.Rule == "L3" && f.Severity == Stop && slices.Equal(f.Events, []uint64{1000, 1001, 1002, 1003})
		}) {
			t.Fatalf("found %q", brief(found))
		}
	})
}
