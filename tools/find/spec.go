package find

// This file takes from a tool's description what the index needs.

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// maxDepth is how deep parameters within parameters are looked at.
const maxDepth = 4

// schema is the part of a JSON Schema that says what parameters are called.
type schema struct {
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
}

// Of is a tool as the index sees it. Parameters that are no JSON Schema are left out.
func Of(spec agent.ToolSpec) Tool {
	t := Tool{Name: spec.Name, Description: spec.Description}
	var s schema
	if json.Unmarshal(spec.Parameters, &s) == nil {
		t.look(s, 0)
	}
	return t
}

func (t *Tool) look(s schema, depth int) {
	if depth > maxDepth {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		t.Parameters = append(t.Parameters, name)
		if p.Description != "" {
			t.Notes = append(t.Notes, p.Description)
		}
		t.look(p, depth+1)
	}
	if s.Items != nil {
		t.look(*s.Items, depth+1)
	}
}
