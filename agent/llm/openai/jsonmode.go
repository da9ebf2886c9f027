package openai

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// syntheticPrefix starts the ids of calls that JSON mode made up. The content
// of a message with such a call is the model's own JSON.
const syntheticPrefix = "json_"

const shapeOfAnswer = `Answer with exactly one JSON object and nothing before or after it, in this shape:
{"thoughts": {"text": "…", "reasoning": "…", "plan": "…", "criticism": "…", "speak": "one line for the person"}, "command": {"name": "…", "args": {…}}}
"name" is one of the commands below, "args" fits its JSON Schema.`

const orInWords = " Where no command is needed, answer in plain words instead."

// transcript rewrites r for an endpoint without function calling: the
// functions move into the last system message, calls and results become plain
// messages. Users' messages that follow one another are joined, because chat
// templates of such endpoints often want the roles to alternate.
func transcript(r llm.Request) llm.Request {
	names := map[string]string{}
	out := make([]llm.Message, 0, len(r.Messages)+1)
	for i := range r.Messages {
		m := plain(&r.Messages[i], names)
		if n := len(out); n > 0 && m.Role == llm.User && out[n-1].Role == llm.User {
			out[n-1].Content += "\n\n" + m.Content
			continue
		}
		out = append(out, m)
	}
	if len(r.Functions) > 0 {
		out = instruct(out, commands(r))
	}
	r.Messages, r.Functions = out, nil
	return r
}

// instruct appends text to the last system message, or puts one in front.
func instruct(messages []llm.Message, text string) []llm.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.System {
			messages[i].Content += "\n\n" + text
			return messages
		}
	}
	return append([]llm.Message{{Role: llm.System, Content: text}}, messages...)
}

// commands describes the functions of r.
func commands(r llm.Request) string {
	var b strings.Builder
	b.WriteString(shapeOfAnswer)
	if !r.Required {
		b.WriteString(orInWords)
	}
	b.WriteString("\n\nCommands:")
	for i := range r.Functions {
		f := &r.Functions[i]
		b.WriteString("\n- " + f.Name + ": " + f.Description + "\n  args: ")
		b.Write(appendParameters(nil, f))
	}
	return b.String()
}

// plain renders one message. names collects the names of calls by id.
func plain(m *llm.Message, names map[string]string) llm.Message {
	switch m.Role {
	case llm.Tool:
		of := names[m.CallID]
		if of == "" {
			of = m.CallID
		}
		return llm.Message{Role: llm.User, Content: "Result of " + of + ":\n" + m.Content}
	case llm.Assistant:
		return spoken(m, names)
	case llm.System, llm.User:
	}
	return llm.Message{Role: m.Role, Content: m.Content}
}

// spoken renders an assistant message: the model's own JSON exactly as it
// came, calls from elsewhere (a history made in tools mode) as such JSON.
func spoken(m *llm.Message, names map[string]string) llm.Message {
	content := m.Content
	if content == "" {
		content = m.Refusal
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		names[c.ID] = c.Name
		if m.Content != "" && strings.HasPrefix(c.ID, syntheticPrefix) {
			continue
		}
		b := []byte(content)
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = appendString(append(b, `{"command": {"name": `...), c.Name)
		b = append(append(b, `, "args": `...), object(c.Arguments)...)
		content = string(append(b, "}}"...))
	}
	return llm.Message{Role: llm.Assistant, Content: content}
}

// object is a call's arguments as a JSON value.
func object(arguments string) string {
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	return arguments
}

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
	s := seeker{functions: r.Functions, whole: finish == "length"}
	c, ok := s.find(m.Content, 0)
	if !ok {
		return m
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.Name + " " + c.Arguments)) // a hash's Write never fails
	c.ID = syntheticPrefix + strconv.Itoa(turn(r.Messages)) + "_" + strconv.FormatUint(uint64(h.Sum32()), 16)
	m.Calls = []llm.Call{c}
	return m
}

// seeker looks for a command in text.
type seeker struct {
	functions []llm.Function
	whole     bool // missing braces are not put back: the answer hit its limit
}

// find returns the first command in content. A reasoning model's <think> part
// is not looked at.
func (s seeker) find(content string, depth int) (llm.Call, bool) {
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
		if state == intact || state == mended || state == unclosed && !s.whole {
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
func (s seeker) read(value []byte, depth int) (llm.Call, bool) {
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
func (s seeker) named(f, outer fields, offered bool) (llm.Call, bool) {
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
	return llm.Call{Name: name, Arguments: unpack(args)}, true
}

func (s seeker) offers(name string) bool {
	for i := range s.functions {
		if s.functions[i].Name == name {
			return true
		}
	}
	return false
}

// unpack returns arguments as JSON text, an object packed into a string as
// that object. Anything else stays for the caller to complain about.
func unpack(args json.RawMessage) string {
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
		if value, state := repair(packed); state == intact || state == mended {
			return string(value)
		}
	}
	return string(args)
}
