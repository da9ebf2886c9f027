package reflect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Failure is one way in which a run failed.
type Failure struct {
	What   string // the task's title, or empty for the run itself
	Reason string
	Events []uint64 // of the run's journal
}

// Episode is what is worth knowing of an ended run when its goal comes again.
type Episode struct {
	Run      agent.RunID
	Goal     string
	State    agent.RunState
	Ended    time.Time
	Failures []Failure
	Lessons  []string
}

// Remember sums up a run's journal.
func Remember(events []agent.Event) Episode {
	var e Episode
	titles := map[agent.TaskID]string{}
	for _, ev := range events {
		switch b := ev.Body.(type) {
		case agent.RunStarted:
			e.Run, e.Goal = ev.Run, b.Goal
		case agent.PlanAccepted:
			for _, t := range b.Plan.Tasks {
				titles[t.ID] = t.Title
			}
		case agent.Finding:
			if b.Severity == Stop {
				e.Failures = append(e.Failures, Failure{What: titles[taskOf(b.Strand)], Reason: b.Rule + ": " + b.Message, Events: b.Events})
			}
		case agent.TaskEnded:
			if b.State == agent.TaskFailed {
				e.Failures = append(e.Failures, Failure{What: titles[b.Task], Reason: b.Reason, Events: []uint64{ev.Seq}})
			}
		case agent.Reported:
			e.Lessons = b.Lessons
		case agent.RunEnded:
			e.State, e.Ended = b.State, ev.At
			if b.State == agent.RunFailed && b.Reason != "" {
				e.Failures = append(e.Failures, Failure{Reason: b.Reason, Events: []uint64{ev.Seq}})
			}
		default: // the other kinds say nothing about how it ended
		}
	}
	return e
}

func taskOf(s agent.StrandID) agent.TaskID {
	t, _ := s.Task()
	return t
}

// Precedent is a failure that earlier runs of the same goal came to.
type Precedent struct {
	Failure               // of the newest of the runs
	Runs    []agent.RunID // oldest first
}

// Precedents lists how earlier runs of the goal failed (L12), the most frequent
// way first, then the newest. Runs that were done in spite of a failure do not count.
func Precedents(goal string, past []Episode) []Precedent {
	past = slices.Clone(past)
	slices.SortStableFunc(past, func(a, b Episode) int { return a.Ended.Compare(b.Ended) })
	ways := map[key]*Precedent{}
	var order []*Precedent
	for _, e := range past {
		if plain(e.Goal) != plain(goal) || e.State != agent.RunFailed {
			continue
		}
		for _, f := range e.Failures {
			way := resultKey(plain(f.What) + "\x00" + plain(f.Reason))
			p := ways[way]
			if p == nil {
				p = &Precedent{}
				ways[way] = p
			}
			order = slices.DeleteFunc(order, func(o *Precedent) bool { return o == p })
			order = append([]*Precedent{p}, order...) // the newest first
			p.Failure = f
			if !slices.Contains(p.Runs, e.Run) {
				p.Runs = append(p.Runs, e.Run)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *Precedent) int { return len(b.Runs) - len(a.Runs) })
	list := make([]Precedent, len(order))
	for i, p := range order {
		list[i] = *p
	}
	return list
}

// plain is a text without regard to case, spaces and punctuation at its end.
func plain(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(s)), " "), ".!? ")
}

// Finding says the precedent before a run starts. Its events are none of this
// run's journal; the message names the runs instead.
func (p Precedent) Finding() agent.Finding {
	names := make([]string, len(p.Runs))
	for i, r := range p.Runs {
		names[i] = string(r)
	}
	what := "the run"
	if p.What != "" {
		what = "“" + quote(p.What, nameLimit) + "”"
	}
	return agent.Finding{Rule: "L12", Severity: Info, Strand: agent.Main, Events: []uint64{},
		Message: fmt.Sprintf("this goal failed the same way in %s (%s): %s: %s",
			count(len(p.Runs), "earlier run"), strings.Join(names, ", "), what, quote(p.Reason, 2*quoteLimit))}
}
