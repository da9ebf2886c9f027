package pack

// What only trying shows: the dataset can be made, its queries run, the examples
// of reads give results.

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/data"
)

// Probe tries what can be tried without reaching anybody, and returns what is wrong
// beside the pack's Faults. Script is the tool run_code, nil: scripts are not tried.
func Probe(ctx context.Context, p *Pack, space *data.Space, script agent.Tool) []Fault {
	_, faults := readTables(p.fsys)
	if len(faults) > 0 {
		return faults
	}
	var image []byte
	if p.hasData() {
		var err error
		if image, err = p.fixture.image(ctx); err != nil {
			name, text, is := strings.Cut(err.Error(), ": ")
			if !is || p.files[name] == "" {
				name, text = manifestFile, err.Error()
			}
			return []Fault{{name, 0, text}}
		}
	}
	if err := withSet(ctx, image, func(set *data.Set) error { return set.Keep(p.data.Rows, "nobody") }); err != nil {
		faults = append(faults, Fault{manifestFile, 0, "data.rows: " + err.Error()})
	}
	mine := *space
	mine.Given = func(name string) (data.Given, bool) {
		return data.Given{Image: func(context.Context) ([]byte, error) { return image, nil }, Rows: p.data.Rows}, name == p.Name && image != nil
	}
	list := Config{Space: &mine, Script: script}.tools(p)
	for i, d := range p.tools {
		t, is := list[i].(interface {
			tried(ctx context.Context, image []byte) error
		})
		if !is {
			continue
		}
		if err := t.tried(ctx, image); err != nil {
			faults = append(faults, Fault{d.file, d.line, d.Name + ": " + err.Error()})
		}
	}
	return faults
}

func withSet(ctx context.Context, image []byte, do func(set *data.Set) error) error {
	set, err := data.Open(ctx, image)
	if err != nil {
		return err
	}
	defer func() { _ = set.Close() }() // a copy
	return do(set)
}

// tried runs what the tool would run, on a copy of the dataset.
func (t tool) tried(ctx context.Context, image []byte) error {
	args := map[string]any{}
	if len(t.spec.Example) > 0 {
		var err error
		if args, err = decodeArguments(t.spec.Example); err != nil {
			return err
		}
	}
	c := agent.Call{Tool: t.d.Name, Arguments: t.spec.Example, Person: "nobody", Effect: "try"}
	script, computes := t.kind.(computing)
	switch {
	case t.d.Data != nil:
		return withSet(ctx, image, func(set *data.Set) error { return t.triedSQL(set, c, args) })
	case computes && len(t.spec.Example) > 0 && script.engine != nil:
		if r := t.Run(ctx, c); r.State != agent.OutcomeOK {
			return errors.New("its example fails: " + strings.TrimPrefix(r.Text, "error: "))
		}
	}
	return nil
}

// triedSQL runs each statement by itself: whether a requirement holds is another
// matter.
func (t tool) triedSQL(set *data.Set, c agent.Call, args map[string]any) error {
	bound := t.bound(c, args)
	var all []string
	for _, r := range t.d.Data.Require {
		all = append(all, r.SQL)
	}
	all = append(all, t.d.Data.SQL...)
	if t.d.Data.Show != "" {
		all = append(all, t.d.Data.Show)
	}
	for _, statement := range all {
		var err error
		if selects(statement) {
			_, err = set.Query(statement, bound, 1)
		} else {
			_, err = set.Exec(statement, bound)
		}
		if err != nil && !strings.Contains(err.Error(), "constraint failed") { // the example may be there already
			return errors.New(err.Error() + " in: " + format.Line(statement, 200))
		}
	}
	return nil
}

// Contents are a pack's parts, for people and programs.
type Contents struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Hash        string          `json:"hash"`
	Dir         string          `json:"dir,omitempty"`
	Tools       []ToolContents  `json:"tools"`
	Documents   []string        `json:"openapi,omitempty"`
	Servers     string          `json:"mcp,omitempty"`
	Hosts       []string        `json:"hosts,omitempty"`
	Variables   []string        `json:"variables,omitempty"`
	Rows        json.RawMessage `json:"rows,omitempty"`
	Faults      []string        `json:"faults,omitempty"`
}

// ToolContents is a tool in a line.
type ToolContents struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Effect      string `json:"effect"`
	Description string `json:"description"`
	File        string `json:"file"`
}

// Contents tells what is in the pack.
func (p *Pack) Contents() Contents {
	c := Contents{Name: p.Name, Version: p.Version, Description: p.Description, Hash: p.Hash, Dir: p.Dir, Tools: []ToolContents{},
		Documents: p.Documents, Servers: p.Servers, Hosts: p.Hosts, Variables: p.Variables}
	if len(p.data.Rows) > 0 {
		c.Rows, _ = format.JSON(p.data.Rows) // texts
	}
	for _, d := range p.tools {
		kind := map[bool]string{d.Data != nil: "data", d.HTTP != nil: "http", d.Command != nil: "command", d.Script != nil: "script"}[true]
		c.Tools = append(c.Tools, ToolContents{d.Name, kind, d.Effect, strings.TrimSpace(d.Description), d.file})
	}
	for _, f := range p.Faults {
		c.Faults = append(c.Faults, f.String())
	}
	return c
}
