package pack

// YAML with the line of everything that is wrong.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Fault is one thing that is wrong in a pack. Line 0: the file as a whole.
type Fault struct {
	File string // relative to the pack
	Line int
	Text string
}

// String is FILE:LINE: what is wrong.
func (f Fault) String() string {
	switch {
	case f.Text == "": // it stands in File, with its line
		return f.File
	case f.Line == 0:
		return f.File + ": " + f.Text
	}
	return f.File + ":" + strconv.Itoa(f.Line) + ": " + f.Text
}

// file is a file of a pack while it is read.
type file struct {
	name   string
	faults []Fault
}

func (f *file) fault(line int, text string, args ...any) {
	f.faults = append(f.faults, Fault{f.name, line, fmt.Sprintf(text, args...)})
}

var atLine = regexp.MustCompile(`(?s)^(?:yaml: )?(?:unmarshal errors:\s*)?line ([0-9]+): (.*)$`)

// document parses the only document of a file, nil: it cannot be.
func (f *file) document(data []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		f.fault(0, "it is empty")
		return nil
	case err != nil:
		f.yamlError(0, err.Error())
		return nil
	case d.Decode(&second) == nil:
		f.fault(second.Line, "a second document begins here; write a list of tools instead")
		return nil
	}
	return doc.Content[0]
}

// yamlError notes what the parser says, at its line.
func (f *file) yamlError(line int, text string) {
	if m := atLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		text = m[2]
	}
	f.fault(line, "%s", strings.TrimPrefix(text, "yaml: "))
}

// into decodes a node, and notes keys that there are not.
func (f *file) into(n *yaml.Node, v any) bool {
	before := len(f.faults)
	f.keys(n, reflect.TypeOf(v).Elem())
	if err := n.Decode(v); err != nil {
		if types, is := errors.AsType[*yaml.TypeError](err); is {
			for _, e := range types.Errors {
				f.yamlError(n.Line, e)
			}
		} else {
			f.yamlError(n.Line, err.Error())
		}
	}
	return len(f.faults) == before
}

var aNode = reflect.TypeFor[yaml.Node]()

// keys notes the keys of a node that a struct does not have.
func (f *file) keys(n *yaml.Node, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t = t.Elem(); t.Kind() == reflect.Struct && n.Kind == yaml.SequenceNode {
			for _, inner := range n.Content {
				f.keys(inner, t)
			}
			return
		}
	}
	if t.Kind() != reflect.Struct || t == aNode || n.Kind != yaml.MappingNode {
		return
	}
	fields, names := map[string]reflect.Type{}, []string{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			fields[name], names = f.Type, append(names, name)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		field, known := fields[key.Value]
		if known {
			f.keys(n.Content[i+1], field)
			continue
		}
		hint := "; there are " + strings.Join(names, ", ")
		if near := format.Nearest(key.Value, names, 3); near != "" {
			hint = fmt.Sprintf(", did you mean %q?", near)
		}
		f.fault(key.Line, "there is no key %q%s", key.Value, hint)
	}
}

// maxDepth is how deep values may be nested.
const maxDepth = 32

// errDepth is said of values that are nested too deep.
var errDepth = errors.New("it is nested too deep")

// asJSON is a node as JSON, with keys in their order.
func asJSON(n *yaml.Node) (json.RawMessage, error) {
	var b bytes.Buffer
	err := writeJSON(&b, n, 0)
	return b.Bytes(), err
}

func writeJSON(b *bytes.Buffer, n *yaml.Node, depth int) error {
	if depth > maxDepth || b.Len() > maxFile {
		return errDepth
	}
	switch n.Kind {
	case yaml.AliasNode:
		return writeJSON(b, n.Alias, depth+1)
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			key, err := format.JSON(n.Content[i].Value)
			if err != nil {
				return err
			}
			b.Write(key)
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, inner := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, inner, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	return writeScalar(b, n)
}

// writeScalar writes numbers, booleans and null as such, everything else, dates too,
// as the text that stands there.
func writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	var text string
	switch n.ShortTag() {
	case "!!null":
		text = "null"
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		written, err := format.JSON(v)
		if err == nil && json.Valid([]byte(n.Value)) {
			written = []byte(n.Value) // 1.50 stays as it is
		}
		if err == nil {
			text = string(written)
			break
		}
		fallthrough // .nan, .inf
	default:
		written, err := format.JSON(n.Value)
		if err != nil {
			return err
		}
		text = string(written)
	}
	b.WriteString(text)
	return nil
}
