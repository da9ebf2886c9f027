package reflect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// message is a message of the Chat Completions protocol, as far as it matters here.
type message struct {
	Role         string     `json:"role"`
	Name         string     `json:"name"`
	Content      content    `json:"content"`
	Refusal      string     `json:"refusal"`
	ToolCalls    []toolCall `json:"tool_calls"`
	FunctionCall *function  `json:"function_call"`
	ToolCallID   string     `json:"tool_call_id"`
	Timestamp    stamp      `json:"timestamp"`
	CreatedAt    stamp      `json:"created_at"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Function function `json:"function"`
}

type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// text is the arguments' text: mostly JSON in a string, sometimes JSON itself.
func (f function) text() string {
	var s string
	if json.Unmarshal(f.Arguments, &s) == nil {
		return s
	}
	return string(f.Arguments)
}

// content is a text, a list of parts of which the texts count, or null.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return fmt.Errorf("content: %w", err)
		}
		var texts []string
		for _, p := range parts {
			texts = append(texts, p.Text)
		}
		*c = content(strings.Join(texts, "\n"))
		return nil
	}
	if b[0] == '{' {
		*c = content(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

// stamp is a time as transcripts write it: seconds (or milliseconds) since
// 1970, or a text. A text that is no time known here is none.
type stamp struct{ time.Time }

var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"}

func (s *stamp) UnmarshalJSON(b []byte) error {
	var n float64
	var text string
	if json.Unmarshal(b, &text) == nil {
		for _, l := range layouts {
			if t, err := time.Parse(l, text); err == nil {
				s.Time = t
				return nil
			}
		}
		b = []byte(strings.TrimSpace(text))
	}
	if json.Unmarshal(b, &n) == nil && n > 0 && n < 1e13 {
		if n > 1e11 {
			n /= 1000
		}
		s.Time = time.Unix(0, 0).Add(time.Duration(n * float64(time.Second)))
	}
	return nil
}

// reading is a list of messages on its way to a trace.
type reading struct {
	trace *Trace
	tools map[string]bool // nil: unknown
	open  []openStep      // calls of the newest turn
	last  time.Time       // of the newest call
}

type openStep struct {
	Step
	id       string
	at       time.Time
	answered bool
}

func readMessages(list []json.RawMessage, tools map[string]bool, unit string) (*Transcript, error) {
	r := reading{trace: &Trace{}, tools: tools}
	known := 0
	for i, raw := range list {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("%w; %s %d: %w", ErrNoTranscript, unit, i, err)
		}
		if r.take(uint64(i), m) {
			known++
		} else if m.Role == "" {
			return nil, fmt.Errorf("%w; %s %d (from 0) has no role", ErrNoTranscript, unit, i)
		}
	}
	if known == 0 {
		return nil, fmt.Errorf("%w; there is no message of a user, an assistant or a tool", ErrNoTranscript)
	}
	r.flush(false)
	t := &Transcript{Format: MessagesFormat}
	t.add(r.trace)
	return t, nil
}

// toolNames are the names in lists of tools, in the shapes that are in use; nil
// where there are none.
func toolNames(lists ...json.RawMessage) map[string]bool {
	names := map[string]bool{}
	for _, l := range lists {
		var list []json.RawMessage
		if json.Unmarshal(l, &list) != nil {
			continue
		}
		for _, raw := range list {
			var t struct {
				Name     string   `json:"name"`
				Function function `json:"function"`
			}
			if json.Unmarshal(raw, &t) != nil && json.Unmarshal(raw, &t.Name) != nil {
				continue
			}
			names[t.Name], names[t.Function.Name] = true, true
		}
	}
	delete(names, "")
	if len(names) == 0 {
		return nil
	}
	return names
}

// take reads one message and reports whether its role is known.
func (r *reading) take(i uint64, m message) bool {
	switch m.Role {
	case "user":
		r.flush(true)
		if m.Name != agent.Deckhand {
			r.trace.Push(Step{Event: i, Kind: Person, Text: string(m.Content)})
		}
	case "assistant":
		r.flush(true)
		r.turn(i, m)
	case "tool", "function":
		r.result(m)
	case "system", "developer":
		return false
	default:
		return false
	}
	return true
}

func (m message) at() time.Time {
	if m.Timestamp.IsZero() {
		return m.CreatedAt.Time
	}
	return m.Timestamp.Time
}

func (r *reading) turn(i uint64, m message) {
	calls := m.ToolCalls
	if m.FunctionCall != nil {
		calls = append(calls, toolCall{Function: *m.FunctionCall})
	}
	words := string(m.Content)
	if words == "" {
		words = m.Refusal
	}
	if len(calls) == 0 {
		r.trace.Push(Step{Event: i, Kind: Prose, Text: words, Unusable: strings.TrimSpace(words) == ""})
		return
	}
	if words != "" {
		r.trace.Push(Step{Event: i, Kind: Said, Text: words})
	}
	for _, c := range calls {
		args := c.Function.text()
		broken := strings.TrimSpace(args) != "" && !json.Valid([]byte(args))
		r.open = append(r.open, openStep{id: c.ID, at: m.at(), Step: Step{
			Event: i, Turn: i + 1, Tool: c.Function.Name, Arguments: args,
			Unusable: broken || r.tools != nil && !r.tools[c.Function.Name],
			Artifact: writes(c.Function.Name),
		}})
	}
}

// result gives a result to the call that it names, or to the first that has none.
func (r *reading) result(m message) {
	at := -1
	for i, o := range r.open {
		if !o.answered && (m.ToolCallID == "" || o.id == m.ToolCallID) {
			at = i
			break
		}
	}
	if at < 0 {
		return // the result of no call
	}
	o := &r.open[at]
	o.answered, o.Text = true, string(m.Content)
	o.judge()
	if o.at.IsZero() {
		o.at = m.at()
	}
}

// judge reads off a result whether it is an error and whether the tool is unknown.
func (s *Step) judge() {
	s.Error = errorText(s.Text)
	s.Unusable = s.Unusable || unknownTool(s.Text, s.Tool)
}

// flush completes the calls of a turn. Calls without a result count once the
// conversation goes on.
func (r *reading) flush(on bool) {
	for _, o := range r.open {
		if !o.answered && !on {
			continue
		}
		if !r.last.IsZero() && !o.at.IsZero() {
			o.Pause = max(0, o.at.Sub(r.last))
		}
		r.last = o.at
		r.trace.Push(o.Step)
	}
	r.open = nil
}

// writing are the verbs in names of tools that make artifacts.
var writing = words("write append create save edit patch apply insert replace update upload plot draw generate commit put make add")

func writes(tool string) bool {
	var b strings.Builder
	for i, c := range []byte(tool) { // readFile, read-file and read_file are the same words
		switch {
		case c >= 'A' && c <= 'Z' && i > 0 && tool[i-1] >= 'a':
			b.WriteByte(' ')
			b.WriteByte(c | 0x20)
		case letterOrDigit(c):
			b.WriteByte(c | 0x20)
		default:
			b.WriteByte(' ')
		}
	}
	for w := range strings.FieldsSeq(b.String()) {
		if writing[w] {
			return true
		}
	}
	return false
}

// errorText reports whether a result is an error: it begins with the word, or
// it is a JSON object that says so.
func errorText(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) >= 5 && strings.EqualFold(text[:5], "error") {
		return true
	}
	if !strings.HasPrefix(text, "{") {
		return false
	}
	var o struct {
		Error   json.RawMessage `json:"error"`
		OK      *bool           `json:"ok"`
		IsError json.RawMessage `json:"is_error"`
	}
	if json.Unmarshal([]byte(text), &o) != nil {
		return false
	}
	return o.OK != nil && !*o.OK || string(o.IsError) == "true" || !hollow(o.Error)
}

// hollow reports whether a JSON value is absent or empty.
func hollow(v json.RawMessage) bool {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return true
	}
	switch strings.TrimSpace(strings.Trim(b.String(), `"`)) {
	case "", "null", "false", "0", "{}", "[]":
		return true
	}
	return false
}

// unknownTool reports whether a result says that there is no such tool.
func unknownTool(text, tool string) bool {
	if len(text) > 200 {
		text = text[:200]
	}
	text = strings.ToLower(text)
	for _, p := range []string{"unknown tool", "no such tool", "tool not found", "not a valid tool", "not a known tool",
		"unrecognized tool", "unrecognised tool", "invalid tool name", "tool does not exist", "no tool named", "no tool called"} {
		if strings.Contains(text, p) {
			return true
		}
	}
	tool = strings.ToLower(tool)
	if tool == "" || !strings.Contains(text, tool) {
		return false
	}
	for _, p := range []string{"unknown function", "no such function", "function not found", "not a valid function", "no function named"} {
		if strings.Contains(text, p) {
			return true
		}
	}
	for _, kind := range []string{"tool ", "function "} {
		for _, q := range []string{"", `"`, "'", "`"} {
			named := kind + q + tool + q
			for _, p := range []string{" not found", " does not exist", " is not available", " is unknown", " is not defined", " was not found"} {
				if strings.Contains(text, named+p) {
					return true
				}
			}
		}
	}
	return false
}
