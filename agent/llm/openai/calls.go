package openai

import (
	"encoding/json"
	"slices"

	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// calls assembles function calls from the pieces of a stream. The protocol
// numbers them by index and gives id and name with a call's first piece. What
// servers do besides: leave the index out, send index 0 for every call of a
// parallel set, send a call whole in one piece, repeat id and name with each
// piece, send no ids.
type calls struct {
	open []call
	last int
	size int // bytes of all arguments
}

// maxCalls is how many calls are kept: those that are looked at, and as many
// again that are refused in words.
const maxCalls = 2 * bounds.Calls

type call struct {
	index    int
	id, name string
	args     []byte
}

func (c *calls) add(p *callPiece) {
	i := c.find(p)
	if i < 0 {
		if len(c.open) >= maxCalls {
			return
		}
		index := 0
		for k := range c.open {
			index = max(index, c.open[k].index+1)
		}
		if p.Index != nil {
			index = *p.Index
		}
		c.open = append(c.open, call{index: index})
		i = len(c.open) - 1
	}
	c.last = i
	o := &c.open[i]
	if o.id == "" {
		o.id = p.ID
	}
	if o.name == "" {
		o.name = p.Function.Name
	}
	o.args = append(o.args, p.Function.Arguments...)
	c.size += len(p.Function.Arguments)
}

// find returns the call that p goes on with, -1 where p starts a new one.
func (c *calls) find(p *callPiece) int {
	if len(c.open) == 0 {
		return -1
	}
	if p.ID != "" {
		for i := range c.open {
			if c.open[i].id == p.ID {
				return i
			}
		}
	}
	i := c.last
	if p.Index != nil {
		i = c.at(*p.Index)
	}
	if i < 0 || c.open[i].starts(p) {
		return -1
	}
	return i
}

// at returns the newest call with that index.
func (c *calls) at(index int) int {
	for i, v := range slices.Backward(c.open) {
		if v.index == index {
			return i
		}
	}
	return -1
}

// starts reports whether p belongs to another call than o although its index
// is missing or the same: it has another id, or a name after o was complete.
func (o *call) starts(p *callPiece) bool {
	if p.ID != "" {
		return o.id != "" || o.name != "" && p.Function.Name != ""
	}
	if p.Function.Name == "" || o.name == "" {
		return false
	}
	return p.Function.Name != o.name || len(p.Function.Arguments) > 0 && json.Valid(o.args)
}

// list returns the calls by index, nil where there are none.
func (c *calls) list() []llm.Call {
	if len(c.open) == 0 {
		return nil
	}
	slices.SortStableFunc(c.open, func(a, b call) int { return a.index - b.index })
	out := make([]llm.Call, len(c.open))
	for i := range c.open {
		o := &c.open[i]
		out[i] = llm.Call{ID: o.id, Name: o.name, Arguments: string(o.args)}
	}
	return out
}
