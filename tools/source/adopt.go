package source

// This file makes a foreign tool into one that runs can be offered: its texts
// are bounded and show what they hide, and its risk is what the configuration
// says, never what the source says.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools"
)

// Bounds of what a source may say of a tool.
const (
	maxDescription = 4 << 10   // bytes
	maxSchema      = 128 << 10 // bytes
	maxTools       = 5000      // of one source
)

// Effect is what the configuration says about a foreign tool.
type Effect string

// The effects. Send is what a foreign tool is that nothing is said about.
const (
	EffectRead       Effect = "read"
	EffectIdempotent Effect = "idempotent"
	EffectSend       Effect = "send"
)

// Effects maps names of tools to their effects. A name may end with "*".
type Effects map[string]Effect

// of is what the configuration says about a tool, empty: nothing. The longest
// name that fits decides.
func (e Effects) of(name string) Effect {
	if said, is := e[name]; is {
		return said
	}
	best, effect := -1, Effect("")
	for pattern, said := range e {
		head, open := strings.CutSuffix(pattern, "*")
		if open && strings.HasPrefix(name, head) && len(head) > best {
			best, effect = len(head), said
		}
	}
	return effect
}

// adopted is a foreign tool under its qualified name.
type adopted struct {
	agent.Tool
	spec agent.ToolSpec
	bare string
}

func (a adopted) Spec() agent.ToolSpec { return a.spec }

func (a adopted) Run(ctx context.Context, c agent.Call) agent.Result {
	c.Tool = a.bare
	return a.Tool.Run(ctx, c)
}

// preparing is an adopted tool that looks at its target.
type preparing struct {
	adopted
	preparer agent.Preparer
}

func (p preparing) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	c.Tool = p.bare
	return p.preparer.Prepare(ctx, c)
}

// probing is an adopted tool that can be asked whether its effect happened.
type probing struct {
	adopted
	prober agent.Prober
}

func (p probing) Probe(ctx context.Context, c agent.Call) (done bool, r agent.Result, err error) {
	c.Tool = p.bare
	return p.prober.Probe(ctx, c)
}

// both is an adopted tool that does both.
type both struct {
	preparing
	probing probing
}

func (b both) Probe(ctx context.Context, c agent.Call) (done bool, r agent.Result, err error) {
	return b.probing.Probe(ctx, c)
}

// adopt is a source's tool as runs see it. An error says why nobody could use it.
func adopt(source, name string, t agent.Tool, effects Effects, declared bool) (agent.Tool, error) {
	spec := t.Spec()
	a := adopted{Tool: t, bare: spec.Name}
	if len(spec.Parameters) > maxSchema {
		return nil, fmt.Errorf("the schema of %s has %d bytes, at most %d are read", spec.Name, len(spec.Parameters), maxSchema)
	}
	spec.Parameters = schemaOf(spec.Parameters)
	if !json.Valid(spec.Parameters) {
		return nil, fmt.Errorf("the schema of %s is no JSON", spec.Name)
	}
	spec.Name, spec.Source = name, source
	spec.Description = harmless(spec.Description, maxDescription)
	if !declared {
		spec.Trust, spec.Class, spec.Repeat = agent.Untrusted, agent.ClassSend, agent.RepeatOnce
	}
	rate(&spec, cmp.Or(effects.of(name)))
	a.spec = spec
	if err := tools.Usable(spec); err != nil {
		return nil, err
	}
	return a.whole(), nil
}

// rate gives a tool the class that the configuration says, if it says one.
func rate(spec *agent.ToolSpec, effect Effect) {
	switch effect {
	case EffectRead:
		spec.Class, spec.Repeat = agent.ClassRead, agent.RepeatRead
	case EffectIdempotent:
		spec.Class, spec.Repeat = agent.ClassSend, agent.RepeatIdempotent
	case EffectSend:
		spec.Class, spec.Repeat = agent.ClassSend, agent.RepeatOnce
	}
}

// whole keeps what else the tool can.
func (a adopted) whole() agent.Tool {
	preparer, prepares := a.Tool.(agent.Preparer)
	prober, probes := a.Tool.(agent.Prober)
	switch {
	case prepares && probes:
		return both{preparing{a, preparer}, probing{a, prober}}
	case prepares:
		return preparing{a, preparer}
	case probes:
		return probing{a, prober}
	}
	return a
}

// schemaOf is the schema of a tool that takes no arguments where it says none.
func schemaOf(given json.RawMessage) json.RawMessage {
	if text := strings.TrimSpace(string(given)); text == "" || text == "null" || text == "{}" {
		return json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	return given
}

// harmless is a text of others within bounds, in which nothing is hidden.
func harmless(s string, most int) string {
	s = format.Visible(strings.ToValidUTF8(s, "�"))
	return format.Cut(strings.TrimSpace(s), most)
}

// errNoName is said of a tool without a name.
var errNoName = errors.New("a tool has no name")
