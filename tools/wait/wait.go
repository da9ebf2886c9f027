package wait

// The tool.

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Longest is the longest wait, in seconds.
const Longest = 3600

// Tool is the tool wait.
type Tool struct{}

// Spec describes the tool.
func (Tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "wait",
		Description: "Waits without costing anything, for example until something outside has had time to happen. Fractions are allowed.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["seconds"],"properties":{
			"seconds":{"type":"number","minimum":0,"maximum":` + strconv.Itoa(Longest) + `,"description":"How long, at most an hour"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// Run asks to be called again after the time, and says then that it passed.
func (Tool) Run(_ context.Context, c agent.Call) agent.Result {
	var args struct {
		Seconds float64 `json:"seconds"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return agent.Failed("wait: the arguments do not fit: " + err.Error())
	}
	if !(args.Seconds >= 0 && args.Seconds <= Longest) {
		return agent.Failed(fmt.Sprintf("wait: seconds must be between 0 and %d, got %v; wait again after an hour where more is needed", Longest, args.Seconds))
	}
	if d := time.Duration(args.Seconds * float64(time.Second)); c.Deferred == 0 && d > 0 {
		return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Again: d}
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: "waited " + strconv.FormatFloat(args.Seconds, 'f', -1, 64) + " s"}
}
