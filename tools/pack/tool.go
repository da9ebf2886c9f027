package pack

// What all tools of packs have in common.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// defaultTimeout bounds a request that names no timeout, and intentGrace is how much
// longer nobody asks whether it happened.
const (
	defaultTimeout = time.Minute
	intentGrace    = 5 * time.Second
)

// runner is a kind of tools. Its error becomes the result: it says what happened, and
// what to do next.
type runner interface {
	run(ctx context.Context, t tool, c agent.Call, args map[string]any) (agent.Result, error)
}

// tool is a definition that can be called.
type tool struct {
	p    *Pack
	d    *definition
	spec agent.ToolSpec
	kind runner
}

// Spec describes the tool.
func (t tool) Spec() agent.ToolSpec { return t.spec }

// Fingerprint is the hash of what stands behind the tool.
func (t tool) Fingerprint() string { return t.d.hash }

// Documentation is what the pack says beyond the description.
func (t tool) Documentation(context.Context) string { return t.d.Documentation }

// Run does what the definition says.
func (t tool) Run(ctx context.Context, c agent.Call) agent.Result {
	args, err := decodeArguments(c.Arguments)
	if err == nil {
		var r agent.Result
		if r, err = t.kind.run(ctx, t, c, args); err == nil {
			return r
		}
	}
	return agent.Failed(t.d.Name + ": " + err.Error())
}

// trust is the trust in what the tool returns.
func (t tool) trust() agent.Trust {
	if t.spec.Trust != "" {
		return t.spec.Trust
	}
	return agent.Trusted
}

// asked is a tool whose calls people see beforehand.
type asked struct{ tool }

// Prepare words the call for a person.
func (t asked) Prepare(_ context.Context, c agent.Call) (agent.Prepared, error) {
	args, err := decodeArguments(c.Arguments)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("%s: %w", t.d.Name, err)
	}
	p := agent.Prepared{Preview: t.preview(args)}
	if t.d.HTTP != nil {
		if host, err := hostOf(t.d.HTTP.URL); err == nil {
			p.Hosts = []string{hostname(host)}
			p.Preview += fmt.Sprintf("\n\n`%s %s`", t.d.HTTP.Method, strings.ReplaceAll(format.Visible(filled(t.d.HTTP.URL, args, flat)), "`", "'"))
		}
	}
	return p, nil
}

// preview is the definition's words with the arguments in their places.
func (t tool) preview(args map[string]any) string {
	if t.d.Preview == "" {
		return fmt.Sprintf("`%s` of the pack %s: %s", t.d.Name, t.p.Name, format.Line(t.d.Description, 300))
	}
	return format.Visible(filled(t.d.Preview, args, func(v any) string { return format.Cut(flat(v), 1000) }))
}
