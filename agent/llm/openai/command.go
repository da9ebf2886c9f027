package openai

// JSON mode, the answer: the one command in the text becomes the one call.

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

const (
	// maxStarts bounds how many opening braces of an answer are tried.
	maxStarts = 64
	// maxNested bounds JSON that is packed into JSON strings.
	maxNested = 4
)

// command finds the one command in a JSON mode answer and makes it the
// message's only call; the content stays as it came. Where there is none, or
// where the answer broke off inside of it, the message stays without calls:
// the caller asks again.
func command(m llm.Message, r llm.Request, finish string) llm.Message {
	if len(r.Functions) == 0 || len(m.Calls) > 0 || m.Refusal != "" {
		return m
	}
	s := commandFinder{functions: r.Functions, limited: finish == "length"}
	c, ok := s.find(m.Content, 0)
	if !ok {
		return m
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.Name + " " + c.Arguments)) // a hash's Write never fails
	c.ID = syntheticPrefix + strconv.Itoa(countTurns(r.Messages)) + "_" + strconv.FormatUint(uint64(h.Sum32()), 16)
	m.Calls = []llm.Call{c}
	return m
}

// commandFinder looks for a command in text.
type commandFinder struct {
	functions []llm.Function
	limited   bool // missing braces are not put back: the answer hit its limit
}

// find returns the first command in content. A reasoning model's <think> part
// is not looked at.
func (s commandFinder) find(content string, depth int) (llm.Call, bool) {
	if depth > maxNested {
		return llm.Call{}, false
	}
	if i := strings.LastIndex(content, "</think>"); i >= 0 {
		content = content[i+len("</think>"):]
	}
	var packed string
	if json.Unmarshal([]byte(content), &packed) == nil && strings.Contains(packed, "{") {
		return s.find(packed, depth+1)
	}
	rest := content
	for range maxStarts {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			return llm.Call{}, false
		}
		rest = rest[i:]
		value, state := repair(rest)
		if state == brokenString {
			// What is lost could be anything, and what follows may be its inside.
			return llm.Call{}, false
		}
		if state == intact || state == repaired || state == unclosed && !s.limited {
			if c, ok := s.read(value, depth); ok {
				return c, true
			}
		}
		rest = rest[1:]
	}
	return llm.Call{}, false
}

type fields map[string]json.RawMessage

// first returns the first of names that is there.
func (f fields) first(names ...string) json.RawMessage {
	for _, n := range names {
		if v, ok := f[n]; ok && string(v) != "null" {
			return v
		}
	}
	return nil
}

// read takes the command out of a JSON object: {"command": {"name", "args"}},
// {"command": "name", "args": {}}, the command packed into a string, or the
// bare {"name", "args"} of a function that was offered.
func (s commandFinder) read(value []byte, depth int) (llm.Call, bool) {
	var f fields
	if json.Unmarshal(value, &f) != nil {
		return llm.Call{}, false
	}
	switch c := f["command"]; {
	case len(c) > 0 && c[0] == '{':
		var inner fields
		if json.Unmarshal(c, &inner) != nil {
			return llm.Call{}, false
		}
		return s.named(inner, f, false)
	case len(c) > 0 && c[0] == '"' && strings.Contains(string(c), "{"):
		var packed string
		if json.Unmarshal(c, &packed) != nil {
			return llm.Call{}, false
		}
		return s.find(packed, depth+1)
	case len(c) > 0 && c[0] == '"':
		return s.named(fields{"name": c}, f, false)
	}
	return s.named(f, f, true)
}

// named reads name and arguments from f, the arguments from outer where f has
// none.
func (s commandFinder) named(f, outer fields, offered bool) (llm.Call, bool) {
	var name string
	if json.Unmarshal(f.first("name", "tool", "function", "action"), &name) != nil || strings.TrimSpace(name) == "" {
		return llm.Call{}, false
	}
	name = strings.TrimSuffix(strings.TrimSpace(name), "()")
	if offered && !s.offers(name) {
		return llm.Call{}, false
	}
	keys := []string{"args", "arguments", "parameters", "action_input", "input"}
	args := f.first(keys...)
	if args == nil {
		args = outer.first(keys...)
	}
	return llm.Call{Name: name, Arguments: unpackArguments(args)}, true
}

func (s commandFinder) offers(name string) bool {
	for i := range s.functions {
		if s.functions[i].Name == name {
			return true
		}
	}
	return false
}

// unpackArguments returns arguments as JSON text, an object packed into a string as
// that object. Anything else stays for the caller to complain about.
func unpackArguments(args json.RawMessage) string {
	if args == nil {
		return "{}"
	}
	var packed string
	if json.Unmarshal(args, &packed) != nil {
		return string(args)
	}
	packed = strings.TrimSpace(packed)
	if packed == "" {
		return "{}"
	}
	if strings.HasPrefix(packed, "{") {
		if value, state := repair(packed); state == intact || state == repaired {
			return string(value)
		}
	}
	return string(args)
}
