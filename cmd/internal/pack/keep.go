package pack

// The key packs of the configuration file, changed without touching the rest of it:
// comments, order and blank lines stay.

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const key = "packs"

// keep changes the list of packs. A file that is no configuration afterwards is put
// back as it was.
func (h Host) keep(change func(list []string) []string) error {
	file := h.File()
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	created := err != nil
	after, err := edit(before, change)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.WriteFile(file, after, mode); err != nil { //nolint:gosec // the operator's own file
		return err
	}
	if _, err := h.Load(); err != nil {
		if created {
			return errors.Join(err, os.Remove(file))
		}
		return errors.Join(err, os.WriteFile(file, before, mode)) //nolint:gosec // the operator's own file
	}
	return nil
}

// edit writes the list in the place of the old one, or at the end.
func edit(text []byte, change func(list []string) []string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	name, value := find(&doc)
	if name == nil {
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(text, '\n')
		}
		return append(text, line(change(nil))...), nil
	}
	var list []string
	if value.Kind == yaml.SequenceNode {
		if err := value.Decode(&list); err != nil {
			return nil, err
		}
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	last := lastLine(value)
	for value.Style&yaml.FlowStyle != 0 && last < len(lines) && !bytes.Contains(lines[last-1], []byte("]")) {
		last++
	}
	var out bytes.Buffer
	out.Write(bytes.Join(lines[:name.Line-1], nil))
	out.WriteString(line(change(list)))
	out.Write(bytes.Join(lines[min(last, len(lines)):], nil))
	return out.Bytes(), nil
}

// find is the key at the top of the file, nil: it is not there.
func find(doc *yaml.Node) (name, value *yaml.Node) {
	if len(doc.Content) == 0 {
		return nil, nil
	}
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Value == key {
			return top[i], top[i+1]
		}
	}
	return nil, nil
}

// lastLine is the last line that an entry of a list stands on.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, inner := range n.Content {
		last = max(last, lastLine(inner))
	}
	return last
}

// line is the key with its list, empty: nothing.
func line(list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, dir := range list {
		if quoted[i] = dir; strings.ContainsAny(dir, " \t,:[]{}#&*!|>'\"%@`") {
			quoted[i] = strconv.Quote(dir)
		}
	}
	return key + ": [" + strings.Join(quoted, ", ") + "]\n"
}
