package reflect

import (
	"cmp"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// Examine judges a whole trace by the rules L1 to L10, in the order in which the
// findings were complete. Each rule is reported once a streak, with all events
// of the streak.
func Examine(t *Trace, th Thresholds) []agent.Finding {
	streaks := t.streaks(th)
	list := make([]agent.Finding, len(streaks))
	for i, s := range streaks {
		list[i] = s.finding(t.Strand)
	}
	return list
}

// A Watch reports what was complete within the newest steps, and looks back
// far enough to see each rule's condition begin before them: twenty polls with
// their waits are 40 steps, and no other rule needs more.
const (
	newest = 20
	reach  = newest + 44
)

// Watch judges the newest steps of a trace that grows, and leaves out what was
// found already. Its price does not grow with the trace. Call it after every
// committed outcome with the strand's journalled findings.
func Watch(t *Trace, th Thresholds, already []agent.Finding) []agent.Finding {
	if t.calm(th) {
		return nil
	}
	already = slices.DeleteFunc(slices.Clone(already), func(f agent.Finding) bool { return f.Strand != t.Strand })
	tail := t.Tail(reach)
	segments := tail.segments()
	tail.marks = segments[len(segments)-1]
	var list []agent.Finding
	for _, s := range tail.streaks(th) {
		f := s.finding(t.Strand)
		switch {
		case !tail.Tail(newest).has(s.done):
		case s.severity == CheckIn && tail.calledNear(s.done, already, th.CheckInSteps):
		case s.severity != CheckIn && reported(f, already):
		default:
			list, already = append(list, f), append(already, f)
		}
	}
	return list
}

// calm reports whether the newest call alone shows that no rule can be complete:
// it is a call that was not made before, with a result that was not seen
// before, and no round number of calls. Most steps of most runs are.
func (t *Trace) calm(th Thresholds) bool {
	if len(t.marks) == 0 {
		return true
	}
	m := &t.marks[len(t.marks)-1]
	if m.Kind != Called || !m.fresh || m.again || m.Error || m.Unusable || m.wait > 0 {
		return false
	}
	if th.TaskCalls > 0 && m.nth%th.TaskCalls == 0 {
		return false
	}
	if len(t.marks) == 1 {
		return true
	}
	// What came with the newest call in one turn speaks for itself.
	before := &t.marks[len(t.marks)-2]
	return before.Kind == Called && (before.Turn != m.Turn || m.Turn == 0) || before.Kind == Said && before.chant == nil
}

// New leaves out the findings whose streak was reported already: by the same
// rule, with the same severity, on the same strand and for some of the same events.
func New(found, already []agent.Finding) []agent.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f agent.Finding) bool { return reported(f, already) })
}

func reported(f agent.Finding, already []agent.Finding) bool {
	return slices.ContainsFunc(already, func(a agent.Finding) bool {
		return a.Rule == f.Rule && a.Severity == f.Severity && a.Strand == f.Strand &&
			slices.ContainsFunc(a.Events, func(n uint64) bool { return slices.Contains(f.Events, n) })
	})
}

func (t *Trace) has(m *mark) bool {
	return slices.ContainsFunc(t.marks, func(o mark) bool { return o.Event == m.Event })
}

// calledNear reports whether L9 called a check-in less than n calls before or
// after the step. That also covers the check-in that this step called.
func (t *Trace) calledNear(m *mark, already []agent.Finding, n int) bool {
	near, at := map[uint64]int{}, 0
	for i := range t.marks {
		if t.marks[i].Kind == Called {
			near[t.marks[i].Event] = at
			at++
		}
	}
	return slices.ContainsFunc(already, func(f agent.Finding) bool {
		if f.Rule != agent.RuleNothingNew || len(f.Events) == 0 {
			return false
		}
		i, is := near[f.Events[len(f.Events)-1]]
		return is && i-near[m.Event] < n && near[m.Event]-i < n
	})
}

// streaks are the streaks of all stretches, in the order of their completion.
func (t *Trace) streaks(th Thresholds) []*streak {
	var all []*streak
	_, task := t.Strand.Task()
	for _, stretch := range t.segments() {
		work := worked(stretch)
		calls, every := judged(work, th), judged(stretch, th)
		found := slices.Concat(
			sameResult(calls, th),
			sameError(calls, Nudge, th.ErrorNudge, th), sameError(calls, Stop, th.ErrorStop, th),
			identical(calls, th), cycling(calls, th),
			monologue(work, th), chanted(stretch), unusable(work, th), compacting(work, th),
			progress(every, task, th),
			polling(calls, Nudge, th.PollNudge), polling(calls, Stop, th.PollStop),
			waiting(work, Nudge, th.PollNudge, th), waiting(work, Stop, th.PollStop, th),
			idling(every, th),
		)
		slices.SortStableFunc(found, func(a, b *streak) int { return cmp.Compare(a.done.Event, b.done.Event) })
		all = append(all, found...)
	}
	return all
}

func (s *streak) finding(strand agent.StrandID) agent.Finding {
	f := agent.Finding{Rule: s.rule, Severity: s.severity, Strand: strand, Message: s.text(s), Events: make([]uint64, len(s.steps))}
	for i, m := range s.steps {
		f.Events[i] = m.Event
	}
	f.Events = slices.Compact(f.Events) // calls of one turn may share a number
	return f
}
