package tools

// Why arguments do not fit a schema, in one sentence that a model can act on.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// shown bounds how many characters of a wrong value an error repeats.
const shown = 60

// decode reads the arguments as one JSON object.
func decode(arguments json.RawMessage) (value map[string]any, problem string) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return nil, "the arguments are empty: send a JSON object, {} where there is nothing to say"
	}
	d := json.NewDecoder(bytes.NewReader(arguments))
	var parsed any
	if err := d.Decode(&parsed); err != nil {
		return nil, "the arguments are not valid JSON: " + format.Cut(err.Error(), 3*shown)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, "the arguments must be one JSON object, there is more after it"
	}
	object, ok := parsed.(map[string]any)
	if !ok {
		return nil, fmt.Sprintf("the arguments must be a JSON object, got %s", show(parsed))
	}
	return object, ""
}

// Bounds of an explanation.
const (
	maxProblems = 5  // that one error names
	maxLevels   = 32 // of a value that are looked into
)

// explainer says what is wrong with a value that the validator refused.
type explainer struct {
	root     *jsonschema.Schema
	problems []string
}

// explain lists what is wrong, in the order in which a person would mend it. It
// is empty where it knows no better words than the validator's own.
func explain(root *jsonschema.Schema, v any) string {
	e := &explainer{root: root}
	e.value(root, "", v, 0)
	return strings.Join(e.problems[:min(len(e.problems), maxProblems)], "; ")
}

func (e *explainer) add(problem string) {
	if problem != "" {
		e.problems = append(e.problems, problem)
	}
}

func (e *explainer) value(s *jsonschema.Schema, at string, v any, level int) {
	s = e.branch(e.target(s), v)
	if s == nil || level > maxLevels {
		return
	}
	if problem := explainType(s, at, v); problem != "" {
		e.add(problem)
		return
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return show(e) == show(v) }) {
		choices := make([]string, 0, len(s.Enum))
		for _, e := range s.Enum {
			choices = append(choices, show(e))
		}
		e.add(fmt.Sprintf("%s must be one of %s, got %s", name(at), strings.Join(choices, ", "), show(v)))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		e.object(s, at, v, level)
	case []any:
		e.array(s, at, v, level)
	case string:
		e.add(explainString(s, at, v))
	case float64:
		e.add(explainNumber(s, at, v))
	case bool, nil:
	}
}

// target follows a reference within the schema.
func (e *explainer) target(s *jsonschema.Schema) *jsonschema.Schema {
	for range maxLevels {
		if s == nil || s.Ref == "" {
			return s
		}
		switch ref := s.Ref; {
		case ref == "#":
			s = e.root
		case strings.HasPrefix(ref, "#/$defs/"):
			s = e.root.Defs[strings.TrimPrefix(ref, "#/$defs/")]
		case strings.HasPrefix(ref, "#/definitions/"):
			s = e.root.Definitions[strings.TrimPrefix(ref, "#/definitions/")]
		default:
			return nil
		}
	}
	return nil
}

// branch is the one of several schemas that the value was probably meant for: the
// first of its type.
func (e *explainer) branch(s *jsonschema.Schema, v any) *jsonschema.Schema {
	if s == nil || s.Type != "" || len(s.Types) > 0 {
		return s
	}
	types := []string{}
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		for _, one := range list {
			one = e.target(one)
			if one == nil || explainType(one, "", v) == "" {
				return one
			}
			types = append(append(types, one.Types...), one.Type)
		}
	}
	if len(types) == 0 {
		return s
	}
	types = slices.DeleteFunc(types, func(t string) bool { return t == "" })
	return &jsonschema.Schema{Types: slices.Compact(slices.Sorted(slices.Values(types)))}
}

func explainType(s *jsonschema.Schema, at string, v any) string {
	want := s.Types
	if s.Type != "" {
		want = []string{s.Type}
	}
	if len(want) == 0 || slices.ContainsFunc(want, func(t string) bool { return isType(t, v) }) {
		return ""
	}
	if len(want) > 1 {
		return fmt.Sprintf("%s must be one of the types %s, got %s", name(at), strings.Join(want, ", "), show(v))
	}
	problem := fmt.Sprintf("%s must be %s %s, got %s", name(at), article(want[0]), want[0], show(v))
	if text, is := v.(string); is && (want[0] == "array" || want[0] == "object") {
		var inner any
		if json.Unmarshal([]byte(text), &inner) == nil && isType(want[0], inner) {
			problem = fmt.Sprintf("%s must be %s %s, got a text that holds one: send the %s itself, not as text", name(at), article(want[0]), want[0], want[0])
		}
	}
	return problem
}

func isType(t string, v any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

func (e *explainer) object(s *jsonschema.Schema, at string, v map[string]any, level int) {
	known := slices.Sorted(maps.Keys(s.Properties))
	given := slices.Sorted(maps.Keys(v))
	if closed(s.AdditionalProperties) {
		for _, key := range given {
			if s.Properties[key] == nil {
				e.add(unknownArgument(at, key, known))
			}
		}
	}
	for _, key := range s.Required {
		if _, ok := v[key]; !ok {
			e.add(name(join(at, key)) + " is missing")
		}
	}
	for _, key := range given {
		if property := s.Properties[key]; property != nil {
			e.value(property, join(at, key), v[key], level+1)
		}
	}
}

// unknownArgument says what an argument was probably meant to be.
func unknownArgument(at, key string, known []string) string {
	unknown := name(join(at, format.Cut(key, shown))) + " is unknown"
	if near := nearest(key, known, 1); len(near) > 0 {
		return unknown + ", did you mean " + name(join(at, near[0])) + "?"
	}
	if len(known) == 0 && at == "" {
		return unknown + ", there are no arguments"
	}
	return unknown + ", there are " + quotedList(known, "and")
}

// closed reports whether the schema is false, which allows no value.
func closed(s *jsonschema.Schema) bool {
	if s == nil {
		return false
	}
	b, err := json.Marshal(s)
	return err == nil && (string(b) == "false" || string(b) == `{"not":{}}` || string(b) == `{"not":true}`)
}

func (e *explainer) array(s *jsonschema.Schema, at string, v []any, level int) {
	if s.MinItems != nil && len(v) < *s.MinItems {
		e.add(fmt.Sprintf("%s must have at least %d entries, got %d", name(at), *s.MinItems, len(v)))
		return
	}
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		e.add(fmt.Sprintf("%s must have at most %d entries, got %d", name(at), *s.MaxItems, len(v)))
		return
	}
	for i, item := range v {
		if len(e.problems) >= maxProblems {
			return
		}
		e.value(s.Items, at+"["+strconv.Itoa(i)+"]", item, level+1)
	}
}

func explainString(s *jsonschema.Schema, at, v string) string {
	n := utf8.RuneCountInString(v)
	switch {
	case s.MinLength != nil && n < *s.MinLength && n == 0:
		return name(at) + " must not be empty"
	case s.MinLength != nil && n < *s.MinLength:
		return fmt.Sprintf("%s must have at least %d characters, got %d", name(at), *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		return fmt.Sprintf("%s must have at most %d characters, got %d", name(at), *s.MaxLength, n)
	}
	return ""
}

func explainNumber(s *jsonschema.Schema, at string, v float64) string {
	switch {
	case s.Minimum != nil && v < *s.Minimum:
		return fmt.Sprintf("%s must be at least %s, got %s", name(at), show(*s.Minimum), show(v))
	case s.ExclusiveMinimum != nil && v <= *s.ExclusiveMinimum:
		return fmt.Sprintf("%s must be more than %s, got %s", name(at), show(*s.ExclusiveMinimum), show(v))
	case s.Maximum != nil && v > *s.Maximum:
		return fmt.Sprintf("%s must be at most %s, got %s", name(at), show(*s.Maximum), show(v))
	case s.MultipleOf != nil && math.Mod(v, *s.MultipleOf) != 0:
		return fmt.Sprintf("%s must be a multiple of %s, got %s", name(at), show(*s.MultipleOf), show(v))
	case s.ExclusiveMaximum != nil && v >= *s.ExclusiveMaximum:
		return fmt.Sprintf("%s must be less than %s, got %s", name(at), show(*s.ExclusiveMaximum), show(v))
	}
	return ""
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func name(at string) string {
	if at == "" {
		return "the arguments object"
	}
	return "`" + at + "`"
}

func article(t string) string {
	if strings.ContainsRune("aio", rune(t[0])) {
		return "an"
	}
	return "a"
}

// show is the value as JSON, shortened.
func show(v any) string {
	b, err := format.JSON(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return format.Cut(string(b), shown)
}

// lastPart drops the validator's chain of schema locations.
func lastPart(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		if _, rest, ok := strings.Cut(text[i:], ": "); ok {
			text = rest
		}
	}
	return format.Cut(text, 5*shown)
}
