package agent

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Whatever model, tools, people and crashes did to a run, it is never dead:
// while they go on, somebody is due, a question is open, or it has ended; and
// once they do their best, it ends. A defect may hide in one run of a thousand,
// so that there are more of them than rapid plays by itself.
func TestRunsLive(t *testing.T) {
	for part := range 8 {
		t.Run(strconv.Itoa(part), rapid.MakeCheck(func(t *rapid.T) {
			w := newWorld(t)
			w.play(150)
			w.kind = true
			w.play(600)
			if w.run.Ended == nil {
				t.Fatalf("the run does not end although everybody helps: %s, %s", w.run.State(), moves(t, w.run))
			}
			if speaks := w.run.Strands.Has(Voice); !speaks {
				return
			}
			if p, _, due := duePost(w.run, w.now); due || len(w.run.Talk(Voice).Open) > 0 {
				t.Fatalf("the run has ended, and %+v was never posted", p)
			}
		}))
	}
}
