package reflect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script builds a trace from words, one a step, numbered from 0:
//
//	A=1    the call A with the result 1     A!x   the call A with the error x
//	A?     an unusable call                 "hi"  prose (a quoted word)
//	?      an unusable reply                @hi   a person says hi
//	C      a compaction                     +A=1  a call that writes an artifact
//	/A=1   a call in the turn of the call before
//	-A=1   a call that is no work
//	wait5  a wait of 5 seconds              ~2.5  a pause before the next call, in seconds
func script(t *testing.T, strand agent.StrandID, text string) *Trace {
	t.Helper()
	trace := &Trace{Strand: strand}
	var pause time.Duration
	var turn, n uint64
	for w := range strings.FieldsSeq(text) {
		s := Step{Event: n, Kind: Called}
		if rest, is := strings.CutPrefix(w, "~"); is {
			seconds, err := strconv.ParseFloat(rest, 64)
			if err != nil {
				t.Fatal(err)
			}
			pause = time.Duration(seconds * float64(time.Second))
			continue
		}
		rest, beside := strings.CutPrefix(w, "/")
		if !beside {
			turn++
		}
		s.Turn = turn
		rest, s.Artifact = strings.CutPrefix(rest, "+")
		rest, s.Idle = strings.CutPrefix(rest, "-")
		switch {
		case strings.HasPrefix(rest, "wait"):
			s.Tool, s.Arguments, s.Text = "wait", fmt.Sprintf(`{"seconds":%s}`, rest[4:]), "waited"
		case rest == "C":
			s.Kind = Compaction
		case rest == "?":
			s.Kind, s.Unusable = Prose, true
		case rest[0] == '"':
			s.Kind, s.Text = Prose, strings.Trim(rest, `"`)
		case rest[0] == '@':
			s.Kind, s.Text = Person, rest[1:]
		case strings.HasSuffix(rest, "?"):
			s.Tool, s.Text, s.Error, s.Unusable = rest[:len(rest)-1], "error: unknown", true, true
		case strings.Contains(rest, "!"):
			s.Tool, s.Text, _ = strings.Cut(rest, "!")
			s.Error = true
		default:
			s.Tool, s.Text, _ = strings.Cut(rest, "=")
		}
		s.Pause, pause = pause, 0
		trace.Push(s)
		n++
	}
	return trace
}

// brief is findings as "L1 nudge 0,1,2".
func brief(found []agent.Finding) []string {
	list := []string{}
	for _, f := range found {
		var events []string
		for _, n := range f.Events {
			events = append(events, strconv.FormatUint(n, 10))
		}
		list = append(list, f.Rule+" "+f.Severity+" "+strings.Join(events, ","))
	}
	return list
}

// only keeps the findings of one rule.
func only(rule string, found []agent.Finding) []agent.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f agent.Finding) bool { return f.Rule != rule })
}

func wantBrief(t *testing.T, got []agent.Finding, want ...string) {
	t.Helper()
	if b := brief(got); !slices.Equal(b, want) {
		t.Errorf("found %q, want %q", b, want)
	}
}

// pollScript is a script of n polls of A with the pause between.
func pollScript(n int, pause string) string {
	return strings.TrimPrefix(strings.Repeat(pause+" A=1 ", n), pause)
}

// fromJournal returns the traces of a run's strands.
func fromJournal(events []agent.Event) map[agent.StrandID]*Trace {
	var j Journal
	for _, e := range events {
		j.Apply(e)
	}
	traces := make(map[agent.StrandID]*Trace, len(j.strands))
	for id, s := range j.strands {
		traces[id] = &s.trace
	}
	return traces
}
