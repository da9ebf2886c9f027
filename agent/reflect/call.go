package reflect

import "time"

// call is a call in a stretch between a person's words, with what the rules ask
// of its neighbours. Waits are no calls: they are pauses before the next one.
type call struct {
	*mark
	waited time.Duration // all waits of the stretch before this call, added up
	polled bool          // it repeats an earlier call after a pause that did not shrink
	steady int           // how many times in a row it polled so far
	top    time.Duration // longest pause of the polling so far
	floor  int           // the count of L1 to L3 begins at this call
}

// judged lists the calls of a stretch.
func judged(stretch []mark, th Thresholds) []call {
	var calls []call
	last := map[key]int{}
	var waits time.Duration
	for i := range stretch {
		m := &stretch[i]
		if m.Kind != Called {
			continue
		}
		if m.wait >= th.Pause {
			waits += m.wait
			continue
		}
		if m.Rested >= th.Pause { // it looks after its rest
			waits += m.Rested
		}
		c := call{mark: m, waited: waits}
		if j, again := last[m.call]; again && len(calls)-j <= th.Window {
			c.follow(calls, j, th)
		}
		last[m.call] = len(calls)
		calls = append(calls, c)
	}
	return calls
}

// slack is by how much a pause may be below the longest without shrinking:
// clocks are not exact.
const slack = 20 // one part in

// follow relates a call to the same call at the index j before it (L10).
func (c *call) follow(calls []call, j int, th Thresholds) {
	before := &calls[j]
	pause := c.waited - before.waited
	if pause == 0 && j == len(calls)-1 {
		pause = c.Pause
	}
	c.floor = before.floor
	if pause >= th.Pause && pause >= before.top-before.top/slack {
		c.polled, c.steady, c.top = true, before.steady+1, max(pause, before.top)
		if !alike(c, before) {
			c.top = 0 // a changed result starts again
		}
		return
	}
	c.top = pause
	if before.steady >= 2 {
		c.floor = j
	}
}

// alike reports whether two of the same calls had the same result. Two errors
// are the same: their texts vary.
func alike(a, b *call) bool { return a.result == b.result || a.Error && b.Error }

// same reports whether two calls and their results are equal.
func same(a, b *call) bool { return a.call == b.call && a.result == b.result }

// streak is a rule's condition while it holds.
type streak struct {
	rule, severity string
	steps          []*mark // that prove it, the newest last
	done           *mark   // completed it
	text           func(s *streak) string
}

func (s *streak) newest() *mark { return s.steps[len(s.steps)-1] }

// grow adds the newest step to the streak under the key while the rule holds,
// begins one with the steps that fulfil it, and ends it when it does not hold.
func grow[K comparable](open map[K]*streak, k K, holds bool, begin func() *streak, newest *mark) (begun *streak) {
	s := open[k]
	switch {
	case !holds:
		delete(open, k)
	case s == nil:
		s = begin()
		s.done = newest
		open[k] = s
		return s
	default:
		s.steps = append(s.steps, newest)
	}
	return nil
}
