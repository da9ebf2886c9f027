package loop

import (
	"context"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// supervisor looks whether the work gets anywhere, and does what follows.
type supervisor struct{ *turn }

// checkLoops looks whether a task's strand goes round in circles before it asks
// the model again. A nudge is a note to the model; a stop is a question to
// people, or the end of the task where nobody can be asked. It reports whether
// the strand was stopped.
func (sv supervisor) checkLoops(ctx context.Context, view agent.Run) (stopped bool, err error) {
	if _, works := sv.lease.Strand.Task(); !works {
		return false, nil
	}
	if len(sv.turn.stuck(sv.lease.Run, sv.lease.Strand, sv.batch, sv.now())) == 0 {
		return false, nil
	}
	if err := sv.flush(ctx); err != nil { // findings quote the numbers of events: those must be final
		return false, err
	}
	found := sv.turn.stuck(sv.lease.Run, sv.lease.Strand, nil, sv.now())
	for i, f := range found {
		if f.Severity == reflect.Nudge {
			found[i].Note = reflect.Note(f, quoted)
		}
		sv.event(found[i])
		// chanting (L6) stops an answer: it was cut, and the model knows
		stopped = stopped || f.Severity == reflect.Stop && f.Rule != agent.RuleChant
	}
	if stopped {
		sv.stop(view, found)
	}
	return stopped, nil
}

// quoted marks what a finding quotes as data.
func quoted(text string) string { return "\n" + prompt.Frame(text, agent.Untrusted) }

// chants watches an answer under way and cuts it when it chants (L6).
func chants() (write func(piece string) (cut bool)) {
	c := reflect.NewChants(reflect.Defaults())
	return func(piece string) bool {
		_, found := c.Write(piece)
		return found
	}
}

// chanted is an answer up to the end of its chant, where it has one.
func chanted(text string) (words string, is bool) {
	c, is := reflect.Chanting(text, reflect.Defaults())
	return text[:c.End], is
}

// stop ends the strand's work until a person decides.
func (sv supervisor) stop(view agent.Run, found []agent.Finding) {
	wake := map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}
	why, tried := reflect.Question(found)
	if view.Alone {
		id, _ := sv.lease.Strand.Task()
		sv.add(wake, agent.Event{Strand: sv.lease.Strand, Body: agent.TaskEnded{
			Task: id, State: agent.TaskFailed, Outputs: []agent.Output{}, Reason: strings.Join(append([]string{"stuck: " + why}, tried...), "; "), Fail: agent.FailOther,
		}})
		return
	}
	sv.openCheckpoint(view, agent.CheckpointOpened{
		Ask: agent.CheckStuck, Title: agent.StuckTitle(view.Plan, sv.lease.Strand, why), Detail: agent.Bullets(tried),
		Choices: []string{agent.DecideRetry, agent.DecideSkip, agent.DecideCancel},
	})
}
