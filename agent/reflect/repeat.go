package reflect

import (
	"fmt"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// The severities of a finding. A stop asks a person before the next model call;
// a nudge is told to the model; a check-in asks the model for its ledger.
const (
	Stop    = agent.FindingStop
	Nudge   = agent.FindingNudge
	CheckIn = agent.FindingCheckIn
	Info    = agent.FindingInfo
)

// pair is a call with its result.
type pair struct{ call, result key }

// earlier lists the calls of the window that ends at i for which match holds,
// oldest first. Calls of a poll that went before do not count.
func earlier(calls []call, i int, th Thresholds, match func(c *call) bool) []*mark {
	var list []*mark
	for j := max(calls[i].floor, i-th.Window+1, 0); j <= i; j++ {
		if match(&calls[j]) {
			list = append(list, calls[j].mark)
		}
	}
	return list
}

// sameResult is L1: the same call with the same result, several times in the window.
func sameResult(calls []call, th Thresholds) []*streak {
	var found []*streak
	open := map[pair]*streak{}
	for i := range calls {
		c := &calls[i]
		if c.polled {
			continue
		}
		steps := earlier(calls, i, th, func(o *call) bool { return same(o, c) })
		begin := func() *streak {
			return &streak{rule: agent.RuleSameResult, severity: Nudge, steps: steps, text: func(s *streak) string {
				return fmt.Sprintf("the same call %d times with the same result: %s", len(s.steps), s.newest().exchange())
			}}
		}
		if s := grow(open, pair{c.call, c.result}, len(steps) >= th.Same, begin, c.mark); s != nil {
			found = append(found, s)
		}
	}
	return found
}

// sameError is L2: the same call with an error, several times in the window.
func sameError(calls []call, severity string, times int, th Thresholds) []*streak {
	var found []*streak
	open := map[key]*streak{}
	for i := range calls {
		c := &calls[i]
		if c.polled || !c.Error {
			continue
		}
		steps := earlier(calls, i, th, func(o *call) bool { return o.call == c.call && o.Error })
		begin := func() *streak {
			return &streak{rule: agent.RuleSameError, severity: severity, steps: steps, text: func(s *streak) string {
				return fmt.Sprintf("the same call failed %d times: %s; the last error was %s", len(s.steps), s.newest().callText(), s.newest().resultText())
			}}
		}
		if s := grow(open, c.call, len(steps) >= times, begin, c.mark); s != nil {
			found = append(found, s)
		}
	}
	return found
}

// identical is L3: the same call with the same result, in a row or most of the window.
func identical(calls []call, th Thresholds) []*streak {
	var found []*streak
	open := map[pair]*streak{}
	row := 0
	for i := range calls {
		c := &calls[i]
		if i == 0 || !same(c, &calls[i-1]) {
			row = 0
		}
		row = min(row+1, i-c.floor+1)
		if c.polled {
			continue
		}
		steps := earlier(calls, i, th, func(o *call) bool { return same(o, c) })
		begin := func() *streak {
			return &streak{rule: agent.RuleRepetition, severity: Stop, steps: steps, text: func(s *streak) string {
				return fmt.Sprintf("the same call %d times with the same result: %s", len(s.steps), s.newest().exchange())
			}}
		}
		holds := row >= th.Row || len(steps) > th.Share
		if s := grow(open, pair{c.call, c.result}, holds, begin, c.mark); s != nil {
			found = append(found, s)
		}
	}
	return found
}

// polling is L10: a call repeated after pauses with equal results.
func polling(calls []call, severity string, times int) []*streak {
	var found []*streak
	rows := map[key][]int{}
	open := map[key]*streak{}
	for i := range calls {
		c := &calls[i]
		row := rows[c.call]
		if !c.polled || len(row) > 0 && !alike(c, &calls[row[len(row)-1]]) {
			row = nil
		}
		row = append(row, i)
		rows[c.call] = row
		begin := func() *streak {
			s := &streak{rule: agent.RulePolling, severity: severity, text: func(s *streak) string {
				return fmt.Sprintf("asked %d times, with pauses, and nothing changed: %s", len(s.steps), s.newest().exchange())
			}}
			for _, j := range row {
				s.steps = append(s.steps, calls[j].mark)
			}
			return s
		}
		if s := grow(open, c.call, len(row) >= times, begin, c.mark); s != nil {
			found = append(found, s)
		}
	}
	return found
}

// waiting is L10 for waits after which nothing is looked at.
func waiting(stretch []mark, severity string, times int, th Thresholds) []*streak {
	var found []*streak
	var row []*mark
	open := map[bool]*streak{}
	for i := range stretch {
		m := &stretch[i]
		switch {
		case m.Kind == Called && m.wait >= th.Pause:
			row = append(row, m)
		case m.Kind == Called:
			row = nil
		default:
			continue
		}
		begin := func() *streak {
			return &streak{rule: agent.RulePolling, severity: severity, steps: slices.Clone(row), text: func(s *streak) string {
				return fmt.Sprintf("%d waits in a row without a look at anything between them", len(s.steps))
			}}
		}
		if s := grow(open, true, len(row) >= times, begin, m); s != nil {
			found = append(found, s)
		}
	}
	return found
}
