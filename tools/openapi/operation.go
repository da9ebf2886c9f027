package openapi

// This file is one operation: what it is called, which arguments it takes, and
// what its document says about it.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// operation is one operation of a document.
type operation struct {
	doc         *document
	name        string
	method      string // upper case
	path        string
	about       string // short
	described   string // in full
	deprecated  bool
	params      []parameter
	body        *body
	responses   map[string]json.RawMessage
	schemaOnce  sync.Once
	schemaBytes json.RawMessage
}

// parameter is one parameter of an operation.
type parameter struct {
	Name     string                     `json:"name"`
	In       string                     `json:"in"`
	Required bool                       `json:"required"`
	About    string                     `json:"description"`
	Schema   json.RawMessage            `json:"schema"`
	Content  map[string]json.RawMessage `json:"content"`
	Style    string                     `json:"style"`
	Explode  *bool                      `json:"explode"`

	argument string // what the argument is called
}

// body is what an operation sends.
type body struct {
	argument string
	required bool
	about    string
	kind     string // media type
	schema   json.RawMessage
}

// operation reads one operation.
func (d *document) operation(path, method string, raw json.RawMessage, shared []json.RawMessage) (*operation, error) {
	var in struct {
		ID          string                     `json:"operationId"`
		Summary     string                     `json:"summary"`
		Description string                     `json:"description"`
		Deprecated  bool                       `json:"deprecated"`
		Parameters  []json.RawMessage          `json:"parameters"`
		Body        json.RawMessage            `json:"requestBody"`
		Responses   map[string]json.RawMessage `json:"responses"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	o := &operation{
		doc: d, name: strings.TrimSpace(in.ID), method: strings.ToUpper(method), path: path,
		described: strings.TrimSpace(in.Description), deprecated: in.Deprecated, responses: in.Responses,
	}
	if o.name == "" {
		o.name = methodAndPath(method, path)
	}
	o.about = short(in.Summary, in.Description)
	if err := o.takeParameters(append(slices.Clone(shared), in.Parameters...)); err != nil {
		return nil, err
	}
	return o, o.takeBody(in.Body)
}

// methodAndPath is the name of an operation without one.
func methodAndPath(method, path string) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(method))
	for _, r := range path {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// maxAbout is how long a description in a list is, in characters.
const maxAbout = 240

// short is what an operation does, in a line.
func short(summary, description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), "\n\n")
	switch summary = format.OneLine(summary); {
	case summary == "":
		return format.Line(first, maxAbout)
	case first == "" || len(summary) > maxAbout/2 || strings.HasPrefix(first, ">"):
		return format.Cut(summary, maxAbout)
	}
	return format.Line(strings.TrimRight(summary, ".")+". "+first, maxAbout)
}

// unsent are headers that no parameter sets.
var unsent = map[string]bool{"accept": true, "content-type": true, "authorization": true, "host": true, "content-length": true, "cookie": true, "connection": true}

// takeParameters reads the parameters: the later of one name and place counts.
func (o *operation) takeParameters(list []json.RawMessage) error {
	at := map[string]int{}
	for _, raw := range list {
		var p parameter
		if err := o.doc.resolved(raw, &p); err != nil {
			return fmt.Errorf("a parameter: %w", err)
		}
		if p.Name == "" || (p.In == "header" && unsent[strings.ToLower(p.Name)]) {
			continue
		}
		switch p.In {
		case "path", "query", "header", "cookie":
		default:
			continue // of another version of OpenAPI
		}
		key := p.In + " " + p.Name
		if i, known := at[key]; known {
			o.params[i] = p
			continue
		}
		at[key] = len(o.params)
		o.params = append(o.params, p)
	}
	taken := map[string]bool{}
	for i := range o.params {
		p := &o.params[i]
		if p.argument = p.Name; taken[p.argument] {
			p.argument = p.Name + "_" + p.In
		}
		taken[p.argument] = true
		p.Required = p.Required || p.In == "path"
	}
	return nil
}

// takeBody reads what is sent, in the kind that Deckhand can send best.
func (o *operation) takeBody(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var in struct {
		Description string                     `json:"description"`
		Required    bool                       `json:"required"`
		Content     map[string]json.RawMessage `json:"content"`
	}
	if err := o.doc.resolved(raw, &in); err != nil {
		return fmt.Errorf("its body: %w", err)
	}
	kind := bestKind(slices.Sorted(maps.Keys(in.Content)))
	if kind == "" {
		return nil
	}
	var media struct {
		Schema json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(in.Content[kind], &media); err != nil {
		return fmt.Errorf("its body: %w", err)
	}
	o.body = &body{argument: "body", required: in.Required, about: in.Description, kind: kind, schema: media.Schema}
	if slices.ContainsFunc(o.params, func(p parameter) bool { return p.argument == "body" }) {
		o.body.argument = "request_body"
	}
	return nil
}

// bestKind is the media type that is sent, of those that the operation takes.
func bestKind(kinds []string) string {
	for _, fits := range []func(string) bool{
		func(k string) bool { return k == "application/json" },
		isJSON,
		func(k string) bool { return k == "application/x-www-form-urlencoded" },
		func(k string) bool { return k == "multipart/form-data" },
		func(k string) bool { return strings.HasPrefix(k, "text/") },
		func(string) bool { return true },
	} {
		if i := slices.IndexFunc(kinds, fits); i >= 0 {
			return kinds[i]
		}
	}
	return ""
}

func isJSON(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json") || kind == "*/*" || kind == "application/*"
}

// isForm reports whether bodies of the kind are fields with values.
func isForm(kind string) bool {
	return kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data"
}

// schema is the JSON Schema of the operation's arguments: as deep as fits.
func (o *operation) schema() json.RawMessage {
	o.schemaOnce.Do(func() {
		o.doc.reading.Lock()
		defer o.doc.reading.Unlock()
		for depth := deepest; ; depth /= 2 {
			text, err := format.JSON(o.arguments(depth))
			if err == nil && (len(text) <= maxSchema || depth <= 1) {
				o.schemaBytes = text
				return
			}
			if err != nil {
				o.schemaBytes = json.RawMessage(`{"type":"object"}`)
				return
			}
		}
	})
	return o.schemaBytes
}

// arguments is the schema of all arguments, with so many levels.
func (o *operation) arguments(depth int) map[string]any {
	props, required := map[string]any{}, []string{}
	for _, p := range o.params {
		s := o.doc.schema(p.shape(), depth)
		if p.About != "" {
			s["description"] = format.Cut(p.About, 500)
		}
		if p.argument != p.Name {
			s["description"] = strings.TrimSpace(fmt.Sprintf("In the %s. %v", p.In, orEmpty(s["description"])))
		}
		props[p.argument] = s
		if p.Required {
			required = append(required, p.argument)
		}
	}
	if o.body != nil {
		s := o.doc.schema(o.body.schema, depth)
		if !isJSON(o.body.kind) && !isForm(o.body.kind) {
			s = map[string]any{"type": "string", "description": "The body, as " + o.body.kind}
		}
		if o.body.about != "" {
			s["description"] = format.Cut(o.body.about, 500)
		}
		props[o.body.argument] = s
		if o.body.required {
			required = append(required, o.body.argument)
		}
	}
	all := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		all["required"] = required
	}
	return all
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// shape is the parameter's schema.
func (p parameter) shape() json.RawMessage {
	if p.Schema != nil {
		return p.Schema
	}
	for _, raw := range p.Content {
		var media struct {
			Schema json.RawMessage `json:"schema"`
		}
		if json.Unmarshal(raw, &media) == nil {
			return media.Schema
		}
	}
	return nil
}

// Bounds of an operation's documentation, in characters.
const (
	maxDocumentation = 8000
	maxDescribed     = 3000
	maxAnswered      = 2500
)

// documentation is all that a model has to know to call the operation.
func (o *operation) documentation() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", o.method, o.path)
	if o.deprecated {
		b.WriteString("It is deprecated.\n")
	}
	b.WriteString(format.Cut(strings.TrimSpace(o.about+"\n"+o.described), maxDescribed) + "\n")
	if len(o.params) > 0 {
		b.WriteString("\nArguments:\n")
	}
	for _, p := range o.params {
		must := ""
		if p.Required {
			must = ", required"
		}
		fmt.Fprintf(&b, "- %s (%s%s): %s\n", p.argument, p.In, must, format.Line(p.About, 300))
	}
	if o.body != nil {
		must := ""
		if o.body.required {
			must = ", required"
		}
		fmt.Fprintf(&b, "- %s (%s%s): %s\n", o.body.argument, o.body.kind, must, format.Line(o.body.about, 300))
	}
	fmt.Fprintf(&b, "\nSchema of the arguments:\n%s\n", o.schema())
	b.WriteString(o.answers())
	return format.Cut(format.Visible(b.String()), maxDocumentation)
}

// answers describes what comes back.
func (o *operation) answers() string {
	var b strings.Builder
	for _, code := range slices.Sorted(maps.Keys(o.responses)) {
		var r struct {
			Description string                     `json:"description"`
			Content     map[string]json.RawMessage `json:"content"`
		}
		if o.doc.resolved(o.responses[code], &r) != nil {
			continue
		}
		fmt.Fprintf(&b, "\nAnswer %s: %s", code, format.Line(r.Description, 200))
		if !strings.HasPrefix(code, "2") {
			continue
		}
		kind := bestKind(slices.Sorted(maps.Keys(r.Content)))
		var media struct {
			Schema json.RawMessage `json:"schema"`
		}
		if kind == "" || json.Unmarshal(r.Content[kind], &media) != nil {
			continue
		}
		o.doc.reading.Lock()
		text, err := format.JSON(o.doc.schema(media.Schema, 3))
		o.doc.reading.Unlock()
		if err == nil {
			fmt.Fprintf(&b, " (%s)\n%s", kind, format.Cut(string(text), maxAnswered))
		}
	}
	return b.String()
}
