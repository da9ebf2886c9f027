package openai

import (
	"bytes"
	"unicode/utf8"

	goai "github.com/sashabaranov/go-openai"
)

// This file reads the common form of an event by hand. An answer comes in as
// many of them as it has tokens, and encoding/json takes several times as long
// over each (BenchmarkStream). Whatever is uncommon (an error, other types,
// other spellings, fractions, JSON that is none) is left to encoding/json.

// common reads an event into e and reports whether it is of the common form;
// where it is not, e means nothing.
func (e *event) common(raw []byte) bool {
	r := eventReader{in: raw}
	r.object(func(key []byte) {
		switch string(key) {
		case "model":
			readText(&r, &e.Model)
		case "choices":
			readList(&r, &e.Choices, r.choice)
		case "usage":
			r.odd = r.odd || e.Usage != nil
			if !r.null() {
				e.Usage = &usage{}
				r.usage(e.Usage)
			}
		case "error":
			r.odd = r.odd || !r.null()
		default:
			r.skip(key)
		}
	})
	return r.ended()
}

// eventReader goes forward through one JSON text. Once it is odd, it stays so,
// and what it read means nothing.
type eventReader struct {
	in  []byte
	at  int
	odd bool
}

func (r *eventReader) choice(c *choice) {
	r.object(func(key []byte) {
		switch string(key) {
		case "index":
			r.number(&c.Index)
		case "delta":
			r.piece(&c.Delta)
		case "message":
			r.piece(&c.Message)
		case "finish_reason":
			readText(r, &c.Finish)
		default:
			r.skip(key)
		}
	})
}

func (r *eventReader) piece(p *piece) {
	r.object(func(key []byte) {
		switch string(key) {
		case "content":
			readText(r, &p.Content)
		case "refusal":
			readText(r, &p.Refusal)
		case "tool_calls":
			readList(r, &p.Calls, r.call)
		default:
			r.skip(key)
		}
	})
}

func (r *eventReader) call(c *callPiece) {
	r.object(func(key []byte) {
		switch string(key) {
		case "index":
			if r.odd = r.odd || c.Index != nil; !r.null() {
				c.Index = new(int)
				r.number(c.Index)
			}
		case "id":
			readText(r, &c.ID)
		case "function":
			r.object(func(key []byte) {
				switch string(key) {
				case "name":
					readText(r, &c.Function.Name)
				case "arguments":
					readText(r, &c.Function.Arguments)
				default:
					r.skip(key)
				}
			})
		default:
			r.skip(key)
		}
	})
}

func (r *eventReader) usage(u *usage) {
	r.object(func(key []byte) {
		switch string(key) {
		case "prompt_tokens":
			r.number(&u.PromptTokens)
		case "completion_tokens":
			r.number(&u.CompletionTokens)
		case "prompt_cache_hit_tokens":
			r.number(&u.CacheHit)
		case "prompt_tokens_details":
			if r.odd = r.odd || u.PromptTokensDetails != nil; r.null() {
				return
			}
			u.PromptTokensDetails = &goai.PromptTokensDetails{}
			r.object(func(key []byte) {
				if string(key) == "cached_tokens" {
					r.number(&u.PromptTokensDetails.CachedTokens)
				} else {
					r.skip(key)
				}
			})
		default:
			r.skip(key)
		}
	})
}

// next skips white space and is the byte behind it, 0 at the end.
func (r *eventReader) next() byte {
	for r.at < len(r.in) {
		switch c := r.in[r.at]; c {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return c
		}
	}
	return 0
}

// take goes past the byte if it is the next one.
func (r *eventReader) take(c byte) bool {
	if r.next() != c || r.odd {
		return false
	}
	r.at++
	return true
}

// expect goes past a byte that has to come.
func (r *eventReader) expect(c byte) {
	if !r.take(c) {
		r.odd = true
	}
}

// ended reports whether nothing is left, and nothing was odd.
func (r *eventReader) ended() bool { return !r.odd && r.next() == 0 && r.at == len(r.in) }

// object reads an object or null; field reads the value of each key.
func (r *eventReader) object(field func(key []byte)) {
	if r.null() {
		return
	}
	r.expect('{')
	if r.take('}') {
		return
	}
	for !r.odd {
		r.next()
		key, escaped := r.quoted()
		r.odd = r.odd || escaped
		r.expect(':')
		if r.odd {
			return
		}
		field(key)
		if r.take('}') {
			return
		}
		r.expect(',')
	}
}

// array reads an array or null; element reads each of its elements.
func (r *eventReader) array(element func()) {
	if r.null() {
		return
	}
	r.expect('[')
	if r.take(']') {
		return
	}
	for !r.odd {
		element()
		if r.take(']') {
			return
		}
		r.expect(',')
	}
}

// readList reads an array. A list that is there already came by the same key.
func readList[T any](r *eventReader, into *[]T, element func(v *T)) {
	r.odd = r.odd || *into != nil
	if r.null() {
		return
	}
	*into = []T{}
	r.array(func() {
		*into = append(*into, *new(T))
		element(&(*into)[len(*into)-1])
	})
}

// word goes past a literal if it is the next.
func (r *eventReader) word(w string) bool {
	if r.next() != w[0] || !bytes.HasPrefix(r.in[r.at:], []byte(w)) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *eventReader) null() bool { return r.word("null") }

// number reads an integer; null leaves it as it is, as in encoding/json.
func (r *eventReader) number(into *int) {
	if r.null() {
		return
	}
	minus := r.take('-')
	from, n := r.at, 0
	for ; r.at < len(r.in) && r.in[r.at] >= '0' && r.in[r.at] <= '9'; r.at++ {
		n = 10*n + int(r.in[r.at]-'0')
	}
	digits := r.at - from
	fraction := r.at < len(r.in) && (r.in[r.at] == '.' || r.in[r.at]|' ' == 'e')
	r.odd = r.odd || digits == 0 || digits > 18 || fraction || digits > 1 && r.in[from] == '0'
	if minus {
		n = -n
	}
	*into = n
}

// readText reads a string; null leaves it as it is, as in encoding/json.
func readText[T ~string](r *eventReader, into *T) {
	if r.null() {
		return
	}
	r.next()
	quoted, escaped := r.quoted()
	if !r.odd && escaped {
		quoted = unescaped(quoted)
	}
	*into = T(quoted)
}

// quoted reads a string and is what stands between its quotes.
func (r *eventReader) quoted() (text []byte, escaped bool) {
	r.expect('"')
	from, wide := r.at, false
	for ; r.at < len(r.in) && !r.odd; r.at++ {
		switch c := r.in[r.at]; {
		case c == '"':
			text = r.in[from:r.at]
			r.at++
			r.odd = wide && !utf8.Valid(text)
			return text, escaped
		case c == '\\':
			r.at++
			escaped = true
			r.odd = r.at == len(r.in) || escapes[r.in[r.at]] == 0
		case c < ' ':
			r.odd = true
		case c >= utf8.RuneSelf:
			wide = true
		}
	}
	r.odd = true
	return nil, false
}

// escapes are the bytes behind a backslash that are read here, with what they
// stand for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescaped is what a string with escapes stands for.
func unescaped(quoted []byte) []byte {
	b := make([]byte, 0, len(quoted))
	for i := 0; i < len(quoted); i++ {
		c := quoted[i]
		if c == '\\' {
			i++
			c = escapes[quoted[i]]
		}
		b = append(b, c)
	}
	return b
}

// skip reads the value of a key that means nothing here. One in capitals may be
// a known one to encoding/json, which goes by the letters alone.
func (r *eventReader) skip(key []byte) {
	for _, c := range key {
		r.odd = r.odd || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
	}
	r.value()
}

// value reads any value.
func (r *eventReader) value() {
	switch c := r.next(); {
	case c == '{':
		r.object(func([]byte) { r.value() })
	case c == '[':
		r.array(r.value)
	case c == '"':
		r.quoted()
	case c == '-' || c >= '0' && c <= '9':
		var n int
		r.number(&n)
	default:
		r.odd = r.odd || !r.word("null") && !r.word("true") && !r.word("false")
	}
}
