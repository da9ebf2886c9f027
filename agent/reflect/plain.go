package reflect

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// telling are the arguments that say what a call is about, the most telling
// first. Of a call without any, the first by name is taken.
var telling = []string{
	"path", "file", "url", "query", "expression", "command", "code", "id", "name", "title", "question", "text", "input",
}

// argument is what a call is about in a few words: its main argument as people
// read it, empty where it has none. Arguments that are no JSON stay as they are.
func argument(arguments string) string {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		return ""
	}
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &args) != nil {
		var text string
		if json.Unmarshal([]byte(arguments), &text) == nil {
			return text
		}
		return arguments
	}
	for _, name := range slices.Concat(telling, slices.Sorted(maps.Keys(args))) {
		if text := readable(args[name]); text != "" {
			return text
		}
	}
	return ""
}

// readable is a value as people read it: a text, a number, a list of those.
// What is nested deeper is left out.
func readable(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	switch value[0] {
	case '"':
		var text string
		if json.Unmarshal(value, &text) == nil {
			return strings.TrimSpace(text)
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return ""
		}
		var words []string
		for _, item := range list {
			if item[0] != '[' {
				if word := readable(item); word != "" {
					words = append(words, word)
				}
			}
		}
		return strings.Join(words, ", ")
	case '{', 'n':
	default:
		return string(value)
	}
	return ""
}

// toolName is a tool in plain words: "read file" for read_file.
func toolName(tool string) string {
	words := strings.Join(strings.FieldsFunc(tool, func(r rune) bool { return r == '_' }), " ")
	if words == "" {
		words = tool
	}
	return quote(words, nameLimit)
}

// said is a text in quotation marks that nothing inside it can end.
func said(text string) string {
	return "“" + strings.NewReplacer("“", "'", "”", "'").Replace(text) + "”"
}
