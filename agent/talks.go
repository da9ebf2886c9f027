package agent

import (
	"slices"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Talks are a strand's conversations, one a purpose. A strand has one or two,
// which a list copies and keeps in less room than a map.
type Talks []struct {
	Purpose llm.Purpose `json:"purpose"`
	Talk    Talk        `json:"talk"`
}

// Of is the conversation for the purpose, empty if there is none.
func (t Talks) Of(p llm.Purpose) Talk {
	for i := range t {
		if t[i].Purpose == p {
			return t[i].Talk
		}
	}
	return Talk{}
}

// with returns the conversations with another one for the purpose.
func (t Talks) with(p llm.Purpose, talk Talk) Talks {
	c := slices.Clone(t)
	for i := range c {
		if c[i].Purpose == p {
			c[i].Talk = talk
			return c
		}
	}
	c = slices.Grow(c, 1)[:len(c)+1]
	c[len(c)-1].Purpose, c[len(c)-1].Talk = p, talk
	return c
}

// without returns the conversations but the one for the purpose.
func (t Talks) without(p llm.Purpose) Talks {
	c := make(Talks, 0, len(t))
	for i := range t {
		if t[i].Purpose != p {
			c = append(c, t[i])
		}
	}
	return c
}
