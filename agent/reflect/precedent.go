package reflect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// Episode is an ended run and its goal.
type Episode struct {
	agent.Episode

	Goal      string
	Requester string
}

// Remember sums up a run's journal, or the newest part of one: then the goal
// may be missing, and tasks go by their ids. Feedback comes after the end.
func Remember(events []agent.Event) Episode {
	var e Episode
	titles := map[agent.TaskID]string{}
	name := func(id agent.TaskID) string { return cmp.Or(titles[id], string(id)) }
	ratings := map[string]int{}
	var learnt []string // by check-ins, the newest first
	e.Own = ownWords(events)
	for _, ev := range events {
		e.Run = ev.Run
		switch b := ev.Body.(type) {
		case agent.RunStarted:
			e.Goal, e.Requester = b.Goal, b.Requester
		case agent.PlanAccepted:
			for _, t := range b.Plan.Tasks {
				titles[t.ID] = t.Title
			}
		case agent.Finding:
			if b.Severity == Stop {
				e.Failures = append(e.Failures, agent.Failure{What: name(taskOf(b.Strand)), Reason: b.Rule + ": " + b.Message, Events: b.Events})
			}
		case agent.TaskEnded:
			if b.State == agent.TaskFailed {
				e.Failures = append(e.Failures, agent.Failure{What: name(b.Task), Reason: b.Reason, Events: []uint64{ev.Seq}})
			}
			e.delivered(b)
		case agent.CheckInMade:
			learnt = slices.Concat(lessonOf(b), learnt)
		case agent.Reported:
			e.Headline, e.BodyHash, e.Lessons = b.Headline, agent.HashText(b.Body), b.Lessons
		case agent.Feedback:
			ratings[b.By] = b.Rating
			e.Comment = cmp.Or(strings.TrimSpace(b.Comment), e.Comment)
		case agent.RunEnded:
			e.State, e.Ended = b.State, ev.At
			e.failed(b.Reason, ev.Seq)
		default: // the other kinds say nothing about how it ended
		}
	}
	for _, r := range ratings {
		e.Rating += r
	}
	e.Lessons = slices.Concat(e.Lessons, learnt) // the report's come first: it has seen the whole
	return e
}

// ownWords reports whether a whole journal holds nothing that a stranger may have
// written.
func ownWords(events []agent.Event) bool {
	if len(events) == 0 || events[0].Seq != 1 {
		return false
	}
	requester := ""
	for _, ev := range events {
		own := true
		switch b := ev.Body.(type) {
		case agent.RunStarted:
			requester = b.Requester
		case agent.ToolOutcome:
			own = ev.Strand == agent.Voice || b.Trust == agent.Trusted
		case agent.CallReplied:
			own = b.Trust != agent.Untrusted
		case agent.PersonSaid:
			own = b.Trusted
		case agent.Feedback:
			own = b.By == requester || strings.TrimSpace(b.Comment) == ""
		case agent.Recalled:
			own = !b.Strange()
		default: // the other kinds hold what these led to
		}
		if !own {
			return false
		}
	}
	return true
}

// lessonOf is what a check-in left, empty for nothing.
func lessonOf(b agent.CheckInMade) []string {
	if b.Ledger == nil || strings.TrimSpace(b.Ledger.Lesson) == "" {
		return nil
	}
	return []string{b.Ledger.Lesson}
}

// delivered keeps what tells a copy of the task's outputs.
func (e *Episode) delivered(b agent.TaskEnded) {
	for _, o := range b.Outputs {
		if hash := agent.HashValue(o.Value); hash != "" && len(e.ValueHashes) < maxValues {
			e.ValueHashes = append(e.ValueHashes, hash)
		}
	}
}

// failed keeps why the whole run failed, unless that only repeats why a task did.
func (e *Episode) failed(reason string, seq uint64) {
	repeats := slices.ContainsFunc(e.Failures, func(f agent.Failure) bool { return f.Reason != "" && strings.Contains(reason, f.Reason) })
	if e.State == agent.RunFailed && reason != "" && !repeats {
		e.Failures = append(e.Failures, agent.Failure{Reason: reason, Events: []uint64{seq}})
	}
}

// What a run keeps of each earlier one, so that the event stays small; lengths
// are in characters.
const (
	maxWhole    = 4 // newest episodes with everything: prompts tell no more one by one
	maxValues   = 12
	maxFailures = 3
	maxLessons  = 4
	maxRunsOf   = 3 // precedents
	textLimit   = 2 * quoteLimit
)

// Recall is what a run of the goal is to know of earlier ones.
func Recall(goal string, past []Episode) agent.Recalled {
	past = slices.Clone(past)
	slices.SortStableFunc(past, func(a, b Episode) int { return a.Ended.Compare(b.Ended) })
	r := agent.Recalled{Episodes: make([]agent.Episode, len(past)), Precedents: Precedents(goal, past)}
	r.Precedents = r.Precedents[:min(len(r.Precedents), maxRunsOf)]
	for i, p := range r.Precedents {
		r.Precedents[i].Failure = inShort(p.Failure)
	}
	for i, e := range past {
		short := e.Episode
		short.Headline, short.Comment = quote(e.Headline, textLimit), quote(e.Comment, textLimit)
		short.Lessons, short.Failures = nil, nil
		for _, l := range e.Lessons {
			l = quote(l, textLimit)
			if l != "" && len(short.Lessons) < maxLessons && !slices.Contains(short.Lessons, l) {
				short.Lessons = append(short.Lessons, l)
			}
		}
		if i < len(past)-maxWhole {
			short.Comment = ""
		} else {
			for _, f := range e.Failures[max(0, len(e.Failures)-maxFailures):] {
				short.Failures = append(short.Failures, inShort(f))
			}
		}
		r.Episodes[i] = short
	}
	return r
}

// inShort is a failure in a few words.
func inShort(f agent.Failure) agent.Failure {
	const most = 8 // events
	return agent.Failure{What: quote(f.What, quoteLimit), Reason: quote(f.Reason, textLimit), Events: f.Events[max(0, len(f.Events)-most):]}
}

func taskOf(s agent.StrandID) agent.TaskID {
	t, _ := s.Task()
	return t
}

// Precedents lists how earlier runs of the goal failed (L12), the most frequent
// way first, then the newest. Runs that were done in spite of a failure do not count.
func Precedents(goal string, past []Episode) []agent.Precedent {
	past = slices.Clone(past)
	slices.SortStableFunc(past, func(a, b Episode) int { return a.Ended.Compare(b.Ended) })
	ways := map[key]*agent.Precedent{}
	var order []*agent.Precedent
	for _, e := range past {
		if agent.Bare(e.Goal) != agent.Bare(goal) || e.State != agent.RunFailed {
			continue
		}
		for _, f := range e.Failures {
			way := resultKey(agent.Bare(f.What) + "\x00" + agent.Bare(f.Reason))
			p := ways[way]
			if p == nil {
				p = &agent.Precedent{}
				ways[way] = p
			}
			order = slices.DeleteFunc(order, func(o *agent.Precedent) bool { return o == p })
			order = append([]*agent.Precedent{p}, order...) // the newest first
			p.Failure = f
			if !slices.Contains(p.Runs, e.Run) {
				p.Runs = append(p.Runs, e.Run)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *agent.Precedent) int { return len(b.Runs) - len(a.Runs) })
	list := make([]agent.Precedent, len(order))
	for i, p := range order {
		list[i] = *p
	}
	return list
}

// Precedes says the precedent before a run starts. Its events are none of this
// run's journal; the message names the runs instead.
func Precedes(p agent.Precedent) agent.Finding {
	names := make([]string, len(p.Runs))
	for i, r := range p.Runs {
		names[i] = string(r)
	}
	what := "the run"
	if p.What != "" {
		what = "“" + quote(p.What, nameLimit) + "”"
	}
	often := "in an earlier run"
	if len(p.Runs) > 1 {
		often = "the same way in " + count(len(p.Runs), "earlier run")
	}
	return agent.Finding{Rule: agent.RulePrecedent, Severity: Info, Strand: agent.Main, Events: []uint64{},
		Message: fmt.Sprintf("this goal failed %s (%s): %s: %s", often, strings.Join(names, ", "), what, quote(p.Reason, textLimit))}
}
