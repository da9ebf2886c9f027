package source

// This file makes a foreign tool into one that runs can be offered: its texts
// are bounded and show what they hide, and its risk is what the configuration
// says, never what the source says.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools"
)

// Bounds of what a source may say of a tool.
const (
	maxDescription = 4 << 10   // bytes
	maxSchema      = 128 << 10 // bytes

	maxDocumentation = 64 << 10 // bytes
	maxTools         = 5000     // of one source
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
		if covers(pattern, name) && len(pattern) > best {
			best, effect = len(pattern), said
		}
	}
	return effect
}

// covers reports whether a name, or the beginning of names with a "*" behind it,
// means the tool.
func covers(pattern, name string) bool {
	head, open := strings.CutSuffix(pattern, "*")
	return pattern == name || open && strings.HasPrefix(name, head)
}

// Check is nil where the effects are words that exist.
func (e Effects) Check() error {
	for name, effect := range e {
		if effect != EffectRead && effect != EffectIdempotent && effect != EffectSend {
			return fmt.Errorf("tools.effects.%s: %q is not one of read, idempotent, send", name, effect)
		}
	}
	return nil
}

// adopted is a foreign tool under its qualified name.
type adopted struct {
	agent.Tool
	spec agent.ToolSpec
	bare string
}

func (a adopted) Spec() agent.ToolSpec { return a.spec }

// Documentation is what the tool says beyond its description, empty: nothing.
func (a adopted) Documentation(ctx context.Context) string {
	if d, says := a.Tool.(agent.Documented); says {
		return harmless(d.Documentation(ctx), maxDocumentation)
	}
	return ""
}

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
func (r *Registry) adopt(source, name string, t agent.Tool, declared bool) (agent.Tool, error) {
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
		spec.Trust, spec.Class, spec.Repeat, spec.Open = agent.Untrusted, agent.ClassSend, agent.RepeatOnce, true
	}
	rate(&spec, r.cfg.Effects.of(name))
	spec.Private = spec.Private || slices.ContainsFunc(r.cfg.Private, func(pattern string) bool { return covers(pattern, name) })
	spec.Parameters = shown(spec.Parameters)
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

// shown is a schema in which no text hides anything.
func shown(schema json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(schema, &v) != nil || !unveil(v, 0) {
		return schema
	}
	clean, err := format.JSON(v)
	if err != nil {
		return schema
	}
	return clean
}

// maxNesting is how deep texts of a schema are looked at.
const maxNesting = 64

// unveil makes the texts for readers visible, and reports whether one was not.
func unveil(v any, level int) (changed bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			text, is := inner.(string)
			if is && (key == "description" || key == "title" || key == "$comment") {
				clean := harmless(text, maxDescription)
				v[key], changed = clean, changed || clean != text
			} else if level < maxNesting {
				changed = unveil(inner, level+1) || changed
			}
		}
	case []any:
		for _, inner := range v {
			if level < maxNesting {
				changed = unveil(inner, level+1) || changed
			}
		}
	}
	return changed
}

// errNoName is said of a tool without a name.
var errNoName = errors.New("a tool has no name")
