package playbook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
)

// Playbook is how a team does one kind of work.
type Playbook struct {
	Name        string          `yaml:"name"`
	Title       string          `yaml:"title"`
	Description string          `yaml:"description"`
	When        string          `yaml:"when"` // when it fits, in words: the planner reads it
	Inputs      []Input         `yaml:"inputs"`
	Stages      []Stage         `yaml:"stages"`
	Examples    []Demonstration `yaml:"demonstrations"`
	DoneWhen    words           `yaml:"done_when"`
	File        string          `yaml:"-"`
	lines       places
}

// Input is what a playbook wants to know beside the goal. One without a default
// has to be given.
type Input struct {
	Name        string  `yaml:"name"`
	Description string  `yaml:"description"`
	Default     *string `yaml:"default"`
}

// Stage is one step: a task of the plan.
type Stage struct {
	Name         string     `yaml:"name"`
	Title        string     `yaml:"title"`
	Role         string     `yaml:"role"`
	Instructions string     `yaml:"instructions"`
	In           []artifact `yaml:"in"`
	Out          []artifact `yaml:"out"`
	After        words      `yaml:"after"` // stages that come before it without giving it anything
	Tools        words      `yaml:"tools"`
	Check        *check     `yaml:"check"`
	Reviewer     string     `yaml:"reviewer"`
	Acceptance   string     `yaml:"acceptance"`
	Effort       float64    `yaml:"effort"`
	Value        float64    `yaml:"value"`
	Deliverable  bool       `yaml:"deliverable"`
	Writes       words      `yaml:"writes"`
	Env          *env       `yaml:"env"`
}

// artifact is a name with a type: "name", or {name, type, description}.
type artifact struct {
	Name        string `yaml:"name"`
	Type        string `yaml:"type"`
	Description string `yaml:"description"`
}

// UnmarshalYAML reads a mapping, or the name alone.
func (a *artifact) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		a.Name = n.Value
		return nil
	}
	type plain artifact
	return strict(n, (*plain)(a))
}

// check and env are read as their JSON, so that files and plans say the same.
type (
	check struct{ agent.Check }
	env   struct{ agent.Env }
)

// UnmarshalYAML reads what a plan's check says.
func (c *check) UnmarshalYAML(n *yaml.Node) error { return viaJSON(n, &c.Check) }

// UnmarshalYAML reads what a plan's env says.
func (e *env) UnmarshalYAML(n *yaml.Node) error { return viaJSON(n, &e.Env) }

func viaJSON(n *yaml.Node, to any) error {
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("line %d: %s", n.Line, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// strict decodes a node that may have known keys alone.
func strict(n *yaml.Node, to any) error {
	data, err := yaml.Marshal(n)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("line %d: %s", n.Line, unknownField.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  line 1: "), `unknown key "$1"`))
	}
	return nil
}

// Demonstration is a goal and a plan that was good for it, for the planner.
type Demonstration struct {
	Goal string `yaml:"goal"`
	Plan string `yaml:"plan"` // in words
}

func readPlaybook(file string, data []byte) (Playbook, []Fault) {
	b := Playbook{File: file}
	lines, faults := decode(file, 0, data, &b)
	b.lines = lines
	if len(faults) > 0 {
		return b, faults
	}
	if !validName(b.Name) {
		faults = append(faults, Fault{file, lines.of("name"), fmt.Sprintf("name %q: a playbook needs a name of letters, digits, - and _", b.Name)})
	}
	if len(b.Stages) == 0 {
		faults = append(faults, Fault{file, lines.of("stages"), "a playbook needs stages"})
	}
	return b, append(faults, b.join()...)
}

// places are the lines of a file's keys: "stages.2.out".
type places map[string]int

// of is the line of a place, or of what it lies in.
func (p places) of(place string) int {
	for place != "" {
		if line, is := p[place]; is {
			return line
		}
		at := strings.LastIndexByte(place, '.')
		if at < 0 {
			break
		}
		place = place[:at]
	}
	return 1
}

func (p places) walk(n *yaml.Node, path string, shift int) {
	if path != "" {
		p[path] = n.Line + shift
		path += "."
	}
	switch n.Kind {
	case yaml.DocumentNode:
		for _, c := range n.Content {
			p.walk(c, "", shift)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			p.walk(n.Content[i+1], path+n.Content[i].Value, shift)
			p[path+n.Content[i].Value] = n.Content[i].Line + shift
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			p.walk(c, path+strconv.Itoa(i), shift)
		}
	case yaml.ScalarNode, yaml.AliasNode:
	}
}

var (
	faultLine    = regexp.MustCompile(`(?m)^\s*line (\d+): (.*)$`)
	unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)
)

// errAliases keeps a small file from becoming a large one.
var errAliases = errors.New("anchors and aliases are not read here")

// decode reads YAML with known keys alone. The file begins shift lines before.
func decode(file string, shift int, data []byte, to any) (places, []Fault) {
	var root yaml.Node
	err := yaml.Unmarshal(data, &root)
	if err == nil && aliased(&root) {
		err = errAliases
	}
	if err == nil {
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		if err = d.Decode(to); errors.Is(err, io.EOF) {
			return places{}, []Fault{{file, 1 + shift, "the file is empty"}}
		}
	}
	lines := places{}
	lines.walk(&root, "", shift)
	if err == nil {
		return lines, nil
	}
	var faults []Fault
	text := unknownField.ReplaceAllString(err.Error(), `unknown key "$1"`)
	for _, m := range faultLine.FindAllStringSubmatch(strings.ReplaceAll(text, "yaml: line", "line"), -1) {
		n, _ := strconv.Atoi(m[1]) // digits
		faults = append(faults, Fault{file, n + shift, m[2]})
	}
	if len(faults) == 0 {
		faults = []Fault{{file, 1 + shift, strings.TrimPrefix(text, "yaml: ")}}
	}
	return lines, faults
}

func aliased(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, aliased)
}
