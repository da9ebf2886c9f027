package policy

// The fields of a policy's file, each read in its place.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Error holds everything that is wrong with a policy's file, one complaint a line.
type Error struct{ lines []complaint }

type complaint struct {
	line int
	text string
}

// Error returns all complaints.
func (e *Error) Error() string {
	list := make([]string, len(e.lines))
	for i, c := range e.lines {
		list[i] = c.text
	}
	return strings.Join(list, "\n")
}

// reader reads one file.
type reader struct {
	path     string
	shipped  bool
	file     *File
	problems []complaint
}

func (r *reader) fail(line int, format string, args ...any) {
	r.problems = append(r.problems, complaint{line, r.path + ":" + strconv.Itoa(line) + ": " + fmt.Sprintf(format, args...)})
}

// fields are what a part of a file may hold, with what reads each.
type fields map[string]func(n *yaml.Node)

func sortedFacts() []string { return slices.Sorted(maps.Keys(facts)) }

// fields reads a part of a file; an unknown field is refused with the nearest name.
func (r *reader) fields(n *yaml.Node, known fields) bool {
	if n.Kind != yaml.MappingNode {
		r.fail(n.Line, "expected fields with values here")
		return false
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		take, is := known[name.Value]
		switch {
		case !is:
			r.fail(name.Line, "unknown field %q %s", name.Value, didYouMean(name.Value, slices.Collect(maps.Keys(known))))
		case seen[name.Value]:
			r.fail(name.Line, "%s stands here twice", name.Value)
		case value.Kind == yaml.AliasNode:
			r.fail(value.Line, "%s: *%s is a reference: write the value out", name.Value, value.Value)
		default:
			take(value)
		}
		seen[name.Value] = true
	}
	return true
}

func (r *reader) each(read func(n *yaml.Node)) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			r.fail(n.Line, "expected a list here")
			return
		}
		for _, e := range n.Content {
			read(e)
		}
	}
}

// scalar reports whether a node is one value.
func (r *reader) scalar(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		r.fail(n.Line, "expected one value here")
		return false
	}
	return true
}

func (r *reader) text(to *string) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if r.scalar(n) {
			*to = n.Value
		}
	}
}

// word reads one of the known words.
func (r *reader) word(known []string, take func(word string)) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if !r.scalar(n) {
			return
		}
		if !slices.Contains(known, n.Value) {
			r.fail(n.Line, "unknown word %q %s", n.Value, didYouMean(n.Value, slices.Clone(known)))
		}
		take(n.Value)
	}
}

// list reads a word, or a list of them; known nil: any.
func (r *reader) list(to *[]string, known []string) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		nodes := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			nodes = n.Content
			if len(nodes) == 0 {
				r.fail(n.Line, "this list is empty, so the rule could never count")
			}
		}
		for _, e := range nodes {
			if !r.scalar(e) {
				continue
			}
			if known != nil && !slices.Contains(known, e.Value) {
				r.fail(e.Line, "unknown word %q %s", e.Value, didYouMean(e.Value, slices.Clone(known)))
			}
			*to = append(*to, e.Value)
		}
	}
}

func (r *reader) flag(to *bool) func(n *yaml.Node) {
	return r.word([]string{"true", "false"}, func(w string) { *to = w == "true" })
}

func (r *reader) number(to *int) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.Atoi(n.Value)
		if err != nil || v < 1 || v > 100 {
			r.fail(n.Line, "%q is no number from 1 to 100", n.Value)
		}
		*to = v
	}
}

func (r *reader) duration(to *time.Duration) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		v, err := time.ParseDuration(n.Value)
		if err != nil || v <= 0 {
			r.fail(n.Line, "%q is no time like 30m or 24h", n.Value)
		}
		*to = v
	}
}
