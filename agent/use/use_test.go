package use

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// story makes the journal of one task.
type story struct{ events []agent.Event }

func (s *story) add(b agent.Body) uint64 {
	seq := uint64(len(s.events) + 1)
	s.events = append(s.events, agent.Event{Run: "r", Seq: seq, Strand: agent.TaskStrand("a"), Body: b})
	return seq
}

// call is a call of a tool and its outcome.
func (s *story) call(id string, repeat agent.Repeat, arguments, result string, state agent.OutcomeState) {
	cost := agent.Nano(1000)
	s.add(agent.ModelAnswered{Call: id, Purpose: llm.Work, Cost: &cost, Message: &llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: id, Name: "t", Arguments: arguments}}}})
	s.add(agent.ToolIntent{Effect: agent.EffectID(id + ".0"), Tool: "t", Arguments: json.RawMessage(arguments), Repeat: repeat})
	s.add(agent.ToolOutcome{Effect: agent.EffectID(id + ".0"), State: state, Text: result, Took: time.Second})
}

func TestWhatBecomesOfResults(t *testing.T) {
	s := &story{}
	s.add(agent.RunStarted{Goal: "find the harbour master's number and write it down"})
	s.call("1", agent.RepeatRead, `{"q":"harbour master"}`, "harbour master: Ann Miller, 555-0199", agent.OutcomeOK)
	s.call("2", agent.RepeatRead, `{"q":"harbour master"}`, "the harbour master's number", agent.OutcomeOK)
	s.call("3", agent.RepeatRead, `{"q":"weather"}`, "error: no such place", agent.OutcomeError)
	s.call("4", agent.RepeatProbeable, `{"text":"call 555-0199"}`, "written", agent.OutcomeOK)
	s.call("5", agent.RepeatRead, `{"expression":"6*7"}`, "42", agent.OutcomeOK)
	s.call("6", agent.RepeatRead, `{"q":"ships"}`, "Aurora, Borealis", agent.OutcomeOK)
	finished := s.add(agent.TaskFinishing{Task: "a", Summary: "the answer is 42", Outputs: []agent.Output{}})
	open := Of(s.events)
	s.add(agent.TaskEnded{Task: "a", State: agent.TaskDone})
	var got []Worth
	list := Of(s.events)
	for _, u := range list {
		got = append(got, u.Worth)
	}
	want := []Worth{Used, Useless, Failed, Used, Used, Useless}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("call %d is worth %q, want %q", i+1, got[i], want[i])
		}
	}
	if open[5].Worth != Open || list[4].By != finished {
		t.Errorf("before the end %+v; used by %d", open[5], list[4].By)
	}
	figures := map[string]Figures{}
	Add(figures, list)
	f := figures["t"]
	if share, known := f.UselessShare(); f.Calls != 6 || f.Failures != 1 || f.Cost != 6000 || f.Took != 6*time.Second || !known || share != 0.4 {
		t.Errorf("figures %+v, useless %v", f, share)
	}
}

// A result that is named by its artifact or its file was used.
func TestResultsThatAreNamed(t *testing.T) {
	s := &story{}
	s.add(agent.ToolIntent{Effect: "e", Tool: "t", Repeat: agent.RepeatRead, Arguments: json.RawMessage(`{}`)})
	s.add(agent.ToolOutcome{Effect: "e", State: agent.OutcomeOK, Text: "aaaa", Artifact: "0123456789abcdef"})
	by := s.add(agent.ModelAnswered{Call: "2", Purpose: llm.Work, Message: &llm.Message{Calls: []llm.Call{{Arguments: `{"text":"${artifact:0123456789abcdef}"}`}}}})
	if list := Of(s.events); list[0].Worth != Used || list[0].By != by {
		t.Errorf("got %+v", list)
	}
}
