package reflect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// poll is a model call that looks at a job, and a job_status that puts itself
// off as often as the rests say before it answers.
func (b *book) poll(text string, rests ...time.Duration) {
	const args = `{"id":"job_00f1e2d3c4b5a697","wait":60}`
	call := b.ask(2*time.Second, llm.Work, llm.Message{Calls: []llm.Call{{ID: "c", Name: "job_status", Arguments: args}}}, "")
	effect := agent.EffectID(call + ".0")
	b.add(task, agent.ToolIntent{Effect: effect, Tool: "job_status", Arguments: json.RawMessage(args)})
	for i, r := range rests {
		until := b.now.Add(r)
		b.now = b.now.Add(time.Duration(7*i+3*b.calls%40) * time.Millisecond) // the commit takes its time
		b.add(task, agent.ToolDeferred{Effect: effect, Until: until})
		b.now = until.Add(15 * time.Millisecond)
		b.add(task, agent.TimePassed{})
	}
	b.add(task, agent.ToolOutcome{Effect: effect, State: agent.OutcomeOK, Text: text})
}

// status is what job_status says of a job that runs.
func status(runtime time.Duration, output string) string {
	return fmt.Sprintf("job job_00f1e2d3c4b5a697 (tests): running, runtime %s\nstdout: %d bytes:\n%s\nstderr: empty", runtime, len(output), output)
}

func TestJobsArePolled(t *testing.T) {
	minute := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 30 * time.Second}
	for _, c := range []struct {
		name  string
		polls int
		rests []time.Duration
		text  func(i int) string
		want  []string // rule and severity of all findings
	}{
		{"output that grows, 9 times", 9, minute, func(i int) string {
			return status(time.Duration(i)*time.Minute, strings.Repeat("ok  a package\n", i+1))
		}, nil},
		{"output that grows, 25 times", 25, minute, func(i int) string {
			return status(time.Duration(i)*time.Minute, strings.Repeat("ok  a package\n", i+1))
		}, nil},
		{"the shortest rests", 9, []time.Duration{time.Second}, func(i int) string { return status(time.Duration(i)*time.Second, "begun") }, nil},
		{"silence, 9 times", 9, minute, func(i int) string { return status(time.Duration(61*i)*time.Second, "begun") }, nil},
		{"silence, 10 times", 10, minute, func(i int) string { return status(time.Duration(61*i)*time.Second, "begun") }, []string{"L10 nudge"}},
		{"silence, 20 times", 20, minute, func(i int) string { return status(time.Duration(61*i)*time.Second, "begun") }, []string{"L10 nudge", "L10 stop"}},
		{"looks without a rest are a loop", 4, nil, func(i int) string { return status(time.Duration(61*i)*time.Second, "begun") }, []string{"L1 nudge", "L3 stop", "L9 check-in"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b book
			for i := range c.polls {
				b.poll(c.text(i), c.rests...)
			}
			var got []string
			for _, f := range b.examine() {
				got = append(got, f.Rule+" "+f.Severity)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}
