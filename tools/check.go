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

// explain finds the first thing that is wrong with a value that the validator
// refused, in the order in which a person would mend it. It is empty where it
// knows no better words than the validator's own.
func explain(s *jsonschema.Schema, at string, v any) string {
	if s == nil {
		return ""
	}
	if problem := explainType(s, at, v); problem != "" {
		return problem
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return show(e) == show(v) }) {
		choices := make([]string, 0, len(s.Enum))
		for _, e := range s.Enum {
			choices = append(choices, show(e))
		}
		return fmt.Sprintf("%s must be one of %s, got %s", name(at), strings.Join(choices, ", "), show(v))
	}
	switch v := v.(type) {
	case map[string]any:
		return explainObject(s, at, v)
	case []any:
		return explainArray(s, at, v)
	case string:
		return explainString(s, at, v)
	case float64:
		return explainNumber(s, at, v)
	case bool, nil:
	}
	return ""
}

func explainType(s *jsonschema.Schema, at string, v any) string {
	want := s.Types
	if s.Type != "" {
		want = []string{s.Type}
	}
	if len(want) == 0 || slices.ContainsFunc(want, func(t string) bool { return isType(t, v) }) {
		return ""
	}
	if len(want) == 1 {
		return fmt.Sprintf("%s must be %s %s, got %s", name(at), article(want[0]), want[0], show(v))
	}
	return fmt.Sprintf("%s must be one of the types %s, got %s", name(at), strings.Join(want, ", "), show(v))
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

func explainObject(s *jsonschema.Schema, at string, v map[string]any) string {
	for _, key := range s.Required {
		if _, ok := v[key]; !ok {
			return fmt.Sprintf("%s is missing", name(join(at, key)))
		}
	}
	known := slices.Sorted(maps.Keys(s.Properties))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		property, ok := s.Properties[key]
		if ok {
			if problem := explain(property, join(at, key), v[key]); problem != "" {
				return problem
			}
			continue
		}
		if !closed(s.AdditionalProperties) {
			continue
		}
		if near := nearest(key, known, 1); len(near) > 0 {
			return fmt.Sprintf("%s is unknown, did you mean %s?", name(join(at, format.Cut(key, shown))), name(join(at, near[0])))
		}
		if len(known) == 0 {
			return fmt.Sprintf("%s is unknown, there are no arguments", name(join(at, format.Cut(key, shown))))
		}
		return fmt.Sprintf("%s is unknown, there are %s", name(join(at, format.Cut(key, shown))), quotedList(known, "and"))
	}
	return ""
}

// closed reports whether the schema is false, which allows no value.
func closed(s *jsonschema.Schema) bool {
	if s == nil {
		return false
	}
	b, err := json.Marshal(s)
	return err == nil && (string(b) == "false" || string(b) == `{"not":{}}` || string(b) == `{"not":true}`)
}

func explainArray(s *jsonschema.Schema, at string, v []any) string {
	if s.MinItems != nil && len(v) < *s.MinItems {
		return fmt.Sprintf("%s must have at least %d entries, got %d", name(at), *s.MinItems, len(v))
	}
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		return fmt.Sprintf("%s must have at most %d entries, got %d", name(at), *s.MaxItems, len(v))
	}
	for i, item := range v {
		if problem := explain(s.Items, at+"["+strconv.Itoa(i)+"]", item); problem != "" {
			return problem
		}
	}
	return ""
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
