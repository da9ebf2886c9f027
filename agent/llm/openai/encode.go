package openai

// Conversations as JSON, appended by hand: most of a request is what the last
// one said already, and encoding/json takes twice as long over the rest
// (bench_test.go).

import (
	"slices"
	"unicode/utf8"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// conversation returns the messages as JSON, each behind a comma but the
// first. What the request's Encoding has of them is not encoded again.
func conversation(r llm.Request) []byte {
	kept := r.Encoding
	if kept == nil {
		kept = &llm.Encoding{}
	}
	if !kept.Begins(r.Messages) {
		*kept = llm.Encoding{}
	}
	kept.Text = slices.Grow(kept.Text, room(r.Messages[kept.Messages:]))
	for i := kept.Messages; i < len(r.Messages); i++ {
		if i > 0 {
			kept.Text = append(kept.Text, ',')
		}
		kept.Text = appendMessage(kept.Text, &r.Messages[i])
	}
	if kept.Messages = len(r.Messages); kept.Messages > 0 {
		kept.Last = r.Messages[kept.Messages-1]
	}
	return kept.Text
}

// room is about how many bytes messages take: their texts, a sixteenth for
// escapes, and what stands around them.
func room(messages []llm.Message) (n int) {
	for i := range messages {
		m := &messages[i]
		n += 64 + len(m.Content) + len(m.Refusal)
		for j := range m.Calls {
			n += 96 + len(m.Calls[j].Name) + len(m.Calls[j].Arguments)
		}
	}
	return n + n/16
}

// appendMessage writes one message. Its content is null where an assistant
// message carries calls alone, as endpoints send it, and a text everywhere else.
func appendMessage(b []byte, m *llm.Message) []byte {
	b = appendString(append(b, `{"role":`...), string(m.Role))
	b = append(b, `,"content":`...)
	if m.Content == "" && len(m.Calls) > 0 {
		b = append(b, "null"...)
	} else {
		b = appendString(b, m.Content)
	}
	if m.Refusal != "" {
		b = appendString(append(b, `,"refusal":`...), m.Refusal)
	}
	if m.CallID != "" {
		b = appendString(append(b, `,"tool_call_id":`...), m.CallID)
	}
	for i := range m.Calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"id":`...), m.Calls[i].ID)
		b = append(b, `,"type":"`+string(goai.ToolTypeFunction)+`","function":{"name":`...)
		b = appendString(b, m.Calls[i].Name)
		b = appendString(append(b, `,"arguments":`...), m.Calls[i].Arguments)
		b = append(b, "}}"...)
	}
	if len(m.Calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendString writes s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, as in encoding/json.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		for i+8 <= len(s) && plain(s[i:i+8]) {
			i += 8
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[from:i]...), `\ufffd`...)
				from = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			b = appendEscape(append(b, s[from:i]...), c)
			from = i + 1
		}
		i++
	}
	return append(append(b, s[from:]...), '"')
}

// plain reports whether eight bytes stand for themselves in a JSON string: all
// are ASCII, none is a control character, a quote or a backslash. It looks at
// all of them at once: a subtraction sets the high bit of a byte that is too low.
func plain(s string) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (w|(w-each*' ')|((w^each*'"')-each)|((w^each*'\\')-each))&high == 0
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
