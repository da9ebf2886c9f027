package reflect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// periods counts, for each length p, how many calls in a row were the same as
// the call p before them.
type periods struct {
	equal []int // with the same result
	call  []int // whatever the result
}

func (r *periods) next(calls []call, i int) {
	for p := 1; p < len(r.call); p++ {
		r.equal[p]++
		r.call[p]++
		if i < p || calls[i].call != calls[i-p].call {
			r.equal[p], r.call[p] = 0, 0
		} else if calls[i].result != calls[i-p].result {
			r.equal[p] = 0
		}
	}
}

// shorter reports whether a shorter period explains the last span calls.
func shorter(runs []int, p, span int) bool {
	for q := 2; q < p; q++ {
		if runs[q]+q >= span {
			return true
		}
	}
	return false
}

// cycle is what L4 sees at one call.
type cycle struct {
	length int
	equal  bool
}

// at judges the cycles of length p that end at the call i.
func (r *periods) at(calls []call, i, p int, th Thresholds) (equal, changing bool) {
	if r.call[1] >= p-1 || polls(calls, i, p) {
		return false, false
	}
	equal = r.equal[p]+p >= th.CycleEqual*p && !shorter(r.equal, p, th.CycleEqual*p)
	changing = r.call[p]+p >= th.CycleChanging*p && r.equal[p] < r.call[p] && !shorter(r.call, p, th.CycleChanging*p)
	return equal, changing
}

// polls reports whether all calls of a round poll.
func polls(calls []call, i, p int) bool {
	for j := max(0, i-p+1); j <= i; j++ {
		if !calls[j].polled {
			return false
		}
	}
	return true
}

// cycling is L4: a cycle of two to five calls.
func cycling(calls []call, th Thresholds) []*streak {
	var found []*streak
	r := periods{equal: make([]int, th.CycleLength+1), call: make([]int, th.CycleLength+1)}
	open := map[cycle]*streak{}
	for i := range calls {
		r.next(calls, i)
		for p := 2; p <= th.CycleLength; p++ {
			equal, changing := r.at(calls, i, p, th)
			for _, k := range []struct {
				cycle
				holds bool
				span  int
			}{{cycle{length: p, equal: true}, equal, r.equal[p] + p}, {cycle{length: p}, changing, r.call[p] + p}} {
				begin := func() *streak { return cycleStreak(calls[i+1-k.span:i+1], p, k.equal) }
				if s := grow(open, k.cycle, k.holds, begin, calls[i].mark); s != nil {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

func cycleStreak(calls []call, p int, equal bool) *streak {
	s := &streak{rule: agent.RuleCycle, severity: Nudge}
	results := "changing results"
	if equal {
		s.severity, results = Stop, "equal results"
	}
	var names []string
	for i := range calls {
		s.steps = append(s.steps, calls[i].mark)
		if i < p {
			names = append(names, quote(calls[i].callText(), quoteLimit/2))
		}
	}
	s.text = func(s *streak) string {
		return fmt.Sprintf("a cycle of %d calls, %d times with %s: %s; the last answer was %s",
			p, len(s.steps)/p, results, strings.Join(names, " → "), s.newest().resultText())
	}
	return s
}

// reason is why L9 calls a check-in, and for the how many-th time of its kind.
type reason struct {
	what string
	nth  int
}

// progress is L9: nothing new, many calls, or the same call twice running. At
// most one check-in in so many calls.
func progress(calls []call, task bool, th Thresholds) []*streak {
	var found []*streak
	open := map[reason]*streak{}
	checked := -th.CheckInSteps // the call of the newest check-in
	stale := 0
	var same row
	for i := range calls {
		c := &calls[i]
		stale++
		if c.fresh || c.polled {
			stale = 0
		}
		twice := same.next(calls, i)
		for _, k := range []struct {
			reason
			holds bool
			steps func() []*mark
			text  func(s *streak) string
		}{
			{reason{"stale", 0}, stale >= th.Stale, func() []*mark { return marks(calls[:i+1], stale) }, staleText},
			{reason{"many", c.nth / max(1, th.TaskCalls)}, task && c.nth >= th.TaskCalls, func() []*mark { return marks(calls[:i+1], th.TaskCalls) }, manyText},
			{reason{"twice", 0}, len(twice) >= th.Twice, func() []*mark { return slices.Clone(twice) }, twiceText},
		} {
			if k.holds && open[k.reason] == nil && i-checked < th.CheckInSteps {
				continue // it is looked at again when the next check-in may be called
			}
			begin := func() *streak {
				return &streak{rule: agent.RuleNothingNew, severity: CheckIn, text: k.text, steps: k.steps()}
			}
			if s := grow(open, k.reason, k.holds, begin, c.mark); s != nil {
				found, checked = append(found, s), i
			}
		}
	}
	return found
}

func staleText(s *streak) string {
	return count(len(s.steps), "call") + " without a new artifact or a result that was not seen before"
}

func manyText(s *streak) string {
	return count(s.newest().nth, "call") + " in this task so far"
}

func twiceText(s *streak) string {
	return fmt.Sprintf("the same call %d times running: %s", len(s.steps), s.newest().callText())
}

// Calls that are no work (Step.Idle) must neither hide a loop by standing
// between its calls nor be a way to do nothing for long. So the rules about
// repetition look twice: at the work without them, and at them alone, where
// they stand in what was done.

// worked is a stretch without idle calls.
func worked(stretch []mark) []mark {
	if !slices.ContainsFunc(stretch, func(m mark) bool { return m.Idle }) {
		return stretch
	}
	return slices.DeleteFunc(slices.Clone(stretch), func(m mark) bool { return m.Idle })
}

// idling is L1, L3, L4 and L10 about idle calls alone.
func idling(calls []call, th Thresholds) []*streak {
	if !slices.ContainsFunc(calls, func(c call) bool { return c.Idle }) {
		return nil
	}
	found := slices.Concat(sameResult(calls, th), identical(calls, th), cycling(calls, th),
		polling(calls, Nudge, th.PollNudge), polling(calls, Stop, th.PollStop))
	return slices.DeleteFunc(found, func(s *streak) bool {
		return slices.ContainsFunc(s.steps, func(m *mark) bool { return !m.Idle })
	})
}

// row is the same call several times running, whatever its results. Idle calls
// between two calls of the work do not end it.
type row struct{ work, idle []*mark }

// next is the row that ends at the call i.
func (r *row) next(calls []call, i int) []*mark {
	c := &calls[i]
	list := &r.work
	if c.Idle {
		list = &r.idle
		if i > 0 && !calls[i-1].Idle {
			r.idle = nil
		}
	}
	if n := len(*list); n == 0 || c.polled || (*list)[n-1].call != c.call {
		*list = nil
	}
	*list = append(*list, c.mark)
	return *list
}

// marks are the newest n of the calls, all where there are fewer.
func marks(calls []call, n int) []*mark {
	list := make([]*mark, 0, n)
	for _, c := range calls[max(0, len(calls)-n):] {
		list = append(list, c.mark)
	}
	return list
}
