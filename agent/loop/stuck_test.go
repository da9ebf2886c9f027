package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// After a person's word every rule counts from zero: the same loop gets as many
// calls as the first time, and the model knows what the person said.
func TestStreaksStartAgainAfterAPersonsWord(t *testing.T) {
	for _, tt := range []struct {
		name  string
		work  func(llm.Request, int) llm.Message
		tool  agent.Tool
		calls int // until a person is asked
		title string
		tried string
	}{
		{"L3", round("again"), reads(), 4, "the same call 4 times with the same result", "- note “again”; the answer was “noted”\n"},
		{"L2", round("again"), failing{reads()}, 4, "the same call failed 4 times", "- note “again”; the last error was “"},
		{"L4", round("a", "b"), reads(), 6, "a cycle of 2 calls, 3 times with equal results", "- note “a” → note “b”; the last answer was “noted”\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &worker{work: tt.work}
			h := open(t, w, nil, tt.tool)
			run := h.start(every(0))
			for round := 1; round <= 3; round++ {
				c := h.stuck(run)
				if got := len(w.of(llm.Work)); got != round*tt.calls {
					t.Fatalf("question %d came after %d calls, want %d", round, got, round*tt.calls)
				}
				if c.Title != "Stuck on “Write note a”: "+tt.title || !strings.HasPrefix(c.Detail, tt.tried) || strings.Count(c.Detail, "\n") != 1 {
					t.Errorf("question %d is %q with %q", round, c.Title, c.Detail)
				}
				hint := fmt.Sprint("use the other file, number ", round)
				err := h.desk.Decide(t.Context(), person, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideRetry, Text: hint})
				if err != nil {
					t.Fatal(err)
				}
				h.until(run, "the work goes on", func(agent.Run) bool { return len(w.of(llm.Work)) > round*tt.calls })
				asked := w.of(llm.Work)[round*tt.calls].Messages
				if last := asked[len(asked)-1].Content; !strings.Contains(last, hint) {
					t.Errorf("after decision %d the model is told %q", round, last)
				}
			}
		})
	}
}

// Where nobody shows a way out in time, the run ends with a report that no model
// wrote: it names what is missing, and why.
func TestAStuckRunThatNobodyAnswersSaysSo(t *testing.T) {
	w := &worker{work: round("again")}
	h := open(t, w, nil, reads())
	brief := every(0)
	brief.Expires = 50 * time.Millisecond
	r := h.ended(h.start(brief))
	const why = "the same call 4 times with the same result"
	if r.Ended.State != agent.RunFailed || !strings.HasPrefix(r.Ended.Reason, "Stuck on “Write note a”: "+why+": note “again”") || !strings.Contains(r.Ended.Reason, "Nobody said in time") {
		t.Errorf("ended %+v", r.Ended)
	}
	if s := r.Tasks["a"]; s.State != agent.TaskFailed || s.Reason != "stuck: "+why+"; nobody said in time what to do" {
		t.Errorf("the task is %+v", s)
	}
	if len(w.of(llm.Report)) > 0 || r.Report == nil || r.Report.Headline != "0 of 1 task done" || !strings.Contains(strings.Join(r.Report.Skipped, ""), why) {
		t.Errorf("a model was asked %d times for the report, which is %+v", len(w.of(llm.Report)), r.Report)
	}
}

// A person who skips the task lets it fail with what was found.
func TestASkippedTaskKeepsItsReason(t *testing.T) {
	w := &worker{work: round("again")}
	h := open(t, &replanner{worker: w, never: true}, nil, reads())
	run := h.start(every(0))
	if err := h.decide(h.stuck(run).ID, agent.DecideSkip); err != nil {
		t.Fatal(err)
	}
	r := h.until(run, "the task has ended", func(r agent.Run) bool { return r.Tasks["a"].State == agent.TaskFailed })
	if got := r.Tasks["a"].Reason; !strings.HasPrefix(got, "stuck: the same call 4 times") || !strings.HasSuffix(got, "; skipped by terminal") {
		t.Errorf("the reason is %q", got)
	}
}
