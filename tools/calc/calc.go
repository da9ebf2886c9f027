package calc

// The tool.

import (
	"context"
	"encoding/json"

	"github.com/deckhand-bot/deckhand/agent"
)

// longestExpression is the length of the longest expression, in bytes.
const longestExpression = 10_000

// Tool is the tool calculator.
type Tool struct{}

// Spec describes the tool.
func (Tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "calculator",
		Description: "Calculates exactly with decimals: + - * / ^ ( ) and ! (factorial), % (remainder, not per cent), pi, e, sqrt(x), abs(x), round(x, places), " +
			"floor(x), ceil(x), ln(x), log10(x), exp(x), min, max, sum and avg of any number of values. " +
			"No thousands separators. A result that is not exact says that it is rounded to 34 digits.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["expression"],"properties":{
			"expression":{"type":"string","minLength":1,"maxLength":10000,"description":"For example round((1299.90 - 1000) * 1.19, 2)"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// Run calculates.
func (Tool) Run(ctx context.Context, c agent.Call) agent.Result {
	var args struct {
		Expression string `json:"expression"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return agent.Failed("calculator: the arguments do not fit: " + err.Error())
	}
	text, err := Evaluate(ctx, args.Expression)
	if err != nil {
		return agent.Failed("calculator: " + err.Error())
	}
	return agent.Result{State: agent.OutcomeOK, Text: text, Trust: agent.Trusted}
}
