package loop

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// What a process remembers of runs: so many, and so much of them.
const (
	maxFolds     = 4096
	maxFoldBytes = 256 << 20
)

// memory is what a process remembers of a run beside its fold: what the strands
// did, as far as it saw them work, and their conversations as they were last
// sent to the model.
type memory struct {
	trace reflect.Journal
	talks map[agent.StrandID]prompt.Rendering
}

// Apply follows the journal.
func (m *memory) Apply(e agent.Event) { m.trace.Apply(e) }

// stuck judges what the strand did, with a batch that is not committed yet.
func (e *engine) stuck(run agent.RunID, s agent.StrandID, batch []agent.Event, at time.Time) (found []agent.Finding) {
	e.folds.Use(run, func(r agent.Run, m *memory) {
		trial := m.trace.Fork(s)
		for i, ev := range batch {
			ev.Run, ev.Seq, ev.At = run, r.Seq+uint64(i)+1, at
			trial.Apply(ev)
		}
		found = reflect.Watch(trial.Trace(s), reflect.Defaults(), r.Findings)
	})
	return found
}

// planFindings judges the plan level of a run: what was not reported yet.
func (e *engine) planFindings(run agent.RunID) (found []agent.Finding) {
	e.folds.Use(run, func(r agent.Run, m *memory) {
		if r.Plans >= reflect.FewestPlans {
			found = reflect.New(m.trace.Plans(reflect.Defaults()), r.Findings)
		}
	})
	return found
}

// takeTalk hands out the strand's rendered conversation; whoever has it is the
// only one to add to it.
func (e *engine) takeTalk(run agent.RunID, s agent.StrandID) (talk prompt.Rendering) {
	e.folds.Use(run, func(_ agent.Run, m *memory) {
		talk = m.talks[s]
		delete(m.talks, s)
	})
	return talk
}

// putTalk keeps a rendered conversation for the strand's next turn.
func (e *engine) putTalk(run agent.RunID, s agent.StrandID, talk prompt.Rendering) {
	e.folds.Use(run, func(r agent.Run, m *memory) {
		if r.Strands.Of(s).Ended || r.Ended != nil {
			return
		}
		if m.talks == nil {
			m.talks = map[agent.StrandID]prompt.Rendering{}
		}
		m.talks[s] = talk
	})
}
