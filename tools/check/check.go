package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Config says what checks are made with.
type Config struct {
	Workspace *workspace.Workspace
	// Shell runs commands, {"command"}, nil: no sandbox here does.
	Shell agent.Tool
	// Query answers queries, {"query"}, nil: nothing here does.
	Query agent.Tool
}

// Tool makes checks. It may be used from many goroutines.
type Tool struct{ c Config }

// New returns the tool.
func New(c Config) Tool { return Tool{c} }

// Spec describes the tool.
func (t Tool) Spec() agent.ToolSpec {
	s := agent.ToolSpec{
		Name: agent.ToolCheck, Description: "Looks whether a result is what was announced: a command in the sandbox, a file, a JSON Schema, a query.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"command":{"type":"string"},"file":{"type":"string"},"schema":{},"query":{"type":"string"},"expect":{},"value":{}}}`),
		Class:      agent.ClassRead, Repeat: agent.RepeatIdempotent, Timeout: time.Minute,
	}
	for _, by := range []agent.Tool{t.c.Shell, t.c.Query} {
		if by != nil {
			s.Timeout = max(s.Timeout, by.Spec().Timeout)
		}
	}
	return s
}

// Lacks says what is missing here for a check, empty: it can be made.
func (t Tool) Lacks(c agent.Check) string {
	switch {
	case c.Command != "" && t.c.Shell == nil:
		return "no sandbox here runs commands (`deckhand doctor` says why): check a file or a schema"
	case c.Query != "" && t.c.Query == nil:
		return "nothing here answers queries: check a file or a command"
	}
	return ""
}

// arguments are those of a call.
type arguments struct {
	agent.Check
	Value json.RawMessage `json:"value"`
}

// Run makes the check.
func (t Tool) Run(ctx context.Context, c agent.Call) agent.Result {
	var a arguments
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return agent.Failed("the check cannot be read: " + err.Error())
	}
	if why := t.Lacks(a.Check); why != "" {
		return agent.Failed(why)
	}
	var got string
	var err error
	switch {
	case a.Command != "":
		got, err = ask(ctx, t.c.Shell, c, map[string]string{"command": a.Command})
	case a.Query != "":
		got, err = ask(ctx, t.c.Query, c, map[string]string{"query": a.Query})
	case a.File != "":
		got, err = t.read(c.Folder, a.File)
	case len(a.Value) > 0:
		got = string(a.Value)
	default:
		err = errors.New("there is nothing to check: the task delivered neither a value nor a file")
	}
	if err == nil && len(a.Schema) > 0 {
		err = fits(a.Schema, got)
	}
	if err == nil && len(a.Expect) > 0 {
		err = meets(a.Expect, got)
	}
	if err != nil {
		return agent.Result{State: agent.OutcomeError, Trust: agent.Untrusted, Text: "error: " + err.Error()}
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: "passed: " + a.Says()}
}

// errRefused is what another tool said.
var errRefused = errors.New("")

// ask has another tool do it. Its failure is the check's.
func ask(ctx context.Context, by agent.Tool, c agent.Call, args map[string]string) (string, error) {
	line, err := format.JSON(args)
	if err != nil {
		return "", err
	}
	c.Tool, c.Arguments = by.Spec().Name, line
	r := by.Run(ctx, c)
	if r.State != agent.OutcomeOK {
		return "", fmt.Errorf("%w%s", errRefused, strings.TrimPrefix(r.Text, "error: "))
	}
	return r.Text, nil
}

// largest bounds a file that is looked into, in bytes.
const largest = 8 << 20

// read is the text of a workspace file.
func (t Tool) read(folder, path string) (string, error) {
	clean, err := workspace.Clean(path)
	if err != nil {
		return "", err
	}
	f, err := t.c.Workspace.Open(folder)
	if err != nil {
		return "", err
	}
	defer f.Close()
	file, info, err := f.Read(clean)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	if info.Size() > largest {
		return "", fmt.Errorf("%s has more than %d MiB: check a smaller file", path, largest>>20)
	}
	data, err := io.ReadAll(io.LimitReader(file, largest))
	if err != nil {
		return "", fmt.Errorf("%s: reading: %w", path, err)
	}
	return string(data), nil
}

// fits holds JSON against a schema.
func fits(schema json.RawMessage, text string) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("the check's schema is none: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("the check's schema is none: %w", err)
	}
	value, err := parsed(text)
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("it does not fit the schema: %w", err)
	}
	return nil
}

// parsed is a JSON value; a text that holds JSON is that.
func parsed(text string) (any, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	if inner, is := v.(string); is {
		var w any
		if json.Unmarshal([]byte(inner), &w) == nil {
			return w, nil
		}
	}
	return v, nil
}

// shown is how much of what was found is quoted, in characters.
const shown = 300

// meets compares with what is expected: a text that is contained, "/…/" a regular
// expression, any other value as that value.
func meets(expect json.RawMessage, got string) error {
	differs := func(how string) error {
		return fmt.Errorf("expected %s %s, found: %s", how, bytes.TrimSpace(expect), format.Cut(strings.ToValidUTF8(strings.TrimSpace(got), "�"), shown))
	}
	var text string
	if json.Unmarshal(expect, &text) == nil {
		if pattern, is := regular(text); is {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return fmt.Errorf("the check's expression is none: %w", err)
			}
			if !re.MatchString(got) {
				return differs("a match of")
			}
			return nil
		}
		if !strings.Contains(got, text) {
			return differs("the text")
		}
		return nil
	}
	var want any
	if err := json.Unmarshal(expect, &want); err != nil {
		return fmt.Errorf("what the check expects cannot be read: %w", err)
	}
	if value, err := parsed(got); err != nil || !reflect.DeepEqual(value, want) {
		return differs("the value")
	}
	return nil
}

// regular is the expression between slashes.
func regular(text string) (pattern string, is bool) {
	if utf8.RuneCountInString(text) < 3 || text[0] != '/' || text[len(text)-1] != '/' {
		return "", false
	}
	return text[1 : len(text)-1], true
}
