package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Endpoints word a refusal in many shapes. This file reads what all of them say.

// refusalText is an error body in the words of whoever wrote it.
type refusalText struct {
	message, code, kind, param string

	number int // a code that is a number
}

// coded reports whether the endpoint gave one of the codes.
func (s refusalText) coded(codes []string) bool {
	return slices.ContainsFunc(codes, func(c string) bool { return strings.EqualFold(c, s.code) || strings.EqualFold(c, s.kind) })
}

// errorBody is what an error's object may hold, each in whatever type.
type errorBody struct {
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Code    json.RawMessage `json:"code"`
	Type    json.RawMessage `json:"type"`
	Param   json.RawMessage `json:"param"`
}

// readRefusal reads the shapes of error bodies: {"error": {"message", "code",
// "type"}}, {"error": "text"}, {"message"}, {"detail"}, a list of one of
// these, a web page, plain text.
func readRefusal(body []byte) refusalText {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer errorBody
	if json.Unmarshal(body, &outer) != nil {
		return refusalText{message: readable(string(body))}
	}
	var in errorBody
	if json.Unmarshal(outer.Error, &in) == nil && in.Message != nil {
		s := refusalText{message: readable(textOf(in.Message)), code: textOf(in.Code), kind: textOf(in.Type), param: textOf(in.Param)}
		_ = json.Unmarshal(in.Code, &s.number) // stays 0 where the code is a word
		return s
	}
	s := refusalText{code: textOf(outer.Code), kind: textOf(outer.Type)}
	_ = json.Unmarshal(outer.Code, &s.number) // as above
	s.message = readable(cmp.Or(textOf(outer.Error), textOf(outer.Message), textOf(outer.Detail), string(body)))
	return s
}

// textOf is a JSON string's text, or any other value as it stands.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil || string(raw) == "null" {
		return s
	}
	return string(raw)
}

// readable makes one line of at most 400 characters; of a web page it keeps the
// title.
func readable(s string) string {
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "<") {
		_, t, _ = strings.Cut(t, "<title>")
		t, _, _ = strings.Cut(t, "</title>")
		if s = "a web page"; t != "" {
			s += ` titled "` + t + `"`
		}
	}
	return strings.TrimRight(format.Line(strings.ToValidUTF8(s, "?"), 400), ".")
}
