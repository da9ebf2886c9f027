package pack

// A tool as its file writes it down.

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
)

// definition is one tool of a file.
type definition struct {
	Name          string         `yaml:"name"`
	Description   string         `yaml:"description"`
	Documentation string         `yaml:"documentation"`
	Arguments     yaml.Node      `yaml:"arguments"`  // NAME or NAME?: a description, or a JSON Schema
	Parameters    yaml.Node      `yaml:"parameters"` // instead of them: the whole JSON Schema
	Example       yaml.Node      `yaml:"example"`
	Effect        string         `yaml:"effect"`
	Repeat        string         `yaml:"repeat"`
	Trust         string         `yaml:"trust"`
	Private       bool           `yaml:"private"`
	Timeout       time.Duration  `yaml:"timeout"`
	MaxResult     agent.Quantity `yaml:"max_result"`
	Preview       string         `yaml:"preview"` // what a person reads who is asked
	Data          *queryCall     `yaml:"data"`
	HTTP          *httpCall      `yaml:"http"`
	Command       *commandCall   `yaml:"command"`
	Script        *scriptCall    `yaml:"script"`

	line  int
	file  string
	names []string // of its arguments
	hash  string
}

// statements is one statement or a list of them.
type statements []string

// UnmarshalYAML reads both.
func (s *statements) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*s = statements{n.Value}
		return nil
	}
	return n.Decode((*[]string)(s))
}

// queryCall is SQL over the pack's dataset. Arguments are :name; :person is who
// asked for the run, :now and :today are the time (UTC).
type queryCall struct {
	Require []requirement `yaml:"require"`
	SQL     statements    `yaml:"sql"`  // the rows of the last one are the result
	None    string        `yaml:"none"` // what is said where there are none
	Limit   int           `yaml:"limit"`
	Show    string        `yaml:"show"` // rows that a person sees who is asked
}

// requirement is a query that must give a row before anything is done.
type requirement struct {
	SQL  string `yaml:"sql"`
	Else string `yaml:"else"`
}

// httpCall is a request. {name} stands for an argument, ${NAME} for a variable.
type httpCall struct {
	Method  string            `yaml:"method"`
	URL     string            `yaml:"url"`
	Query   map[string]string `yaml:"query"`
	Headers map[string]string `yaml:"headers"`
	Body    yaml.Node         `yaml:"body"`
	Pick    string            `yaml:"pick"` // the part of a JSON answer that is the result: data.items
}

// commandCall is a program in the sandbox.
type commandCall struct {
	Run       []string `yaml:"run"`       // with {name}; one that is exactly that and not given is left out
	Input     string   `yaml:"input"`     // standard input, with {name}; absent: the arguments as JSON
	Workspace bool     `yaml:"workspace"` // it reads the run's folder and starts there, else in the pack's
	Network   []string `yaml:"network"`
}

// scriptCall is JavaScript. It finds its arguments as input.args, and the rows of SQL
// as input.rows.
type scriptCall struct {
	File string `yaml:"file"`
	Code string `yaml:"code"`
	SQL  string `yaml:"sql"`

	text string
}

// What a definition may say.
var (
	effects = map[string]agent.Class{"read": agent.ClassRead, "create": agent.ClassCreate, "write": agent.ClassWrite, "delete": agent.ClassDelete, "send": agent.ClassSend}
	repeats = map[string]agent.Repeat{"read": agent.RepeatRead, "idempotent": agent.RepeatIdempotent, "probeable": agent.RepeatProbeable, "once": agent.RepeatOnce}
	trusts  = map[string]agent.Trust{"trusted": agent.Trusted, "untrusted": agent.Untrusted}

	toolName     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,47}$`)
	argumentName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,47}\??$`)
)

// definitions are the tools of a file: one, or a list.
func (f *file) definitions(n *yaml.Node) []*definition {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	var good []*definition
	for _, one := range list {
		d := &definition{line: one.Line, file: f.name}
		if one.Kind != yaml.MappingNode {
			f.fault(one.Line, "a tool is written as keys with values: name, description, effect …")
			continue
		}
		if f.into(one, d) && f.judge(d) {
			good = append(good, d)
		}
	}
	return good
}

// judge notes what is wrong with a tool by itself.
func (f *file) judge(d *definition) bool {
	before := len(f.faults)
	fault := func(bad bool, text string, args ...any) {
		if bad {
			f.fault(d.line, "%s: %s", d.Name, fmt.Sprintf(text, args...))
		}
	}
	if !toolName.MatchString(d.Name) {
		f.fault(d.line, "the name %q: a letter, then at most 47 letters, digits, _ and -", d.Name)
		return false
	}
	_, effect := effects[d.Effect]
	_, repeat := repeats[d.Repeat]
	_, trust := trusts[d.Trust]
	fault(strings.TrimSpace(d.Description) == "", "it has no description: what a model chooses it by")
	fault(!effect, "effect is one of read, create, write, delete, send, not %q", d.Effect)
	fault(!repeat && d.Repeat != "", "repeat is one of read, idempotent, probeable, once, not %q", d.Repeat)
	fault(!trust && d.Trust != "", "trust is trusted or untrusted, not %q", d.Trust)
	fault(d.Repeat == "read" && d.Effect != "read", "an effect is never repeated like a read")
	fault(d.Repeat == "probeable" && d.Data == nil, "only a tool of kind data can be asked whether it happened")
	fault(d.Timeout < 0 || d.Timeout > maxTimeout, "timeout is at most %s", maxTimeout)
	if _, err := d.MaxResult.Bytes(); err != nil {
		fault(true, "max_result: %v", err)
	}
	kinds := 0
	for _, is := range []bool{d.Data != nil, d.HTTP != nil, d.Command != nil, d.Script != nil} {
		if is {
			kinds++
		}
	}
	fault(kinds != 1, "it needs one of data, http, command, script, and only one; it has %d", kinds)
	fault(d.Script != nil && d.Effect != "read", "a script changes nothing: its effect is read")
	return len(f.faults) == before
}

// maxTimeout bounds one call of a pack's tool.
const maxTimeout = 30 * time.Minute

// schema is the JSON Schema of a tool's arguments, and their names.
func (d *definition) schema() (json.RawMessage, []string, error) {
	if d.Parameters.Kind != 0 {
		if d.Arguments.Kind != 0 {
			return nil, nil, errors.New("write arguments or parameters, not both")
		}
		raw, err := asJSON(&d.Parameters)
		return raw, namesOf(raw), err
	}
	if d.Arguments.Kind != 0 && d.Arguments.Kind != yaml.MappingNode {
		return nil, nil, errors.New("arguments are written as NAME: description")
	}
	properties, required, names := []string{}, []string{}, []string{}
	for i := 0; i+1 < len(d.Arguments.Content); i += 2 {
		name, optional := strings.CutSuffix(d.Arguments.Content[i].Value, "?")
		if !argumentName.MatchString(name) || slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("line %d: an argument may not be called %q (again)", d.Arguments.Content[i].Line, name)
		}
		schema, err := argument(d.Arguments.Content[i+1])
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", d.Arguments.Content[i].Line, err)
		}
		names = append(names, name)
		properties = append(properties, fmt.Sprintf("%q:%s", name, schema))
		if !optional {
			required = append(required, fmt.Sprintf("%q", name))
		}
	}
	return json.RawMessage(`{"type":"object","additionalProperties":false,"required":[` + strings.Join(required, ",") + `],"properties":{` + strings.Join(properties, ",") + `}}`), names, nil
}

// argument is the schema of one: a text describes a string.
func argument(n *yaml.Node) (json.RawMessage, error) {
	raw, err := asJSON(n)
	if err != nil || n.Kind == yaml.MappingNode {
		if err == nil && !strings.Contains(string(raw), `"type"`) && !strings.Contains(string(raw), `"enum"`) {
			return nil, errors.New("its schema names no type")
		}
		return raw, err
	}
	if n.ShortTag() == "!!null" {
		return json.RawMessage(`{"type":"string"}`), nil
	}
	return json.RawMessage(`{"type":"string","description":` + string(raw) + `}`), nil
}

// namesOf are the properties of a schema.
func namesOf(raw json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(raw, &s) // none: it is looked at as a whole
	var list []string
	for name := range s.Properties {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
