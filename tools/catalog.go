package tools

// Files of tools that are only described: what `--tools FILE` reads. They come in
// the shapes that other programs write, and become JSON Schemas.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// described is a tool that can be looked at, and not called.
type described struct{ spec agent.ToolSpec }

func (d described) Spec() agent.ToolSpec { return d.spec }

func (d described) Run(context.Context, agent.Call) agent.Result {
	return agent.Failed(d.spec.Name + " is only described in a file: it cannot be called")
}

// Describe is a Box of tools that calls can be checked against, and not made. Of
// two tools with one name the first counts.
func Describe(specs []agent.ToolSpec) *Box {
	list, seen := make([]agent.Tool, 0, len(specs)), map[string]bool{}
	for _, s := range specs {
		if !seen[s.Name] {
			seen[s.Name] = true
			s.Source = "file" // arguments that it does not name are refused
			list = append(list, described{s})
		}
	}
	box, _ := Gather(list...) // no two have the same name
	return box
}

// entry is a tool as files write it.
type entry struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Input       json.RawMessage `json:"input"`
	InputSchema json.RawMessage `json:"inputSchema"`
	InputSnake  json.RawMessage `json:"input_schema"`
	Inputs      json.RawMessage `json:"input_parameters"`
	Function    *entry          `json:"function"`
}

// ErrCatalog is wrapped by what is wrong with a file of tools.
var ErrCatalog = errors.New("this is no list of tools")

// ParseCatalog reads {"tools": [...]} or an array of tools, each {"name",
// "description", "parameters"} (or "input", "inputSchema", "input_schema",
// "input_parameters") or OpenAI's {"type": "function", "function": {...}}.
// Parameters are a JSON Schema, a map of names to types or schemas, or a list of
// {"name", "type"}; a tool that says nothing of them takes any.
func ParseCatalog(data []byte) ([]agent.ToolSpec, error) {
	var file struct {
		Tools *[]json.RawMessage `json:"tools"`
	}
	var list []json.RawMessage
	switch data = bytes.TrimSpace(data); {
	case len(data) > 0 && data[0] == '[':
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCatalog, err)
		}
	default:
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCatalog, err)
		}
		if file.Tools == nil {
			return nil, fmt.Errorf("%w: it must be an array, or an object with the key tools", ErrCatalog)
		}
		list = *file.Tools
	}
	specs := make([]agent.ToolSpec, 0, len(list))
	for i, raw := range list {
		spec, err := parseEntry(raw)
		if err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", ErrCatalog, i+1, err)
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

func parseEntry(raw json.RawMessage) (agent.ToolSpec, error) {
	var e entry
	if json.Unmarshal(raw, &e.Name) != nil {
		if err := json.Unmarshal(raw, &e); err != nil {
			return agent.ToolSpec{}, err
		}
	}
	if e.Function != nil {
		e = *e.Function
	}
	if e.Name == "" {
		return agent.ToolSpec{}, errors.New("it has no name")
	}
	spec := agent.ToolSpec{Name: e.Name, Description: e.Description, Parameters: json.RawMessage(`{"type":"object"}`)}
	for _, given := range []json.RawMessage{e.Parameters, e.InputSchema, e.InputSnake, e.Inputs, e.Input} {
		if len(given) == 0 || string(given) == "null" {
			continue
		}
		var types []string
		if json.Unmarshal(given, &types) == nil && bytes.Equal(given, e.Input) {
			return spec, nil // the types that it takes, as plans use them
		}
		var v any
		if err := json.Unmarshal(given, &v); err != nil {
			return spec, err
		}
		schema, err := json.Marshal(parametersOf(v))
		spec.Parameters = schema
		return spec, err
	}
	return spec, nil
}

// parametersOf is the JSON Schema of parameters as files write them.
func parametersOf(v any) map[string]any {
	switch v := v.(type) {
	case string:
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil {
			if _, again := inner.(string); !again {
				return parametersOf(inner)
			}
		}
	case []any:
		return listed(v)
	case map[string]any:
		if isSchema(v) {
			mend(v, 0)
			v["type"] = "object"
			return v
		}
		return named(v)
	}
	return map[string]any{"type": "object"}
}

// isSchema tells a JSON Schema from a map of parameters.
func isSchema(m map[string]any) bool {
	if _, is := m["type"].(string); is {
		return true
	}
	if p, is := m["properties"].(map[string]any); is {
		_, parameter := p["type"].(string)
		return !parameter
	}
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf", "$schema"} {
		if _, is := m[key]; is {
			return true
		}
	}
	_, closes := m["additionalProperties"].(bool)
	return closes
}

// listed are parameters as a list of names, or of objects with a name.
func listed(list []any) map[string]any {
	m := map[string]any{}
	for _, one := range list {
		switch one := one.(type) {
		case string:
			m[one] = map[string]any{}
		case map[string]any:
			if name, is := one["name"].(string); is {
				one = maps.Clone(one)
				delete(one, "name")
				m[name] = one
			}
		}
	}
	return named(m)
}

// named are parameters as a map of names to types or schemas.
func named(m map[string]any) map[string]any {
	properties := map[string]any{}
	for name, v := range m {
		switch v := v.(type) {
		case string:
			properties[name] = map[string]any{"type": v}
		case map[string]any:
			properties[name] = v
		default:
			properties[name] = map[string]any{}
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	mend(s, 0)
	return s
}

// mend makes a schema out of what is nearly one: types in other languages' words,
// and "required" at the parameter itself.
func mend(s map[string]any, level int) {
	if level > maxLevels {
		return
	}
	mendType(s)
	required, _ := s["required"].([]any)
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p, is := properties[name].(map[string]any)
		if !is {
			continue
		}
		if flag, own := p["required"].(bool); own {
			delete(p, "required")
			if flag && !slices.Contains(required, any(name)) {
				required = append(required, name)
			}
		}
		mend(p, level+1)
	}
	if len(required) > 0 {
		s["required"] = required
	}
	if items, is := s["items"].(map[string]any); is {
		mend(items, level+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		branches, _ := s[key].([]any)
		for _, b := range branches {
			if one, is := b.(map[string]any); is {
				mend(one, level+1)
			}
		}
	}
}

// typeWords are words for the types of JSON Schema in other languages.
var typeWords = map[string]string{
	"str": "string", "text": "string", "char": "string", "date": "string", "datetime": "string", "time": "string", "email": "string", "url": "string",
	"int": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number", "bool": "boolean",
	"list": "array", "tuple": "array", "set": "array", "dict": "object", "map": "object", "hash": "object",
	"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "array": "array", "object": "object", "null": "null",
}

// mendType reads the type of a schema; one that is not known says nothing.
func mendType(s map[string]any) {
	text, is := s["type"].(string)
	if !is {
		return
	}
	word, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "[")
	word, inner, _ := strings.Cut(word, "(")
	known, is := typeWords[strings.TrimSpace(word)]
	if !is {
		delete(s, "type")
		return
	}
	s["type"] = known
	element := strings.TrimRight(rest+inner, ")] ")
	if one, is := typeWords[element]; is && known == "array" && s["items"] == nil {
		s["items"] = map[string]any{"type": one}
	}
}
