package llm

import (
	"encoding/json"
	"testing"
)

func TestCount(t *testing.T) {
	if n := Count(Request{}); n != 0 {
		t.Errorf("nothing counts %d", n)
	}
	r := Request{
		Messages:  []Message{{Content: "12345678"}, {Calls: []Call{{ID: "not counted", Name: "ab", Arguments: "{}"}}}},
		Functions: []Function{{Name: "f", Description: "de", Parameters: json.RawMessage(`{}`)}},
	}
	if n := Count(r); n != (8+16+4+16+5+16+3)/4 {
		t.Errorf("got %d", n)
	}
}
