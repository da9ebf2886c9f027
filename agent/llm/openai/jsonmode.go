package openai

// JSON mode, the question: functions and calls become text for endpoints
// without function calling. command.go reads the answer.

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// syntheticPrefix starts the ids of calls that JSON mode made up. The content
// of a message with such a call is the model's own JSON.
const syntheticPrefix = "json_"

const shapeOfAnswer = `Answer with exactly one JSON object and nothing before or after it, in this shape:
{"thoughts": {"text": "…", "reasoning": "…", "plan": "…", "criticism": "…", "speak": "one line for the person"}, "command": {"name": "…", "args": {…}}}
"name" is one of the commands below, "args" fits its JSON Schema.`

const plainWordsAllowed = " Where no command is needed, answer in plain words instead."

// transcript rewrites r for an endpoint without function calling: the
// functions move into the last system message, calls and results become plain
// messages. Users' messages that follow one another are joined, because chat
// templates of such endpoints often want the roles to alternate.
func transcript(r llm.Request) llm.Request {
	names := map[string]string{}
	out := make([]llm.Message, 0, len(r.Messages)+1)
	for i := range r.Messages {
		m := plainMessage(&r.Messages[i], names)
		if n := len(out); n > 0 && m.Role == llm.User && out[n-1].Role == llm.User {
			out[n-1].Content += "\n\n" + m.Content
			continue
		}
		out = append(out, m)
	}
	if len(r.Functions) > 0 {
		out = appendInstruction(out, describeCommands(r))
	}
	r.Messages, r.Functions, r.Encoding = out, nil, nil // joined messages are not only appended to
	return r
}

// appendInstruction appends text to the last system message, or puts one in front.
func appendInstruction(messages []llm.Message, text string) []llm.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.System {
			messages[i].Content += "\n\n" + text
			return messages
		}
	}
	return append([]llm.Message{{Role: llm.System, Content: text}}, messages...)
}

// describeCommands describes the functions of r.
func describeCommands(r llm.Request) string {
	var b strings.Builder
	b.WriteString(shapeOfAnswer)
	if !r.Required {
		b.WriteString(plainWordsAllowed)
	}
	b.WriteString("\n\nCommands:")
	for i := range r.Functions {
		f := &r.Functions[i]
		b.WriteString("\n- " + f.Name + ": " + f.Description + "\n  args: ")
		b.Write(parameters(*f))
	}
	return b.String()
}

// plainMessage renders one message. names collects the names of calls by id.
func plainMessage(m *llm.Message, names map[string]string) llm.Message {
	switch m.Role {
	case llm.Tool:
		of := names[m.CallID]
		if of == "" {
			of = m.CallID
		}
		return llm.Message{Role: llm.User, Content: "Result of " + of + ":\n" + m.Content}
	case llm.Assistant:
		return assistantMessage(m, names)
	case llm.System, llm.User:
	}
	return llm.Message{Role: m.Role, Content: m.Content}
}

// assistantMessage renders an assistant message: the model's own JSON exactly as it
// came, calls from elsewhere (a history made in tools mode) as such JSON.
func assistantMessage(m *llm.Message, names map[string]string) llm.Message {
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
		b = append(append(b, `{"command": {"name": `...), quoted(c.Name)...)
		b = append(append(b, `, "args": `...), argumentsObject(c.Arguments)...)
		content = string(append(b, "}}"...))
	}
	return llm.Message{Role: llm.Assistant, Content: content}
}

// argumentsObject is a call's arguments as a JSON value.
func argumentsObject(arguments string) string {
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	return arguments
}

// parameters is f's schema; a function without one takes no arguments.
func parameters(f llm.Function) []byte {
	if len(f.Parameters) == 0 {
		return []byte(`{"type":"object","properties":{}}`)
	}
	return f.Parameters
}
