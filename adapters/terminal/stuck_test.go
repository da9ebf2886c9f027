package terminal

import (
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
