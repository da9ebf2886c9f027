package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/tools"
)

// The shapes in which files describe tools, and what is wrong with calls by them.
func TestCatalog(t *testing.T) {
	for name, c := range map[string]struct{ file, good, bad, want string }{
		"JSON Schema": {`{"tools":[{"name":"pay","parameters":{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"number"}},"required":["to"]}}]}`,
			`{"to":"a","amount":5}`, `{"t":"a","amount":"5"}`, "pay: `t` is unknown, did you mean `to`?; `to` is missing; `amount` must be a number, got \"5\""},
		"input":        {`{"tools":[{"name":"pay","input":{"properties":{"to":{"type":"string"}}}}]}`, `{}`, `{"x":{}}`, "pay: `x` is unknown, there are `to`"},
		"OpenAI":       {`[{"type":"function","function":{"name":"pay","parameters":{"type":"object","properties":{"to":{"enum":["a","b"]}}}}}]`, `{"to":"b"}`, `{"to":"c"}`, "pay: `to` must be one of \"a\", \"b\", got \"c\""},
		"MCP":          {`{"tools":[{"name":"pay","inputSchema":{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}}}}]}`, `{"l":[1]}`, `{"l":"[1]"}`, "pay: `l` must be an array, got a text that holds one: send the array itself, not as text"},
		"a plain map":  {`{"tools":[{"name":"pay","parameters":{"to":"str","amount":{"type":"int","required":true}}}]}`, `{"amount":1}`, `{"to":1}`, "pay: `amount` is missing; `to` must be a string, got 1"},
		"a list":       {`{"tools":[{"name":"pay","parameters":[{"name":"to","type":"list(str)"}]}]}`, `{"to":["a"]}`, `{"to":[1]}`, "pay: `to[0]` must be a string, got 1"},
		"nested":       {`{"tools":[{"name":"pay","parameters":{"type":"dict","properties":{"who":{"type":"dict","properties":{"id":{"type":"integer"}},"required":["id"]}}}}]}`, `{"who":{"id":1}}`, `{"who":{"ident":1}}`, "pay: `who.ident` is unknown, did you mean `who.id`?; `who.id` is missing"},
		"a reference":  {`{"tools":[{"name":"pay","parameters":{"type":"object","properties":{"w":{"$ref":"#/$defs/w"}},"$defs":{"w":{"type":"object","properties":{"n":{"type":"integer"}}}}}}]}`, `{"w":{"n":1}}`, `{"w":{"n":"x"}}`, "pay: `w.n` must be an integer, got \"x\""},
		"alternatives": {`{"tools":[{"name":"pay","parameters":{"type":"object","properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}}]}`, `{"n":null}`, `{"n":"x"}`, "pay: `n` must be one of the types integer, null, got \"x\""},
		"nothing said": {`{"tools":[{"name":"pay"}]}`, `{"any":1}`, `[]`, "pay: the arguments must be a JSON object, got []"},
		"no arguments": {`{"tools":[{"name":"pay","parameters":{}}]}`, `{}`, `{"any":1}`, "pay: `any` is unknown, there are no arguments"},
		"types only":   {`{"tools":[{"name":"pay","input":["text"]}]}`, `{"any":1}`, `"x"`, "pay: the arguments must be a JSON object, got \"x\""},
	} {
		specs, err := tools.ParseCatalog([]byte(c.file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		box := tools.Describe(specs)
		if err := box.Check("pay", json.RawMessage(c.good)); err != nil {
			t.Errorf("%s: %s is refused: %v", name, c.good, err)
		}
		if err := box.Check("pay", json.RawMessage(c.bad)); err == nil || err.Error() != c.want {
			t.Errorf("%s: of %s is said\n%v, want\n%s", name, c.bad, err, c.want)
		}
		if err := box.Check("play", json.RawMessage(c.good)); err == nil || !strings.Contains(err.Error(), "pay") {
			t.Errorf("%s: an unknown tool: %v", name, err)
		}
	}
	for _, bad := range []string{``, `{}`, `[{}]`, `{"tools": 1}`, `[1]`} {
		if _, err := tools.ParseCatalog([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
