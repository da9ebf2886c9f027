package rehearsal

// Scenarios, read from YAML.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// ErrScenario is wrapped by every error of Parse.
var ErrScenario = errors.New("the scenario cannot be played")

// Scenario is a parsed file.
type Scenario struct {
	// Name is the scenario's own name.
	Name string
	// Says is one line for people: that what they see is scripted.
	Says string

	turns []turn
}

// turn is one entry.
type turn struct {
	line    int
	purpose llm.Purpose
	task    *string
	turn    *int
	when    *value // a template: the entry fits only where it says "true"
	takes   time.Duration
	text    value
	calls   []call
}

type call struct {
	name string
	args value
}

// The file's shape.
type (
	file struct {
		Name  string      `yaml:"name"`
		Says  string      `yaml:"says"`
		Turns []entryFile `yaml:"turns"`
	}
	entryFile struct {
		Purpose llm.Purpose   `yaml:"purpose"`
		Task    *string       `yaml:"task"`
		Turn    *int          `yaml:"turn"`
		When    yaml.Node     `yaml:"when"`
		Takes   time.Duration `yaml:"takes"`
		Text    yaml.Node     `yaml:"text"`
		Calls   []callFile    `yaml:"calls"`
	}
	callFile struct {
		Name      string    `yaml:"name"`
		Arguments yaml.Node `yaml:"arguments"`
	}
)

var purposes = []llm.Purpose{
	llm.Intake, llm.Plan, llm.Work, llm.CheckIn, llm.Judge, llm.Report, llm.Insight, llm.Importance, llm.Compact,
}

// Parse reads a scenario. name stands before the line in errors, which wrap
// ErrScenario; all faults of a file are reported at once.
func Parse(name string, data []byte) (*Scenario, error) {
	p := parser{name: name}
	var f file
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return nil, p.syntax(err)
	}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		p.fault(max(1, more.Line), "a second document: a scenario is one")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, p.syntax(err)
	}
	lines := lines(&root)
	s := &Scenario{Name: f.Name, Says: f.Says}
	if strings.TrimSpace(f.Name) == "" {
		p.fault(1, "name is missing")
	}
	if says := strings.TrimSpace(f.Says); says == "" || strings.Contains(says, "\n") {
		p.fault(1, "says is missing or longer than a line: write one line that tells people that this is scripted")
	}
	if len(f.Turns) == 0 {
		p.fault(1, "turns is missing or empty")
	}
	for i := range f.Turns {
		line := 1
		if i < len(lines) {
			line = lines[i]
		}
		s.turns = append(s.turns, p.turn(line, &f.Turns[i]))
	}
	p.reachable(s.turns)
	if len(p.faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrScenario, errors.Join(p.faults...))
	}
	return s, nil
}

// parser collects faults.
type parser struct {
	name   string
	nodes  int
	faults []error
}

func (p *parser) fault(line int, format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf("%s:%d: "+format, append([]any{p.name, line}, args...)...))
}

var (
	yamlLine    = regexp.MustCompile(`line (\d+): `)
	yamlUnknown = regexp.MustCompile(`field (\S+) not found in type \S+`)
)

// syntax puts the YAML decoder's errors into this package's words.
func (p *parser) syntax(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %s is empty", ErrScenario, p.name)
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimSpace(strings.TrimPrefix(text, "unmarshal errors:"))
	text = yamlLine.ReplaceAllString(text, p.name+":$1: ")
	text = yamlUnknown.ReplaceAllString(text, `unknown key "$1"`)
	return fmt.Errorf("%w: %s", ErrScenario, text)
}

// lines returns the line of each entry under turns.
func lines(root *yaml.Node) []int {
	if len(root.Content) == 0 {
		return nil
	}
	top := root.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Value != "turns" {
			continue
		}
		var list []int
		for _, n := range top[i+1].Content {
			list = append(list, n.Line)
		}
		return list
	}
	return nil
}

func (p *parser) turn(line int, f *entryFile) turn {
	t := turn{line: line, purpose: f.Purpose, task: f.Task, turn: f.Turn, takes: f.Takes}
	if !slices.Contains(purposes, f.Purpose) {
		p.fault(line, "purpose %q is none of %v", f.Purpose, purposes)
	}
	if f.Turn != nil && *f.Turn < 0 {
		p.fault(line, "turn %d: turns count from 0", *f.Turn)
	}
	if f.Takes < 0 {
		p.fault(line, "takes %s: a pause cannot be negative", f.Takes)
	}
	if f.Text.Value == "" && len(f.Calls) == 0 {
		p.fault(line, "neither text nor calls")
	}
	if !f.Text.IsZero() {
		if f.Text.Kind != yaml.ScalarNode {
			p.fault(f.Text.Line, "text is no string")
		}
		f.Text.Tag, f.Text.Style = "!!str", yaml.DoubleQuotedStyle
		t.text = p.value(&f.Text, 0)
	}
	if !f.When.IsZero() {
		if f.When.Kind != yaml.ScalarNode {
			p.fault(f.When.Line, "when is no string")
		}
		f.When.Tag, f.When.Style = "!!str", yaml.DoubleQuotedStyle
		when := p.value(&f.When, 0)
		t.when = &when
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		if c.Name == "" {
			p.fault(line, "calls[%d] has no name", i)
		}
		args := value{kind: object}
		if !c.Arguments.IsZero() {
			args = p.value(&c.Arguments, 0)
			if args.kind != object {
				p.fault(c.Arguments.Line, "the arguments of %s are no mapping", c.Name)
			}
		}
		t.calls = append(t.calls, call{c.Name, args})
	}
	return t
}

// reachable refuses an entry that an earlier one always precedes.
func (p *parser) reachable(turns []turn) {
	for i := range turns {
		for j := range turns[:i] {
			a, b := &turns[j], &turns[i]
			if a.when == nil && a.purpose == b.purpose && (a.task == nil || b.task != nil && *a.task == *b.task) &&
				(a.turn == nil || b.turn != nil && *a.turn == *b.turn) {
				p.fault(b.line, "never played: the entry in line %d fits first", a.line)
				break
			}
		}
	}
}
