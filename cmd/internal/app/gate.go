package app

// This file puts the gate where requests come in and answers go out.

import (
	"sync"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/gate"
)

// newGate reads the rules of what is refused.
func newGate(c config.Config) (*gate.Gate, error) {
	rules, err := gate.Load(c.Gate.Rules, c.Gate.Off)
	if err != nil {
		return nil, &config.RefusedError{Cause: err}
	}
	return gate.New(rules), nil
}

// refusing is what is written in place of the work on a prohibited goal. The
// rules are read when the first goal comes; where they cannot be read any more,
// no goal is worked on.
func refusing(c config.Config) func(goal string) []agent.Body {
	rules := sync.OnceValues(func() (*gate.Gate, error) { return newGate(c) })
	return func(goal string) []agent.Body {
		g, err := rules()
		if err != nil {
			return []agent.Body{agent.RunEnded{State: agent.RunFailed, Reason: "the rules of what is refused cannot be read: " + err.Error(), Cost: new(agent.Nano)}}
		}
		return g.Goal(goal)
	}
}
