package rehearsal

// This file lets a scenario's author write results of earlier calls into
// texts and arguments: YAML is compiled once, then rendered as JSON for each
// request.

import (
	"encoding/json"
	"strings"
	"text/template"
	"text/template/parse"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent/format"
)

type kind int

const (
	literal kind = iota // JSON as it stands
	text                // a template; its output is a JSON string
	raw                 // a template; its output is JSON
	list
	object
)

// value is a YAML value whose strings are templates, ready to be rendered as
// JSON. Keys keep the file's order.
type value struct {
	kind  kind
	json  json.RawMessage
	tmpl  *template.Template
	keys  []string // as JSON strings
	items []value
}

const (
	maxDepth = 64
	maxNodes = 20_000 // YAML's aliases can repeat themselves without end
)

func (p *parser) value(n *yaml.Node, depth int) value {
	p.nodes++
	if depth > maxDepth || p.nodes > maxNodes {
		if p.nodes <= maxNodes+1 || depth == maxDepth+1 {
			p.fault(n.Line, "arguments nested deeper than %d levels or larger than %d values", maxDepth, maxNodes)
		}
		p.nodes = maxNodes + 1
		return value{}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return p.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		v := value{kind: list}
		for _, c := range n.Content {
			v.items = append(v.items, p.value(c, depth+1))
		}
		return v
	case yaml.MappingNode:
		return p.mapping(n, depth)
	case yaml.ScalarNode:
		return p.scalar(n)
	case yaml.DocumentNode:
	}
	p.fault(n.Line, "neither a scalar nor a list nor a mapping")
	return value{}
}

func (p *parser) mapping(n *yaml.Node, depth int) value {
	v := value{kind: object}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			p.fault(key.Line, "a key that is no plain name")
			continue
		}
		v.keys = append(v.keys, string(p.literal(key, key.Value).json))
		v.items = append(v.items, p.value(n.Content[i+1], depth+1))
	}
	return v
}

func (p *parser) scalar(n *yaml.Node) value {
	switch n.Tag {
	case "!!str", "!!timestamp":
		return p.str(n)
	case "!!null", "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err != nil {
			p.fault(n.Line, "%v", err)
			return value{}
		}
		b, err := json.Marshal(v)
		if err != nil { // infinity and NaN
			p.fault(n.Line, "%s is no JSON number", n.Value)
		}
		return value{json: b}
	}
	p.fault(n.Line, "a value of type %s", n.Tag)
	return value{}
}

// str compiles a string. One without an action is what it is.
func (p *parser) str(n *yaml.Node) value {
	if !strings.Contains(n.Value, "{{") {
		return p.literal(n, n.Value)
	}
	t, err := template.New("").Option("missingkey=error").Funcs(funcs(nil)).Parse(n.Value)
	if err != nil {
		p.fault(n.Line, "%s", strings.TrimPrefix(err.Error(), "template: :"))
		return value{}
	}
	if t.Tree == nil {
		return p.literal(n, "")
	}
	nodes := t.Root.Nodes
	alone := len(nodes) == 1 && isRaw(nodes[0])
	if alone {
		return value{kind: raw, tmpl: t}
	}
	for _, c := range nodes {
		if isRaw(c) {
			p.fault(n.Line, "raw gives a JSON value and must be the whole string; use encode inside of text")
		}
	}
	return value{kind: text, tmpl: t}
}

func (p *parser) literal(n *yaml.Node, s string) value {
	b, err := format.JSON(s)
	if err != nil {
		p.fault(n.Line, "%v", err)
	}
	return value{json: b}
}

// isRaw reports whether n is {{ raw … }} or {{ … | raw }}.
func isRaw(n parse.Node) bool {
	a, ok := n.(*parse.ActionNode)
	if !ok || len(a.Pipe.Cmds) == 0 {
		return false
	}
	for _, c := range []*parse.CommandNode{a.Pipe.Cmds[0], a.Pipe.Cmds[len(a.Pipe.Cmds)-1]} {
		if id, ok := c.Args[0].(*parse.IdentifierNode); ok && id.Ident == "raw" {
			return true
		}
	}
	return false
}

// render appends the value as JSON.
func (v *value) render(b []byte, s *scene) ([]byte, error) {
	switch v.kind {
	case literal:
		return append(b, v.json...), nil
	case text, raw:
		out, err := v.execute(s)
		if err != nil {
			return nil, err
		}
		if v.kind == text {
			out, err = encode(out)
		}
		return append(b, out...), err
	case list, object:
	}
	open, end := byte('['), byte(']')
	if v.kind == object {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := range v.items {
		if i > 0 {
			b = append(b, ',')
		}
		if v.kind == object {
			b = append(append(b, v.keys[i]...), ':')
		}
		var err error
		if b, err = v.items[i].render(b, s); err != nil {
			return nil, err
		}
	}
	return append(b, end), nil
}

// say renders a string value as plain text.
func (v *value) say(s *scene) (string, error) {
	if v.tmpl != nil {
		return v.execute(s)
	}
	if v.json == nil {
		return "", nil
	}
	var out string
	err := json.Unmarshal(v.json, &out)
	return out, err
}

func (v *value) execute(s *scene) (string, error) {
	t, err := v.tmpl.Clone()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Funcs(funcs(s)).Execute(&b, nil); err != nil {
		return "", err
	}
	return b.String(), nil
}
