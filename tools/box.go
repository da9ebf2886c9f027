package tools

// The Box: a build's tools by name, and their arguments checked before a call.

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/deckhand-bot/deckhand/agent"
)

// ErrDuplicate is returned by New where two tools have the same name.
var ErrDuplicate = errors.New("two tools have the same name")

// ErrSpec is returned by New where a tool describes itself in a way that no
// model could use: a name outside [a-zA-Z0-9_-]{1,64} or a broken schema.
var ErrSpec = errors.New("unusable tool description")

// ErrUnknown is returned by Check for a name that no tool has.
var ErrUnknown = errors.New("unknown tool")

// ErrArguments is returned by Check where the arguments do not fit the
// tool's schema. Its whole text is one sentence for the model.
var ErrArguments = errors.New("arguments do not fit")

// toolName is what Chat Completions endpoints accept as a function's name.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Box is a fixed list of tools. It may be used from many goroutines.
type Box struct {
	tools map[string]boxed
	specs []agent.ToolSpec // sorted by name
}

// boxed is a tool with its schema, which is compiled when it is first needed.
type boxed struct {
	tool    agent.Tool
	compile func() (compiled, error)
}

// compiled is a schema that arguments can be held against.
type compiled struct {
	schema *jsonschema.Schema
	check  *jsonschema.Resolved
}

// New builds a Box from the tools and looks at their schemas. It returns
// ErrDuplicate or ErrSpec, naming the tool.
func New(list ...agent.Tool) (*Box, error) {
	for _, t := range list {
		if err := Usable(t.Spec()); err != nil {
			return nil, err
		}
	}
	return Gather(list...)
}

// Gather is New for tools that were found Usable before.
func Gather(list ...agent.Tool) (*Box, error) {
	b := &Box{tools: make(map[string]boxed, len(list))}
	for _, t := range list {
		spec := t.Spec()
		if _, taken := b.tools[spec.Name]; taken {
			return nil, fmt.Errorf("%w: %s; register it once or rename one of them", ErrDuplicate, spec.Name)
		}
		b.tools[spec.Name] = boxed{t, sync.OnceValues(func() (compiled, error) { return compile(spec) })}
		b.specs = append(b.specs, spec)
	}
	slices.SortFunc(b.specs, func(x, y agent.ToolSpec) int { return strings.Compare(x.Name, y.Name) })
	return b, nil
}

// Usable is nil where a model can use what the tool says of itself, else it
// wraps ErrSpec and names the tool.
func Usable(spec agent.ToolSpec) error {
	if !toolName.MatchString(spec.Name) {
		return fmt.Errorf("%w: the name %q must be 1 to 64 letters, digits, _ or -", ErrSpec, spec.Name)
	}
	_, err := compile(spec)
	return err
}

func compile(spec agent.ToolSpec) (compiled, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(spec.Parameters, &schema); err != nil {
		return compiled{}, fmt.Errorf("%w: the parameters of %s are no JSON Schema: %w", ErrSpec, spec.Name, err)
	}
	if schema.Type != "object" {
		return compiled{}, fmt.Errorf("%w: the parameters of %s must be of type object", ErrSpec, spec.Name)
	}
	if spec.Source != "" {
		shut(&schema, 0)
	}
	check, err := schema.Resolve(nil)
	if err != nil {
		return compiled{}, fmt.Errorf("%w: the schema of %s does not resolve: %w", ErrSpec, spec.Name, err)
	}
	return compiled{&schema, check}, nil
}

// shut refuses arguments that a foreign schema does not name, unless it says
// that it takes any: what a model makes up is not sent.
func shut(s *jsonschema.Schema, level int) {
	if s == nil || level > maxLevels {
		return
	}
	mixed := len(s.AllOf) > 0 || len(s.AnyOf) > 0 || len(s.OneOf) > 0 || s.If != nil || s.Not != nil || len(s.PatternProperties) > 0 || s.Ref != ""
	if s.Properties != nil && s.AdditionalProperties == nil && s.UnevaluatedProperties == nil && !mixed {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, p := range s.Properties {
		shut(p, level+1)
	}
	shut(s.Items, level+1)
}

// Specs returns the descriptions of all tools, sorted by name, so that the
// same box always gives the same prompt. Nobody changes the slice.
func (b *Box) Specs() []agent.ToolSpec { return b.specs }

// Tool returns the tool with the name and whether there is one.
func (b *Box) Tool(name string) (agent.Tool, bool) {
	t, ok := b.tools[name]
	return t.tool, ok
}

// Nearest returns up to three names that resemble the given one, nearest
// first; none where nothing resembles it.
func (b *Box) Nearest(name string) []string {
	names := make([]string, 0, len(b.specs))
	for _, s := range b.specs {
		names = append(names, s.Name)
	}
	return nearest(name, names, 3)
}

// Check validates the arguments of a call against the tool's schema. The
// error is one precise sentence for the model and wraps ErrUnknown or
// ErrArguments.
func (b *Box) Check(name string, arguments json.RawMessage) error {
	t, ok := b.tools[name]
	if !ok {
		if near := b.Nearest(name); len(near) > 0 {
			return sentence{ErrUnknown, fmt.Sprintf("there is no tool %q: did you mean %s?", name, quotedList(near, "or"))}
		}
		return sentence{ErrUnknown, fmt.Sprintf("there is no tool %q", name)}
	}
	c, err := t.compile()
	if err != nil {
		return err // of a schema that was usable when it came: it cannot be
	}
	value, problem := decode(arguments)
	if problem == "" {
		err := c.check.Validate(value)
		if err == nil {
			return nil
		}
		problem = explain(c.schema, value)
		if problem == "" {
			problem = "the arguments do not fit the schema: " + lastPart(err)
		}
	}
	return sentence{ErrArguments, name + ": " + problem}
}

// sentence is an error whose text is meant for the model alone, without the
// text of the error that callers compare with.
type sentence struct {
	kind error
	text string
}

func (s sentence) Error() string { return s.text }

// Unwrap returns the error that callers compare with.
func (s sentence) Unwrap() error { return s.kind }
