package source

// This file pins foreign tools: what a tool was when it was first seen is kept in
// the store, and one that says something else later is not offered until a person
// takes it over.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Pins keeps what tools were. A store does.
type Pins interface {
	Value(ctx context.Context, name string) (string, error)
	SetValue(ctx context.Context, name, value string) error
}

// Owned is a Source whose texts are the operator's own: what it says newly is
// taken over at once.
type Owned interface {
	Source
	Owned() bool
}

// pinPrefix begins the names of a store that hold pins.
const pinPrefix = "tools/pin/"

// pin is a tool as it was accepted.
type pin struct {
	Hash        string          `json:"hash"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Does        string          `json:"does,omitempty"` // a hash of what stands behind it
}

// Fingerprinted is a tool of which more is pinned than what it says: what it does,
// where that stands in files of the team's own.
type Fingerprinted interface {
	Fingerprint() string
}

func pinOf(tool agent.Tool) pin {
	t := tool.Spec()
	p := pin{Description: t.Description, Parameters: schemaOf(t.Parameters)}
	var tight bytes.Buffer
	if json.Compact(&tight, p.Parameters) == nil {
		p.Parameters = tight.Bytes()
	}
	h := sha256.New()
	parts := []string{t.Name, p.Description, string(p.Parameters)}
	if f, is := tool.(Fingerprinted); is {
		p.Does = f.Fingerprint()
		parts = append(parts, p.Does)
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	p.Hash = hex.EncodeToString(h.Sum(nil)[:16])
	return p
}

// Change is how a tool differs from what was accepted.
type Change struct {
	Tool     string // its bare name
	Old, New string // its description and its schema
}

// String says it in a few lines.
func (c Change) String() string {
	return fmt.Sprintf("%s\n  was: %s\n  is:  %s", c.Tool, c.Old, c.New)
}

// told is a tool's text for people who compare.
func (p pin) told() string {
	text := format.OneLine(format.Visible(p.Description)) + " " + format.Visible(string(p.Parameters))
	if p.Does != "" {
		text += " (what it does: " + p.Does[:min(len(p.Does), 12)] + ")"
	}
	return text
}

// errChanged is said of a tool that is not what it was.
var errChanged = errors.New("says something else than when it was accepted")

// pins reads what a source's tools were; none where it was never seen.
func (r *Registry) pins(ctx context.Context, source string) (map[string]pin, error) {
	known := map[string]pin{}
	text, err := r.cfg.Pins.Value(ctx, pinPrefix+source)
	if err != nil || text == "" {
		return known, err
	}
	if err := json.Unmarshal([]byte(text), &known); err != nil {
		return nil, fmt.Errorf("what was accepted of the source %s cannot be read: %w", source, err)
	}
	return known, nil
}

// held are the tools of a source that say something else than was accepted. Those
// that were never seen are pinned as they are.
func (r *Registry) held(ctx context.Context, s Source, given []agent.Tool) (map[string]Change, error) {
	if owned, is := s.(Owned); r.cfg.Pins == nil || is && owned.Owned() {
		return nil, nil //nolint:nilnil // nothing is held back
	}
	known, err := r.pins(ctx, s.Name())
	if err != nil {
		return nil, err
	}
	changed, before := map[string]Change{}, len(known)
	for _, t := range given {
		spec := t.Spec()
		now := pinOf(t)
		was, seen := known[spec.Name]
		switch {
		case !seen:
			known[spec.Name] = now
		case was.Hash != now.Hash:
			changed[spec.Name] = Change{spec.Name, was.told(), now.told()}
		}
	}
	if len(known) == before {
		return changed, nil
	}
	return changed, r.keep(ctx, s.Name(), known)
}

func (r *Registry) keep(ctx context.Context, source string, known map[string]pin) error {
	text, err := format.JSON(known)
	if err != nil {
		return err
	}
	return r.cfg.Pins.SetValue(ctx, pinPrefix+source, string(text))
}

// Forget forgets what was accepted of a source: it is pinned anew when it is next seen.
func Forget(ctx context.Context, p Pins, source string) error {
	return p.SetValue(ctx, pinPrefix+source, "")
}

// ErrNoSource is returned for a source that the configuration does not name.
var ErrNoSource = errors.New("there is no such source")

// Accept takes over what a source says of its tools now, and returns what was
// different. It is offered here at once, and by other processes of the store
// within seconds.
func (r *Registry) Accept(ctx context.Context, source string) ([]Change, error) {
	i := slices.IndexFunc(r.foreign, func(m *member) bool { return m.source.Name() == source })
	if i < 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoSource, source)
	}
	m := r.foreign[i]
	given, err := m.source.Tools(ctx)
	if err != nil {
		return nil, err
	}
	changed, err := r.held(ctx, m.source, given)
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		known := map[string]pin{}
		for _, t := range given {
			known[t.Spec().Name] = pinOf(t)
		}
		if err := r.keep(ctx, source, known); err != nil {
			return nil, err
		}
	}
	return sorted(changed), r.refresh(ctx, m)
}

// sorted are the changes by the names of their tools.
func sorted(changed map[string]Change) []Change {
	return slices.SortedFunc(maps.Values(changed), func(a, b Change) int { return cmp.Compare(a.Tool, b.Tool) })
}
