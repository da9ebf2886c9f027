package reflect

import "slices"

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
