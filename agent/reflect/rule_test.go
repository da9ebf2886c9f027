package reflect

import (
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestRules(t *testing.T) {
	for _, test := range []struct {
		name, rule, script string
		want               []string
	}{
		{"L1: two of a kind are none", "L1", "A=1 B=2 A=1", nil},
		{"L1: three in ten", "L1", "A=1 B=2 A=1 C=3 A=1", []string{"L1 nudge 0,2,4"}},
		{"L1: the third is the eleventh", "L1", "A=1 A=1 B=1 B=2 B=3 B=4 B=5 B=6 B=7 B=8 A=1", nil},
		{"L1: the third is the tenth", "L1", "A=1 A=1 B=1 B=2 B=3 B=4 B=5 B=6 B=7 A=1", []string{"L1 nudge 0,1,9"}},
		{"L1: changing results are none", "L1", "A=1 A=2 A=3 A=4", nil},
		{"L1: once a streak", "L1", "A=1 A=1 A=1 B=2 A=1", []string{"L1 nudge 0,1,2,4"}},
		{"L1: a second streak", "L1", "A=1 A=1 A=1 B=1 B=2 B=3 B=4 B=5 B=6 B=7 B=8 B=9 B=10 A=1 A=1 A=1", []string{"L1 nudge 0,1,2", "L1 nudge 13,14,15"}},
		{"L1: a person starts it again", "L1", "A=1 A=1 @hello A=1 A=1", nil},
		{"L1: a person who repeats starts nothing", "L1", "@go A=1 A=1 @go A=1", []string{"L1 nudge 1,2,4"}},
		{"L1: prose starts nothing again", "L1", `A=1 "hm" A=1 "so" A=1`, []string{"L1 nudge 0,2,4"}},

		{"L2: two errors are none", "L2", "A!x A!y", nil},
		{"L2: three", "L2", "A!x A!y B=1 A!z", []string{"L2 nudge 0,1,3"}},
		{"L2: the fourth stops, and its nudge stays", "L2", "A!x A!y A!z B=1 A!u", []string{"L2 nudge 0,1,2,4", "L2 stop 0,1,2,4"}},
		{"L2: a denial is no error", "L2", "A=denied A=denied A=denied A=denied", nil},
		{"L2: other calls do not count", "L2", "A!x B!x C!x D!x", nil},
		{"L2: a person starts it again", "L2", "A!x A!y @hello A!x A!y", nil},

		{"L3: three in a row", "L3", "A=1 A=1 A=1", nil},
		{"L3: four in a row", "L3", "A=1 A=1 A=1 A=1", []string{"L3 stop 0,1,2,3"}},
		{"L3: five of ten", "L3", "A=1 B=1 A=1 B=2 A=1 B=3 A=1 B=4 A=1 B=5", nil},
		{"L3: six of ten", "L3", "A=1 A=1 B=1 A=1 A=1 B=2 A=1 A=1", []string{"L3 stop 0,1,3,4,6,7"}},
		{"L3: a person starts it again", "L3", "A=1 A=1 A=1 @hello A=1 A=1 A=1", nil},
		{"L3: also in one turn", "L3", "A=1 /A=1 /A=1 /A=1", []string{"L3 stop 0,1,2,3"}},

		{"L4: twice", "L4", "A=1 B=1 A=1 B=1 A=1", nil},
		{"L4: two calls three times", "L4", "A=1 B=1 A=1 B=1 A=1 B=1", []string{"L4 stop 0,1,2,3,4,5"}},
		{"L4: three calls three times", "L4", "A=1 B=1 C1=1 A=1 B=1 C1=1 A=1 B=1 C1=1", []string{"L4 stop 0,1,2,3,4,5,6,7,8"}},
		{"L4: five calls three times", "L4", strings.Repeat("A=1 B=1 C1=1 D=1 E=1 ", 3), []string{"L4 stop 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"}},
		{"L4: six calls are no cycle", "L4", strings.Repeat("A=1 B=1 C1=1 D=1 E=1 F=1 ", 3), nil},
		{"L4: changing results, four times", "L4", "A=1 B=1 A=2 B=2 A=3 B=3 A=4 B=4 A=5", nil},
		{"L4: changing results, five times", "L4", "A=1 B=1 A=2 B=2 A=3 B=3 A=4 B=4 A=5 B=5", []string{"L4 nudge 0,1,2,3,4,5,6,7,8,9"}},
		{"L4: four calls in a cycle of two are that", "L4", strings.Repeat("A=1 B=1 ", 6), []string{"L4 stop 0,1,2,3,4,5,6,7,8,9,10,11"}},
		{"L4: one call is no cycle", "L4", "A=1 A=2 A=1 A=2 A=1 A=2 A=1 A=2 A=1 A=2 A=1 A=2", nil},
		{"L4: a person starts it again", "L4", "A=1 B=1 A=1 B=1 @hello A=1 B=1", nil},

		{"L5: two turns", "L5", `"a" "b"`, nil},
		{"L5: three turns", "L5", `"a" "b" "c"`, []string{"L5 nudge 0,1,2"}},
		{"L5: two equal turns", "L5", `"a" "a"`, []string{"L5 nudge 0,1"}},
		{"L5: the next one stops", "L5", `"a" "a" "b"`, []string{"L5 nudge 0,1,2", "L5 stop 0,1,2"}},
		{"L5: a call starts it again", "L5", `"a" "b" A=1 "a" "b"`, nil},
		{"L5: a person starts it again", "L5", `"a" "b" @hello "a" "b"`, nil},

		{"L7: two", "L7", "A? ?", nil},
		{"L7: three", "L7", "A? ? B?", []string{"L7 stop 0,1,2"}},
		{"L7: a call that worked is between", "L7", "A? A? B=1 A?", nil},
		{"L7: three of one turn are one", "L7", "A? /B? /C? ?", nil},
		{"L7: a turn with one that worked", "L7", "A? A? B=1 /A? A?", nil},
		{"L7: turns of several calls", "L7", "A? /B? ? C? /D?", []string{"L7 stop 0,1,2,3,4"}},
		{"L7: a person starts it again", "L7", "A? A? @hello A?", nil},

		{"L8: one compaction", "L8", "A=1 C", nil},
		{"L8: two with nothing between", "L8", `C "hm" A!x B? C`, []string{"L8 stop 0,4"}},
		{"L8: a success between", "L8", "C A=1 C", nil},

		{"L9: other calls between", "L9", "A=1 B=1 A=1 B=2 A=2", nil},
		{"L9: twice running, whatever the result", "L9", "A=1 A=2", []string{"L9 check-in 0,1"}},
		{"L9: one check-in in ten steps", "L9", "A=1 A=2 B=3 B=4 C1=5 C1=6", []string{"L9 check-in 0,1"}},
		{"L9: the next one after ten", "L9", "A=1 A=2 B1=3 B2=4 B3=5 B4=6 B5=7 B6=8 B7=9 B8=10 D=11 D=12", []string{"L9 check-in 0,1", "L9 check-in 10,11"}},
		{"L9: fourteen without anything new", "L9", "X=1 A=1 B=1 C1=1 D=1 E=1 F=1 G=1 H=1 I=1 J=1 K=1 L=1 M=1 N=1", nil},
		{"L9: fifteen without anything new", "L9", "X=1 A=1 B=1 C1=1 D=1 E=1 F=1 G=1 H=1 I=1 J=1 K=1 L=1 M=1 N=1 O=1", []string{"L9 check-in 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"}},
		{"L9: an artifact is new", "L9", "X=1 A=1 B=1 C1=1 D=1 E=1 F=1 +G=1 H=1 I=1 J=1 K=1 L=1 M=1 N=1 O=1", nil},
		{"L9: the same artifact is not", "L9", "+X=1 A=1 B=1 C1=1 D=1 E=1 F=1 +X=1 H=1 I=1 J=1 K=1 L=1 M=1 N=1 O=1", []string{"L9 check-in 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantBrief(t, only(test.rule, Examine(script(t, "", test.script), Defaults())), test.want...)
		})
	}
}

func TestPolling(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         []string // rules and severities
	}{
		{"nine are fine", pollScript(9, "~5"), nil},
		{"ten are a nudge", pollScript(10, "~5"), []string{"L10 nudge"}},
		{"nineteen", pollScript(19, "~1"), []string{"L10 nudge"}},
		{"twenty stop", pollScript(20, "~5"), []string{"L10 nudge", "L10 stop"}},
		{"growing pauses", "A=1 ~1 A=1 ~2 A=1 ~4 A=1 ~8 A=1 ~16 A=1", nil},
		{"a jitter is no shrinking", "A=1 ~5.02 A=1 ~5 A=1 ~5.01 A=1 ~4.9 A=1", nil},
		{"shrinking pauses", "A=1 ~8 A=1 ~4 A=1 ~2 A=1", []string{"L1 nudge", "L9 check-in", "L3 stop"}},
		{"pauses below a second", "A=1 ~.9 A=1 ~.9 A=1 ~.9 A=1", []string{"L9 check-in", "L1 nudge", "L3 stop"}},
		{"a changed result starts again", pollScript(9, "~5") + " ~5 A=2 " + strings.Repeat("~5 A=2 ", 8), nil},
		{"shorter pauses after a change", pollScript(5, "~9") + " ~9 A=2 ~2 A=2 ~2 A=2 ~2 A=2", nil},
		{"errors count as equal", "A!a ~5 A!b ~5 A!c ~5 A!d ~5 A!e ~5 A!f ~5 A!g ~5 A!h ~5 A!i ~5 A!j", []string{"L10 nudge"}},
		{"one quick look at the end", pollScript(8, "~5") + " A=1", []string{"L9 check-in"}},
		{"and then a loop", pollScript(8, "~5") + " A=1 A=1 A=1", []string{"L9 check-in", "L1 nudge", "L3 stop"}},
		{"waits are pauses", strings.Repeat("A=1 wait2 ", 9), nil},
		{"ten with waits", strings.Repeat("A=1 wait2 ", 10), []string{"L10 nudge"}},
		{"two things in turn", strings.Repeat("A=1 B=1 wait2 ", 9), nil},
		{"two things for long", strings.Repeat("A=1 B=1 wait2 ", 10), []string{"L10 nudge", "L10 nudge"}},
		{"a wait below a second is a call", strings.Repeat("A=1 wait.5 ", 3), []string{"L1 nudge", "L1 nudge", "L4 stop"}},
		{"nine waits", strings.Repeat("wait2 ", 9), nil},
		{"nothing but waits", strings.Repeat("wait2 ", 20), []string{"L10 nudge", "L10 stop"}},
		{"a person starts it again", pollScript(9, "~5") + " @hello " + pollScript(9, "~5"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range Examine(script(t, "", test.script), Defaults()) {
				got = append(got, f.Rule+" "+f.Severity)
			}
			if strings.Join(got, ", ") != strings.Join(test.want, ", ") {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

func TestCallsOfATask(t *testing.T) {
	words := make([]string, 60)
	for i := range words {
		words[i] = "T" + strings.Repeat("x", i) + "=" + strings.Repeat("y", i)
	}
	for _, test := range []struct {
		strand agent.StrandID
		calls  int
		want   int
	}{{"task/t1", 29, 0}, {"task/t1", 30, 1}, {"task/t1", 59, 1}, {"task/t1", 60, 2}, {"main", 60, 0}, {"", 60, 0}} {
		found := Examine(script(t, test.strand, strings.Join(words[:test.calls], " ")), Defaults())
		if len(found) != test.want || test.want > 0 && (found[0].Rule != "L9" || len(found[0].Events) < 30) {
			t.Errorf("%d calls on %q: %q, want %d of L9", test.calls, test.strand, brief(found), test.want)
		}
	}
}

// The sentence: an identical loop must end within 5 model calls.
func TestIdenticalLoopEndsWithinFiveCalls(t *testing.T) {
	for name, result := range map[string]func(i int) string{
		"equal":   func(int) string { return "nothing" },
		"noisy":   func(i int) string { return "nothing, took " + time.Duration(i*7e6+1e6).String() },
		"failing": func(int) string { return "error: no such file" },
	} {
		trace, stopped := &Trace{Strand: "task/t1"}, 0
		var already []agent.Finding
		for i := 0; stopped == 0 && i < 10; i++ {
			trace.Push(Step{Event: uint64(i), Tool: "read_file", Arguments: `{"path":"a"}`, Text: result(i)})
			found := Watch(trace, Defaults(), already)
			already = append(already, found...)
			for _, f := range found {
				if f.Severity == Stop {
					stopped = i + 1
				}
			}
		}
		if stopped == 0 || stopped > 5 {
			t.Errorf("%s: stopped after %d calls, want at most 5", name, stopped)
		}
	}
}

func TestMessagesAreHarmless(t *testing.T) {
	trace := &Trace{}
	for i := range 3 {
		trace.Push(Step{Event: uint64(i), Tool: "x\x1b[2J", Arguments: "{\"a\":\"\u202e\"}", Text: "bell \a ” stop\nnow \xff" + strings.Repeat("long ", 100)})
	}
	found := only("L1", Examine(trace, Defaults()))
	if len(found) != 1 {
		t.Fatalf("found %q", brief(found))
	}
	want := `the same call 3 times with the same result: x⟨U+001B⟩[2J “⟨U+202E⟩”; the answer was “bell ⟨U+0007⟩ ' stop now ⟨FF⟩long`
	if m := found[0].Message; !strings.HasPrefix(m, want) || !strings.HasSuffix(m, "…”") || len(m) > 400 {
		t.Errorf("message %q, want it to begin with %q and to end shortened", m, want)
	}
}
