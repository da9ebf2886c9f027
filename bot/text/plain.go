package text

// What the engine and the model's endpoint say of trouble, in words of people who
// know neither: their own words stand in the journal.

import (
	"regexp"
	"strings"
)

// faults are the kinds of faults of an endpoint (llm.Fault), and what they are to
// people.
var faults = map[string]string{
	"prompt too long": "what the model had to read is longer than it takes. Fewer or smaller files, or a model that takes more, would help",
	"invalid request": "the model did not take the question",
	"no credit":       "the account at the model's provider has no credit left",
	"unauthorised":    "the model does not take my key",
	"unknown model":   "there is no model of the name that I was given",
	"limited":         "the model takes no more requests for now",
	"away":            "the model gave no answer",
	"retries ran out": "the model gave no answer, however often I asked",
}

var endpoint = regexp.MustCompile(`model: ([a-z ]+?)(?: \\?\(HTTP \d+\\?\))?: [^\n]*`)

// WithoutEndpoint puts what a fault of a model's endpoint is to people in place of
// the endpoint's own words, which name hosts and limits.
func WithoutEndpoint(line string) string {
	at := endpoint.FindStringSubmatchIndex(line)
	if at == nil {
		return line
	}
	plain, known := faults[line[at[2]:at[3]]]
	if !known {
		return line
	}
	return line[:at[0]] + plain + line[at[1]:]
}

// steps are the detectors' words for what people call a step.
var steps = strings.NewReplacer(
	"the same call failed ", "the same step failed ", "the same call ", "the same step ",
	" re-plans", " new plans", "a cycle of ", "the same round of ", " calls, ", " steps, ",
	"turns in a row without a call", "answers in a row without a step", "without a successful call between", "without a step that worked between",
	"unknown tools or unusable replies, ", "answers that nobody can use, ", " turns in a row", " times in a row",
)

// InSteps is what a detector found, in words of people.
func InSteps(finding string) string { return steps.Replace(finding) }
