package rehearsal

// What templates can ask of a request.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// scene is what the templates of one answer see.
type scene struct {
	messages []llm.Message
}

// funcs are the functions of a scenario's templates:
//
//	goal                the paragraph under the brief's line about the goal
//	result NAME [N]     the last (or N-th, from 0) result of a call of NAME in this conversation, without its frame
//	whole NAME          the last result, or the name of its artifact where it was shortened
//	failed NAME         whether the last result is an error or a denial
//	answered NAME       whether there is such a result
//	input NAME          the value in the brief's line "input NAME = JSON"
//	output NAME         the value in the brief's line "output NAME = JSON"
//	match PATTERN       the first group (or the whole) of a regular expression in the brief
//	decode TEXT         the JSON value that TEXT holds
//	encode VALUE        the JSON text of VALUE
//	field KEY VALUE     a field of an object, or of JSON text that holds one
//	quote TEXT          a JSON string that holds TEXT
//	lines TEXT          its lines, without empty ones
//	join SEPARATOR LIST the items with SEPARATOR between
//	trim TEXT           the same without white space around it
//	raw VALUE           the JSON value instead of a string; text must hold JSON
//
// and those of text/template (index, len, printf, …).
func funcs(s *scene) template.FuncMap {
	return template.FuncMap{
		"goal":     s.goal,
		"result":   s.result,
		"whole":    s.whole,
		"failed":   s.failed,
		"answered": func(name string) bool { return len(s.results(name)) > 0 },
		"input":    func(name string) (any, error) { return s.line("input", name) },
		"output":   func(name string) (any, error) { return s.line("output", name) },
		"match":    s.match,
		"decode":   decode,
		"encode":   encode,
		"field":    field,
		"quote":    func(text string) (string, error) { return encode(text) },
		"lines":    nonEmpty,
		"join":     join,
		"trim":     strings.TrimSpace,
		"raw":      rawJSON,
	}
}

// brief is the first user message: the one that prompts write.
func (s *scene) brief() string {
	for i := range s.messages {
		if s.messages[i].Role == llm.User {
			return s.messages[i].Content
		}
	}
	return ""
}

var goalHeading = regexp.MustCompile(`(?mi)^.*\bgoal\b.*:[ \t]*\n`)

func (s *scene) goal() (string, error) {
	brief := s.brief()
	at := goalHeading.FindStringIndex(brief)
	if at == nil {
		return "", errors.New("the brief has no line about the goal that ends with a colon")
	}
	text, _, _ := strings.Cut(brief[at[1]:], "\n\n")
	return strings.TrimSpace(text), nil
}

// results returns the results of calls of name, the oldest first.
func (s *scene) results(name string) []string {
	of := map[string]string{}
	var found []string
	for i := range s.messages {
		m := &s.messages[i]
		for _, c := range m.Calls {
			of[c.ID] = c.Name
		}
		if m.Role == llm.Tool && of[m.CallID] == name {
			found = append(found, unframe(m.Content))
		}
	}
	return found
}

func (s *scene) result(name string, nth ...int) (string, error) {
	found := s.results(name)
	n := len(found) - 1
	if len(nth) > 0 {
		n = nth[0]
	}
	if n < 0 || n >= len(found) {
		return "", fmt.Errorf("the conversation holds %d results of %s", len(found), name)
	}
	return found[n], nil
}

// shortened is how a result names the artifact that holds all of it.
var shortened = regexp.MustCompile(`\[… \d+ bytes left out; the whole text is artifact [0-9a-f]+; (\$\{artifact:[0-9a-f]+\}) in an argument`)

func (s *scene) whole(name string) (string, error) {
	text, err := s.result(name)
	if m := shortened.FindStringSubmatch(text); m != nil {
		return m[1], err
	}
	return text, err
}

func (s *scene) failed(name string) (bool, error) {
	text, err := s.result(name)
	for _, word := range []string{"error", "denied", "expired", "not accepted"} {
		if strings.HasPrefix(text, word) {
			return true, err
		}
	}
	return false, err
}

// unframe strips the delimiter around a tool's result: a first line
// "<<<DECKHAND-RESULT ID …" and a last line "DECKHAND-RESULT ID>>>".
func unframe(content string) string {
	first, rest, ok := strings.Cut(content, "\n")
	if !ok || !strings.HasPrefix(first, "<<<DECKHAND-RESULT ") {
		return content
	}
	at := strings.LastIndexByte(strings.TrimRight(rest, "\n"), '\n')
	last := strings.TrimSpace(rest[at+1:])
	if !strings.HasPrefix(last, "DECKHAND-RESULT ") || !strings.HasSuffix(last, ">>>") {
		return content
	}
	return rest[:max(0, at)]
}

// line reads the JSON after "WORD NAME = " in the brief; what follows the
// value on its line does not count.
func (s *scene) line(word, name string) (any, error) {
	prefix := word + " " + name + " = "
	for l := range strings.Lines(s.brief()) {
		text, ok := strings.CutPrefix(strings.TrimLeft(l, " \t"), prefix)
		if !ok {
			continue
		}
		v, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("%s%q: %w", prefix, strings.TrimSpace(text), err)
		}
		return v, nil
	}
	return nil, fmt.Errorf("the brief has no line %q", prefix)
}

func (s *scene) match(pattern string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	m := re.FindStringSubmatch(s.brief())
	if m == nil {
		return "", fmt.Errorf("the brief does not match %q", pattern)
	}
	return m[min(1, len(m)-1)], nil
}

// decode reads the JSON value at the start of text. Numbers keep their digits.
func decode(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%.60q is no JSON: %w", text, err)
	}
	return v, nil
}

func field(key string, v any) (any, error) {
	if text, ok := v.(string); ok {
		var err error
		if v, err = decode(text); err != nil {
			return nil, err
		}
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("field %q of something that is no object", key)
	}
	f, ok := fields[key]
	if !ok {
		return nil, fmt.Errorf("the object has no field %q", key)
	}
	return f, nil
}

func nonEmpty(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimRight(l, "\r\n"); strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
	}
	return out
}

func join(separator string, items any) (string, error) {
	switch list := items.(type) {
	case []string:
		return strings.Join(list, separator), nil
	case []any:
		parts := make([]string, len(list))
		for i, v := range list {
			parts[i] = fmt.Sprint(v)
		}
		return strings.Join(parts, separator), nil
	}
	return "", errors.New("join of something that is no list")
}

func rawJSON(v any) (string, error) {
	if text, ok := v.(string); ok {
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(text)); err != nil {
			return "", fmt.Errorf("raw %.60q: %w", text, err)
		}
		return b.String(), nil
	}
	return encode(v)
}

func encode(v any) (string, error) {
	b, err := format.JSON(v)
	return string(b), err
}
