package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// ErrArguments says that arguments are not JSON.
var ErrArguments = errors.New("arguments are not valid JSON")

// maxName bounds the text looked at as a name inside ${}, in bytes.
const maxName = 200

// Inputs are the values that a task may use: those of its inputs, and the
// goal's ("goal.NAME").
func Inputs(t agent.Task, values map[string]agent.Output) map[string]agent.Output {
	mine := map[string]agent.Output{}
	for _, name := range t.Inputs {
		if v, known := values[name]; known {
			mine[name] = v
		}
	}
	for name, v := range values {
		if strings.HasPrefix(name, goalPrefix) {
			mine[name] = v
		}
	}
	return mine
}

// Expand puts values in place of ${name}. Names that are not in values stay as
// they are, $${ is a literal ${. A string goes in verbatim, any other value as
// compact JSON, an output that is only a file as its workspace path. What was put
// in is not expanded again, so a text must be expanded only once.
func Expand(text string, values map[string]agent.Output) string {
	var b strings.Builder
	for _, p := range pieces(text) {
		switch v, known := values[p.name]; {
		case p.literal:
			b.WriteString("${")
		case p.name != "" && known:
			b.WriteString(shown(v))
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// Placeholders are the names in ${} that the text contains, each once, in the
// order of their first place; $${ is none.
func Placeholders(text string) []string {
	var all []string
	for _, p := range pieces(text) {
		if p.name != "" {
			all = append(all, p.name)
		}
	}
	return distinct(all)
}

// piece is plain text, a placeholder (its name is set), or an escaped "${".
type piece struct {
	text, name string
	literal    bool
}

func pieces(text string) []piece {
	var all []piece
	plain := 0
	cut := func(from, to int, p piece) {
		if plain < from {
			all = append(all, piece{text: text[plain:from]})
		}
		p.text = text[from:to]
		all = append(all, p)
		plain = to
	}
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '$')
		if next < 0 {
			break
		}
		at += next
		rest := text[at:]
		switch {
		case strings.HasPrefix(rest, "$${"):
			cut(at, at+3, piece{literal: true})
			at += 3
		case strings.HasPrefix(rest, "${"):
			name, ok := nameIn(rest[2:])
			if !ok {
				at += 2
				continue
			}
			cut(at, at+len(name)+3, piece{name: name})
			at += len(name) + 3
		default:
			at++
		}
	}
	if plain < len(text) {
		all = append(all, piece{text: text[plain:]})
	}
	return all
}

// nameIn reads up to the closing brace. A name has no brace, dollar sign, quote
// or line break in it, so that an unclosed ${ cannot swallow what follows.
func nameIn(rest string) (string, bool) {
	if len(rest) > maxName {
		rest = rest[:maxName]
	}
	end := strings.IndexAny(rest, "}{$\"`\n")
	if end <= 0 || rest[end] != '}' {
		return "", false
	}
	return rest[:end], true
}

func shown(o agent.Output) string {
	value := bytes.TrimSpace(o.Value)
	if o.File != "" && (len(value) == 0 || string(value) == "null") {
		return o.File
	}
	var s string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(o.Value)
	}
	return b.String()
}

// ExpandJSON puts values in place of ${name} inside the string values of
// arguments, never in keys. A string with placeholders stays a string. The order
// of keys, the text of numbers and everything else stay byte for byte. The error
// wraps ErrArguments.
func ExpandJSON(args json.RawMessage, values map[string]agent.Output) (json.RawMessage, error) {
	if !json.Valid(args) {
		return nil, fmt.Errorf("expand placeholders in %q: %w; send them as one JSON object", format.Cut(string(args), 80), ErrArguments)
	}
	var b bytes.Buffer
	plain := 0
	for at := 0; at < len(args); at++ {
		if args[at] != '"' {
			continue
		}
		end := stringEnd(args, at)
		if !isKey(args[end:]) {
			if text, changed := expandString(args[at:end], values); changed {
				b.Write(args[plain:at])
				b.Write(text)
				plain = end
			}
		}
		at = end - 1
	}
	b.Write(args[plain:])
	return b.Bytes(), nil
}

// stringEnd is where the JSON string that starts at the quote ends. The JSON is
// known to be valid.
func stringEnd(b []byte, at int) int {
	for at++; b[at] != '"'; at++ {
		if b[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func isKey(after []byte) bool {
	after = bytes.TrimLeft(after, " \t\r\n")
	return len(after) > 0 && after[0] == ':'
}

func expandString(quoted []byte, values map[string]agent.Output) ([]byte, bool) {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil, false
	}
	text := Expand(s, values)
	if text == s {
		return nil, false
	}
	b, err := format.JSON(text)
	return b, err == nil // a string always encodes
}
