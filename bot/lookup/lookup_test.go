package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/use"
)

// tide is a tool of a source.
type tide struct{}

func (tide) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "ocean__tide", Source: "ocean", Class: agent.ClassRead, Description: "Height of the tide. *Shout*", Parameters: json.RawMessage(`{"type":"object"}`)}
}
func (tide) Run(context.Context, agent.Call) agent.Result { return agent.Result{} }
func (tide) Documentation(context.Context) string         { return "The whole manual ``` of the tide." }

type box struct{}

func (box) Specs() []agent.ToolSpec {
	return []agent.ToolSpec{{Name: "calculator", Class: agent.ClassRead}, tide{}.Spec()}
}
func (box) Tool(name string) (agent.Tool, bool) { return tide{}, name == "ocean__tide" }
func (box) Nearest(string) []string             { return []string{"ocean__tide"} }
func (box) Find(words string, _ int) []agent.Match {
	if strings.Contains(words, "tide") {
		return []agent.Match{{Name: "ocean__tide", Score: 0.9}}
	}
	return nil
}

func (box) Check(_ string, arguments json.RawMessage) error {
	if string(arguments) != `{}` {
		return errors.New("`x` is unknown, there are no arguments")
	}
	return nil
}

func TestShelf(t *testing.T) {
	accepted := ""
	s := Shelf{Tools: box{},
		Accept: func(_ context.Context, source string) ([]string, error) {
			if source != "ocean" {
				return nil, errors.New("there is no such source")
			}
			accepted = source
			return []string{"tide\n  was: a\n  is:  b"}, nil
		},
		Figures: func(context.Context) (map[string]use.Figures, error) {
			return map[string]use.Figures{"ocean__tide": {Calls: 4, Failures: 1, Judged: 3, Useless: 1, Took: 4 * time.Second, Cost: agent.Dollar / 100}}, nil
		}}
	for _, tt := range []struct {
		line, want string
		admin      bool
	}{
		{"", "**ocean**: 1 tool", false},
		{"list", "4 calls, 1 failed, 33 % of no use, 1s a call, $0.0100", false},
		{"list ocean", "`ocean__tide` (read): Height of the tide. \\*Shout\\*", false},
		{"list built in", "`calculator`", false},
		{"list sea", "There is no source", false},
		{"show ocean__tide", "The whole manual ''' of the tide.", false},
		{"show tide", "There is no tool", false},
		{"search height of the tide", "`ocean__tide` (0.90)", false},
		{"search harpsichord", "No tool fits", false},
		{"check ocean__tide {}", "Those arguments fit", false},
		{"check ocean__tide {\"x\":1}", "is unknown", false},
		{"check tide {}", "There is no tool", false},
		{"accept ocean", "Only the administrators", false},
		{"accept ocean", "Took over 1 changed tool", true},
		{"accept lake", "no such source", true},
		{"dance", "tools search WORDS", false},
	} {
		got, err := s.Answer(t.Context(), tt.line, tt.admin)
		if err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%q is answered %q, %v; want %q in it", tt.line, got, err, tt.want)
		}
	}
	if accepted != "ocean" {
		t.Error("nothing was accepted")
	}
}

func TestWhy(t *testing.T) {
	if got := Why(nil); got != "No tool was called yet." {
		t.Errorf("before any call: %q", got)
	}
	task := agent.TaskStrand("a")
	events := []agent.Event{
		{Seq: 1, Strand: agent.Main, Body: agent.RunStarted{Goal: "g"}},
		{Seq: 2, Strand: task, Body: agent.ModelAnswered{Call: "1", Purpose: llm.Work, Message: &llm.Message{Calls: []llm.Call{{Name: "tide"}}}}},
		{Seq: 3, Strand: task, Body: agent.ToolIntent{Effect: "1.0", Tool: "tide", Repeat: agent.RepeatRead, Thought: "I need *the* tide", Arguments: json.RawMessage(`{}`)}},
		{Seq: 4, Strand: task, Body: agent.ToolOutcome{Effect: "1.0", State: agent.OutcomeOK, Text: "4.20 m"}},
		{Seq: 5, Strand: task, Body: agent.TaskFinishing{Task: "a", Summary: "it is 4.20 high"}},
	}
	if got := Why(events); !strings.Contains(got, "`tide`: “I need \\*the\\* tide” → what came back was used") {
		t.Errorf("got %q", got)
	}
}
