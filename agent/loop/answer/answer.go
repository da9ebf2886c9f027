// Package answer judges whether a model's answer can be used at all.
//
//	answer.go  Judge: what is wrong with an answer; Chants: whether it goes round in circles
package answer

import (
	"encoding/json"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// Judge decides whether an answer can be used at all. Its calls are
// looked at one by one later, unless one was cut off at the limit, which says
// how long an answer may be.
func Judge(a *agent.ModelAnswered, resp llm.Response, limit string) {
	m := resp.Message
	spelt := len(m.Calls) > 0 && strings.HasPrefix(strings.TrimSpace(m.Content), "{") // the text is the call: model.mode json
	if words, is := chanted(m.Content); is && !spelt {
		m.Content, m.Calls = words, nil
		a.Message, a.Problem = &m, reflect.Advice(agent.RuleChant)
		return
	}
	switch {
	case m.Refusal != "":
		a.Error = "the model declined: " + m.Refusal
	case resp.Finish == "content_filter":
		a.Error = "the provider's content filter stopped the answer"
	case resp.Finish == "length" && cutCall(m.Calls) != "":
		a.Problem = agent.CutOff("Your call of "+cutCall(m.Calls), limit, "Call it again with less at once; long content goes in parts.")
	case len(m.Calls) > 0:
		a.Message = &m
	case resp.Finish == "length":
		a.Message, a.Problem = &m, agent.CutOff("Your answer", limit, "Answer again, shorter, by calling one of the functions.")
	case strings.TrimSpace(m.Content) == "":
		a.Problem = "Your answer was empty. Answer by calling one of the functions."
	default:
		a.Message, a.Problem = &m, "Text alone does nothing here, and neither does JSON in the text. Answer by calling one of the functions."
	}
}

// cutCall names the function whose arguments break off, if the last call's do.
func cutCall(calls []llm.Call) string {
	if n := len(calls); n > 0 && !json.Valid([]byte(calls[n-1].Arguments)) {
		return calls[n-1].Name
	}
	return ""
}

// Chants watches an answer under way and cuts it when it chants (L6).
func Chants() (write func(piece string) (cut bool)) {
	c := reflect.NewChants(reflect.Defaults())
	return func(piece string) bool {
		_, found := c.Write(piece)
		return found
	}
}

// chanted is an answer up to the end of its chant, where it has one.
func chanted(text string) (words string, is bool) {
	c, is := reflect.Chanting(text, reflect.Defaults())
	return text[:c.End], is
}
