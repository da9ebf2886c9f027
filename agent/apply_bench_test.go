package agent

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// working is a run whose tasks are all at work, each with a few answers.
func working(tasks int) Run {
	var plan Plan
	for i := range tasks {
		plan.Tasks = append(plan.Tasks, Task{ID: TaskID(fmt.Sprint("t", i)), Title: "count", Instructions: "count the lines"})
	}
	r := Run{}
	on := func(s StrandID, b Body) { r = r.Apply(Event{Run: "r1", Strand: s, Seq: r.Seq + 1, At: noon, Body: b}) }
	on(Main, RunStarted{Goal: "count", Requester: "ann", ReplyTo: "slack:T:C:1"})
	on(Main, PlanAccepted{Plan: plan})
	for _, t := range plan.Tasks {
		on(Main, TaskStarted{Task: t.ID, Instructions: t.Instructions})
	}
	return r
}

// BenchmarkApply is what the events of one step of a task cost, in runs with
// more and more tasks at work.
func BenchmarkApply(b *testing.B) {
	for _, tasks := range []int{4, 64, 256, 1000} {
		b.Run(strconv.Itoa(tasks), func(b *testing.B) {
			r := working(tasks)
			step := []Body{
				ModelAsked{Call: "c", Purpose: llm.Work, Model: "m"},
				ModelAnswered{Call: "c", Purpose: llm.Work, Message: &llm.Message{Role: llm.Assistant,
					Calls: []llm.Call{{ID: "c1", Name: "read_file", Arguments: `{"path":"a"}`}}}},
				ToolIntent{Tool: "read_file", Repeat: RepeatRead},
				ToolOutcome{State: OutcomeOK, Text: "3"},
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s := TaskStrand(TaskID(fmt.Sprint("t", i%tasks)))
				effect := EffectID(fmt.Sprintf("%s.%d.0", s, r.Strands.Of(s).Calls+1))
				for _, body := range step {
					switch body := body.(type) {
					case ToolIntent:
						body.Effect = effect
						r = r.Apply(Event{Run: "r1", Strand: s, Seq: r.Seq + 1, At: noon, Body: body})
					case ToolOutcome:
						body.Effect = effect
						r = r.Apply(Event{Run: "r1", Strand: s, Seq: r.Seq + 1, At: noon, Body: body})
					default:
						r = r.Apply(Event{Run: "r1", Strand: s, Seq: r.Seq + 1, At: noon, Body: body})
					}
				}
			}
			if got := r.Spent.Tools; got != b.N {
				b.Fatalf("%d tools ran in %d steps", got, b.N)
			}
		})
	}
}
