package thought

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOffer(t *testing.T) {
	for name, tt := range map[string]struct{ schema, first string }{
		"some arguments":    {`{"type":"object","required":["path"],"properties":{"path":{"type":"string"}},"additionalProperties":false}`, Name},
		"no arguments":      {`{"type":"object","properties":{},"additionalProperties":false}`, Name},
		"no properties":     {`{"type":"object"}`, Name},
		"an empty schema":   {`{}`, Name},
		"of its own":        {`{"properties":{"thought":{"type":"string"},"next":{"type":"boolean"}}}`, Name},
		"properties deeper": {`{"properties":{"properties":{"properties":{"x":{}}}}}`, Name},
	} {
		offered := Offer(json.RawMessage(tt.schema))
		var s struct{ Properties map[string]any }
		if err := json.Unmarshal(offered, &s); err != nil {
			t.Errorf("%s: %s: %v", name, offered, err)
			continue
		}
		if _, has := s.Properties[tt.first]; !has {
			t.Errorf("%s: %s offers no thought", name, offered)
		}
		if again := Offer(offered); string(again) != string(offered) {
			t.Errorf("%s: offered twice: %s", name, again)
		}
	}
	open := `{"type":"object","additionalProperties":{"type":"string"}}`
	if got := Offer(json.RawMessage(open)); string(got) != open {
		t.Errorf("a tool that takes any argument is offered one of ours: %s", got)
	}
}

func TestTake(t *testing.T) {
	closed := `{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`
	for name, tt := range map[string]struct{ schema, arguments, rest, thought string }{
		"a thought":        {closed, `{"thought":"  I need\nthe table ","path":"a"}`, `{"path":"a"}`, "I need the table"},
		"a reason":         {closed, `{"why":"I need it","path":"a"}`, `{"path":"a"}`, "I need it"},
		"both":             {closed, `{"why":"b","thought":"a","path":"a"}`, `{"path":"a"}`, "a"},
		"spelt otherwise":  {closed, `{"th\u006fught":"a","path":"b"}`, `{"path":"b"}`, "a"},
		"no text":          {closed, `{"thought":{"a":1},"path":"a"}`, `{"path":"a"}`, ""},
		"none":             {closed, `{"path":"thought"}`, `{"path":"thought"}`, ""},
		"the tool's own":   {`{"properties":{"thought":{}}}`, `{"thought":"a"}`, `{"thought":"a"}`, ""},
		"takes any":        {`{"additionalProperties":true}`, `{"why":"a"}`, `{"why":"a"}`, ""},
		"deeper":           {closed, `{"path":{"thought":"a"}}`, `{"path":{"thought":"a"}}`, ""},
		"no object":        {closed, `["thought"]`, `["thought"]`, ""},
		"cut off":          {closed, `{"thought":"a`, `{"thought":"a`, ""},
		"closed, no names": {`{"additionalProperties":false}`, `{"thought":"a"}`, `{}`, "a"},
	} {
		rest, thought := Take(json.RawMessage(tt.arguments), json.RawMessage(tt.schema))
		if string(rest) != tt.rest || thought != tt.thought {
			t.Errorf("%s: %s, %q", name, rest, thought)
		}
	}
	_, long := Take(json.RawMessage(`{"thought":"`+strings.Repeat("é", 2*Most)+`"}`), json.RawMessage(closed))
	if n := utf8.RuneCountInString(long); n != Most {
		t.Errorf("a thought of %d characters is kept", n)
	}
}
