package reflect

import (
	"fmt"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// monologue is L5: turns without a call, several or equal ones; the next one
// after the nudge is a stop.
func monologue(stretch []mark, th Thresholds) []*streak {
	var found []*streak
	var row []*mark
	open := map[string]*streak{}
	told := false
	for i := range stretch {
		m := &stretch[i]
		switch {
		case m.Kind == Prose && (!m.Unusable || th.ProseAlways):
			row = append(row, m)
		case m.Kind == Called || m.Kind == Prose:
			row, told = nil, false
		default:
			continue
		}
		stops := told
		told = told || len(row) >= th.Prose || len(row) > 0 && equals(row, m) >= th.ProseEqual
		for _, k := range []struct {
			severity string
			holds    bool
		}{{Nudge, told}, {Stop, stops && told}} {
			begin := func() *streak {
				return &streak{rule: agent.RuleMonologue, severity: k.severity, steps: slices.Clone(row), text: monologueText}
			}
			if s := grow(open, k.severity, k.holds, begin, m); s != nil {
				found = append(found, s)
			}
		}
	}
	return found
}

// equals counts the turns that say what the turn says.
func equals(row []*mark, m *mark) int {
	n := 0
	for _, o := range row {
		if o.result == m.result {
			n++
		}
	}
	return n
}

func monologueText(s *streak) string {
	return fmt.Sprintf("%d turns in a row without a call: the last one said %s", len(s.steps), s.newest().resultText())
}

// chanted is L6 for answers that are complete.
func chanted(stretch []mark) []*streak {
	var found []*streak
	for i := range stretch {
		if m := &stretch[i]; m.chant != nil {
			found = append(found, &streak{rule: agent.RuleChant, severity: Stop, steps: []*mark{m}, done: m, text: func(*streak) string {
				return m.chant.String()
			}})
		}
	}
	return found
}

// String says what was chanted, for a person and for the model.
func (c Chant) String() string {
	return fmt.Sprintf("chanting: “%s” came %d times or more in one answer", quote(c.Window, quoteLimit), c.Times)
}

// unusable is L7: turns with an unknown tool or an unusable reply, and with no
// call that could be used.
func unusable(stretch []mark, th Thresholds) []*streak {
	var found []*streak
	open := map[bool]*streak{}
	var row []*mark
	turns := 0
	for _, t := range turnsOf(stretch) {
		bad := !slices.ContainsFunc(t, func(m *mark) bool { return !m.Unusable })
		if bad {
			row, turns = append(row, t...), turns+1
		} else {
			row, turns = nil, 0
		}
		newest := t[len(t)-1]
		if s := open[true]; s != nil && bad {
			s.steps = append(s.steps, t[:len(t)-1]...)
		}
		begin := func() *streak {
			return &streak{rule: agent.RuleUnusable, severity: Stop, steps: slices.Clone(row), text: func(s *streak) string {
				return fmt.Sprintf("unknown tools or unusable replies, %d turns in a row: the last was %s", turnCount(s.steps), unusableText(s.newest()))
			}}
		}
		if s := grow(open, true, turns >= th.Unusable, begin, newest); s != nil {
			found = append(found, s)
		}
	}
	return found
}

func turnCount(steps []*mark) int {
	n := 0
	for i, m := range steps {
		if i == 0 || m.Turn == 0 || m.Turn != steps[i-1].Turn {
			n++
		}
	}
	return n
}

func unusableText(m *mark) string {
	if m.Kind == Called {
		return m.exchange()
	}
	return m.resultText()
}

// turnsOf groups the calls of a stretch by turn; a turn without calls is a
// group of its own.
func turnsOf(stretch []mark) [][]*mark {
	var turns [][]*mark
	for i := range stretch {
		m := &stretch[i]
		if m.Kind != Called && m.Kind != Prose {
			continue
		}
		if n := len(turns); n > 0 && m.Kind == Called && m.Turn != 0 {
			if last := turns[n-1]; last[0].Kind == Called && last[0].Turn == m.Turn {
				turns[n-1] = append(last, m)
				continue
			}
		}
		turns = append(turns, []*mark{m})
	}
	return turns
}

// compacting is L8: compactions without a successful call between.
func compacting(stretch []mark, th Thresholds) []*streak {
	var found []*streak
	open := map[bool]*streak{}
	var row []*mark
	for i := range stretch {
		m := &stretch[i]
		switch {
		case m.Kind == Compaction:
			row = append(row, m)
		case m.Kind == Called && !m.Error && !m.Unusable:
			row = nil
		default:
			continue
		}
		begin := func() *streak {
			return &streak{rule: agent.RuleCompaction, severity: Stop, steps: slices.Clone(row), text: func(s *streak) string {
				return fmt.Sprintf("the conversation was compacted %d times without a successful call between", len(s.steps))
			}}
		}
		if s := grow(open, true, len(row) >= th.Compactions, begin, m); s != nil {
			found = append(found, s)
		}
	}
	return found
}
