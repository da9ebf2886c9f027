package terminal

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deckhand-bot/deckhand/agent"
)

// A run that is stuck says what was tried and what each answer does.
func TestAStuckRunShowsItsWaysOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		put(t, log, agent.Main, theBrief)
		put(t, log, "task/t1", agent.CheckpointOpened{ID: agent.CheckpointID(string(theRun) + "-question"), Ask: agent.CheckStuck, Title: "Stuck on “Count the files”: the same call 4 times with the same result",
			Detail:  agent.Bullets([]string{"list files “src”; the answer was “no such folder: src”"}),
			Choices: []string{agent.DecideRetry, agent.DecideSkip, agent.DecideCancel}})
		r := watch(t, log, Config{})
		r.settle()
		golden(t, "stuck.golden", r.out.String())
	})
}

// What a check-in passes on of a rule's finding stands there once.
func TestACheckInSaysNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		put(t, log, agent.Main, theBrief)
		put(t, log, "task/t1", agent.Finding{Rule: "L1", Severity: "nudge", Strand: "task/t1", Message: "the same call three times"},
			agent.Finding{Rule: "L13", Severity: "nudge", Strand: "task/t1", Message: "the same call three times"},
			agent.Finding{Rule: "L13", Severity: "nudge", Strand: "task/t1", Message: "it goes round in circles"})
		r := watch(t, log, Config{})
		r.settle()
		for text, want := range map[string]int{"the same call three times": 1, "it goes round in circles": 1} {
			if got := strings.Count(r.out.String(), text); got != want {
				t.Errorf("%q stands there %d times, want %d:\n%s", text, got, want, r.out.String())
			}
		}
	})
}
