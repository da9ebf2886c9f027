package reflect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Calls that are no work hide no loop, and are one where they come alone. What
// they say differs each time.
func TestIdleCalls(t *testing.T) {
	for _, test := range []struct {
		name, rule, script string
		want               []string
	}{
		{"between equal calls", "L3", "A=1 -S=1 A=1 -S=2 A=1 -S=3 A=1", []string{"L3 stop 0,2,4,6"}},
		{"between equal calls, the nudge", "L1", "A=1 -S=1 A=1 -S=2 A=1", []string{"L1 nudge 0,2,4"}},
		{"between errors", "L2", "A!x -S=1 A!y -N=1 A!z -S=2 A!u", []string{"L2 nudge 0,2,4,6", "L2 stop 0,2,4,6"}},
		{"in the window of ten", "L1", "A=1 -S=1 -N=1 -S=2 B=1 B=2 B=3 B=4 B=5 A=1 A=1", []string{"L1 nudge 0,9,10"}},
		{"in a cycle", "L4", "A=1 B=1 -S=1 A=1 B=1 A=1 -S=2 B=1", []string{"L4 stop 0,1,3,4,5,7"}},
		{"between unusable replies", "L7", "A? -S=1 ? -N=1 B?", []string{"L7 stop 0,2,4"}},
		{"between compactions", "L8", "C -S=1 C", []string{"L8 stop 0,2"}},
		{"between polls", "L10", strings.Repeat("A=1 -S=1 wait2 ", 10), []string{
			"L10 nudge 0,3,6,9,12,15,18,21,24,27", "L10 nudge 1,4,7,10,13,16,19,22,25,28"}},
		{"between calls twice running", "L9", "A=1 -S=1 A=2", []string{"L9 check-in 0,2"}},
		{"twice running itself", "L9", "A=1 -S=1 -S=2", []string{"L9 check-in 1,2"}},
		{"not twice running", "L9", "-S=1 A=1 -S=2 B=2 -S=3", nil},
		{"nothing new by it", "L9", "X=1 -S=1 A=1 -S=2 B=1 -S=3 C1=1 -S=4 D=1 -S=5 E=1 -S=6 F=1 -S=7 G=1 -S=8", []string{"L9 check-in 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"}},

		{"alone, three in ten", "L1", "-N=1 A=1 -N=2 B=2 -N=3", []string{"L1 nudge 0,2,4"}},
		{"alone, the third is the eleventh", "L1", "-N=1 -N=1 B=1 B=2 B=3 B=4 B=5 B=6 B=7 B=8 -N=1", nil},
		{"alone, four in a row", "L3", "A=1 -N=1 -N=2 -N=3 -N=4", []string{"L3 stop 1,2,3,4"}},
		{"alone, work between", "L3", "-N=1 -N=1 A=1 -N=1 -N=1 B=1", nil},
		{"alone, more than half", "L3", "-N=1 -N=1 A=1 -N=1 -N=1 B=2 -N=1 -N=1", []string{"L3 stop 0,1,3,4,6,7"}},
		{"in turn", "L4", "-S=1 -N=1 -S=2 -N=1 -S=3 -N=1", []string{"L4 stop 0,1,2,3,4,5"}},
		{"a person starts it again", "L3", "-N=1 -N=1 @go -N=1 -N=1", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantBrief(t, only(test.rule, Examine(script(t, "", test.script), Defaults())), test.want...)
		})
	}
}

// In a journal the functions are known by their names where Deckhand itself
// answered, whatever reason or result they have.
func TestIdleCallsOfAJournal(t *testing.T) {
	for function, want := range map[string]string{agent.CallNothing: "L3", agent.CallStatus: "L3", "ask_human": ""} {
		var j Journal
		seq := uint64(0)
		on := func(b agent.Body) {
			seq++
			j.Apply(agent.Event{Strand: "task/a", Seq: seq, At: time.Unix(int64(seq), 0), Body: b})
		}
		for i := range 4 {
			id, args := fmt.Sprint("task/a.", i), fmt.Sprintf(`{"reason": "reason %d"}`, i)
			on(agent.ModelAnswered{Call: id, Purpose: llm.Work, Message: &llm.Message{Calls: []llm.Call{{ID: "c", Name: function, Arguments: args}}}})
			on(agent.CallReplied{Effect: agent.EffectID(id + ".0"), Text: fmt.Sprint("result number ", i, " is all new")})
		}
		var stops []string
		for _, f := range Examine(j.Trace("task/a"), Defaults()) {
			if f.Severity == Stop {
				stops = append(stops, f.Rule)
			}
		}
		if got := strings.Join(stops, " "); got != want {
			t.Errorf("%s four times: stopped by %q, want %q", function, got, want)
		}
	}
}

// A loop with looks at oneself between is found by a watch while it goes on.
func TestWatchSeesThroughIdleCalls(t *testing.T) {
	trace, stopped := &Trace{Strand: "task/t1"}, 0
	var already []agent.Finding
	for i := 0; stopped == 0 && i < 20; i++ {
		s := Step{Event: uint64(i), Tool: "read_file", Arguments: `{"path":"a"}`, Text: "nothing"}
		if i%2 == 1 {
			s = Step{Event: uint64(i), Tool: agent.CallStatus, Text: fmt.Sprint(i, " calls"), Idle: true}
		}
		trace.Push(s)
		found := Watch(trace, Defaults(), already)
		already = append(already, found...)
		for _, f := range found {
			if f.Severity == Stop {
				stopped = i + 1
			}
		}
	}
	if stopped != 7 {
		t.Errorf("stopped after %d calls, want after the fourth read, which is the seventh", stopped)
	}
}
