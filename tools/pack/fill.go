package pack

// Templates: {name} in texts and values. "{{" is a brace.

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// place is {name}, or a brace that is meant.
var place = regexp.MustCompile(`\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}`)

// places are the names in a template.
func places(text string) []string {
	var list []string
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			list = append(list, m[1])
		}
	}
	return list
}

// filled is a template with arguments in their places, each as the function writes
// it; what is not given is empty.
func filled(text string, args map[string]any, write func(any) string) string {
	return place.ReplaceAllStringFunc(text, func(found string) string {
		switch found {
		case "{{", "}}":
			return found[:1]
		}
		v := args[found[1:len(found)-1]]
		if v == nil {
			return ""
		}
		return write(v)
	})
}

// whole is the name where a template is exactly {name}.
func whole(text string) (string, bool) {
	m := place.FindStringSubmatch(text)
	if m == nil || m[1] == "" || m[0] != text {
		return "", false
	}
	return m[1], true
}

// flat is a value as a text: strings as they are, others as JSON.
func flat(v any) string {
	if text, is := v.(string); is {
		return text
	}
	raw, err := format.JSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// shaped is a value with arguments in the places of its texts. A text that is
// exactly {name} becomes the argument itself; a key whose value is not given is
// left out.
func shaped(v any, args map[string]any) (any, bool) {
	switch v := v.(type) {
	case string:
		if name, is := whole(v); is {
			return args[name], args[name] != nil
		}
		return filled(v, args, flat), true
	case []any:
		list := []any{}
		for _, inner := range v {
			if x, given := shaped(inner, args); given {
				list = append(list, x)
			}
		}
		return list, true
	case map[string]any:
		m := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if x, given := shaped(v[k], args); given {
				m[k] = x
			}
		}
		return m, true
	}
	return v, true
}

// decodeArguments are a call's arguments, numbers as they are written.
func decodeArguments(raw json.RawMessage) (map[string]any, error) {
	args := map[string]any{}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&args); err != nil {
		return nil, fmt.Errorf("the arguments do not fit: %w", err)
	}
	return args, nil
}
