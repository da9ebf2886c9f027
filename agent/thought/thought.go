// Package thought is the argument that Deckhand adds to what a model may call:
// why it makes the call, in a sentence. It is offered beside a tool's own
// arguments and taken off before the tool sees them.
//
//	thought.go  Offer: a schema with the argument; Take: arguments without it
//
// Where it is kept is the intent's (agent.ToolIntent); who is told of it is
// agent/trace's and bot/card's.
package thought

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Name is the argument that is offered. Why is taken for the same.
const (
	Name = "thought"
	Why  = "why"
)

// Most is how much of a thought is kept, in characters.
const Most = 300

// argument is how the argument is offered, as a property of a schema.
const argument = `"` + Name + `":{"type":"string","description":"why you make this call, in a sentence; optional"}`

// Offer adds the argument to the JSON Schema of a tool's arguments, as the first
// of them: a model gives its reason before the rest. A schema that has an argument
// of that name, or takes any, stays as it is.
func Offer(schema json.RawMessage) json.RawMessage {
	if Owns(schema, Name) {
		return schema
	}
	at, more, found := properties(schema)
	open := bytes.IndexByte(schema, '{')
	switch {
	case found && more:
		return insert(schema, at, argument+",")
	case found:
		return insert(schema, at, argument)
	case open < 0:
		return schema
	case bytes.HasPrefix(bytes.TrimSpace(schema[open+1:]), []byte("}")):
		return json.RawMessage(`{"type":"object","properties":{` + argument + `}}`)
	}
	return insert(schema, open+1, `"properties":{`+argument+`},`)
}

// insert puts a text into a schema.
func insert(schema json.RawMessage, at int, text string) json.RawMessage {
	return slices.Concat(schema[:at], json.RawMessage(text), schema[at:])
}

// properties is the place right behind the brace of a schema's own properties,
// and whether there are any.
func properties(schema json.RawMessage) (at int, some, found bool) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return 0, false, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, false, false
		}
		if key != "properties" {
			var skipped json.RawMessage
			if dec.Decode(&skipped) != nil {
				return 0, false, false
			}
			continue
		}
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			return 0, false, false
		}
		return int(dec.InputOffset()), dec.More(), true
	}
	return 0, false, false
}

// Owns reports whether the name may be an argument of the tool's own: its schema
// has it, or says that others are welcome.
func Owns(schema json.RawMessage, name string) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Patterns   map[string]json.RawMessage `json:"patternProperties"`
		More       json.RawMessage            `json:"additionalProperties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return true
	}
	_, named := s.Properties[name]
	return named || len(s.Patterns) > 0 || len(s.More) > 0 && string(s.More) != "false"
}

// Take takes the thought off a call's arguments, unless the tool, whose schema
// this is, has arguments of its own by its names. Arguments that are no JSON
// object stay as they are.
func Take(arguments, schema json.RawMessage) (rest json.RawMessage, thought string) {
	if !mayHold(arguments) {
		return arguments, ""
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(arguments, &all) != nil {
		return arguments, ""
	}
	taken := false
	for _, name := range []string{Name, Why} {
		value, given := all[name]
		if !given || Owns(schema, name) {
			continue
		}
		var text string
		if json.Unmarshal(value, &text) == nil && thought == "" {
			thought = short(text)
		}
		delete(all, name)
		taken = true
	}
	if !taken {
		return arguments, ""
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return arguments, ""
	}
	return rest, thought
}

// Of is the thought among a call's arguments, as they stand in an answer.
func Of(arguments string) string {
	_, thought := Take(json.RawMessage(arguments), json.RawMessage("{}"))
	return thought
}

// Without are a call's arguments as they stand in an answer, without their thought.
func Without(arguments string) string {
	rest, _ := Take(json.RawMessage(arguments), json.RawMessage("{}"))
	return string(rest)
}

// mayHold reports whether the arguments may have a thought, however it is spelt.
func mayHold(raw []byte) bool {
	return bytes.Contains(raw, []byte(`"`+Name)) || bytes.Contains(raw, []byte(`"`+Why)) || bytes.Contains(raw, []byte(`\u`))
}

// short is a thought on one line, within its bound.
func short(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if utf8.RuneCountInString(text) <= Most {
		return text
	}
	return string([]rune(text)[:Most-1]) + "…"
}
