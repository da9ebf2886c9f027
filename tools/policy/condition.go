package policy

// Conditions in CEL, the Common Expression Language. Its compiler is made when
// the first condition is met: an installation without rules of its own does not
// pay for it.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// variable is what a condition can name.
type variable struct {
	kind  *cel.Type
	value func(x *call) any
}

// variables are the names that conditions know; docs/policy.md lists them.
var variables = sync.OnceValue(func() map[string]variable {
	list := cel.ListType(cel.StringType)
	tool := variable{cel.StringType, func(x *call) any { return x.act.Tool.Name }}
	class := variable{cel.StringType, func(x *call) any { return x.class() }}
	args := variable{cel.MapType(cel.StringType, cel.DynType), func(x *call) any { return x.arguments() }}
	person := variable{cel.StringType, func(x *call) any { return x.run.Brief.Requester }}
	spend := variable{cel.DoubleType, func(x *call) any { return float64(x.run.Spent.Cost) / float64(agent.Dollar) }}
	return map[string]variable{
		"tool": tool, "class": class, "effect": class, "args": args, "arguments": args, "person": person, "principal": person,
		"spend": spend, "cost": spend,
		"risk":     {cel.StringType, func(x *call) any { return level(x.act) }},
		"path":     {cel.StringType, func(x *call) any { return x.path }},
		"paths":    {list, func(x *call) any { return x.paths() }},
		"host":     {cel.StringType, func(x *call) any { return x.host }},
		"hosts":    {list, func(x *call) any { return x.hosts() }},
		"role":     {cel.StringType, func(x *call) any { return x.role(x.run) }},
		"channel":  {cel.StringType, func(x *call) any { return placeOf(x.run) }},
		"autonomy": {cel.StringType, func(x *call) any { return string(autonomyOf(x.run)) }},
		"tokens":   {cel.IntType, func(x *call) any { return x.run.Spent.Tokens() }},
		"steps":    {cel.IntType, func(x *call) any { return x.run.Spent.Steps() }},
		"taint":    {cel.MapType(cel.StringType, cel.DynType), func(x *call) any { return taintOf(x.act.Taint) }},
		"time":     {cel.TimestampType, func(x *call) any { return x.act.At }},
		"weekday":  {cel.StringType, func(x *call) any { return strings.ToLower(x.local().Weekday().String()) }},
		"hour":     {cel.IntType, func(x *call) any { return int64(x.local().Hour()) }},
	}
})

// local is the time of the call in the zone of the policy's file.
func (x *call) local() time.Time {
	zone, err := time.LoadLocation(x.zone)
	if err != nil { // the file was checked as it was read
		zone = time.UTC
	}
	return x.act.At.In(zone)
}

func taintOf(t agent.Taint) map[string]any {
	from := []string{}
	for _, s := range t.Sources {
		from = append(from, s.From)
	}
	return map[string]any{"untrusted": t.Untrusted, "private": t.Private, "exposed": t.Exposed, "sources": from}
}

// level is how bad a call can turn out.
func level(a agent.Act) string {
	switch a.Class {
	case agent.ClassRead:
		return "none"
	case agent.ClassCreate:
		return "low"
	case agent.ClassWrite:
		return "medium"
	case agent.ClassDelete, agent.ClassSend, agent.ClassCommand:
	}
	return "high"
}

// compiler is the CEL environment of all conditions.
var compiler = sync.OnceValues(func() (*cel.Env, error) {
	var options []cel.EnvOption
	for name, v := range variables() {
		options = append(options, cel.Variable(name, v.kind))
	}
	return cel.NewEnv(options...)
})

// condition is a compiled condition.
type condition struct {
	program  cel.Program
	constant *bool    // what it always comes to, nil: that depends on the call
	paths    bool     // it names path
	hosts    bool     // it names host
	tools    []string // that it is about, where it says so outright
	hints    []hint   // what it asks for outright beside
}

// conditionError is a problem of a condition, with its line in it, from 1.
type conditionError struct {
	line int
	text string
}

func (e *conditionError) Error() string { return e.text }

// compile reads a condition.
func compile(source string) (*condition, error) {
	env, err := compiler()
	if err != nil {
		return nil, fmt.Errorf("CEL cannot be set up: %w", err)
	}
	parsed, issues := env.Compile(source)
	if issues != nil && issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, &conditionError{max(1, first.Location.Line()), explain(first.Message)}
	}
	if out := parsed.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, &conditionError{1, fmt.Sprintf("it comes to a value of type %s, and must come to true or false", out)}
	}
	program, err := env.Program(parsed, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, &conditionError{1, err.Error()}
	}
	c := &condition{program: program}
	idents := map[string]bool{}
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			idents[e.AsIdent()] = true
		}
	}))
	c.paths, c.hosts = idents["path"], idents["host"]
	c.tools, c.hints = toolsOf(parsed.NativeRep().Expr()), hintsOf(parsed.NativeRep().Expr())
	if len(idents) == 0 {
		if out, _, err := program.Eval(cel.NoVars()); err == nil {
			is := out == types.True
			c.constant = &is
		}
	}
	return c, nil
}

// explain names the variable that was probably meant.
func explain(message string) string {
	rest, is := strings.CutPrefix(message, "undeclared reference to '")
	if !is {
		return strings.TrimSpace(message)
	}
	name, _, _ := strings.Cut(rest, "'")
	var known []string
	for v := range variables() {
		known = append(known, v)
	}
	return fmt.Sprintf("unknown name %q %s", name, didYouMean(name, known))
}

// toolsOf are the tools that a condition names outright (`tool == "a" && …`, `tool
// in ["a", "b"]`), nil: it may be about any.
func toolsOf(e ast.Expr) []string {
	if e.Kind() != ast.CallKind {
		return nil
	}
	c := e.AsCall()
	switch c.FunctionName() {
	case operators.LogicalAnd:
		for _, part := range c.Args() {
			if list := toolsOf(part); list != nil {
				return list
			}
		}
	case operators.Equals:
		for i, side := range c.Args() {
			if text, is := literal(c.Args()[1-i]); is && isTool(side) {
				return []string{text}
			}
		}
	case operators.In:
		if list, are := literals(c.Args()[1]); are && isTool(c.Args()[0]) {
			return append([]string{}, list...)
		}
	}
	return nil
}

func isTool(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "tool" }

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, is := e.AsLiteral().Value().(string)
	return s, is
}

// holds reports whether the condition is met. One that names path or host is
// asked for each of the call's: to deny or ask, one is enough, in whatever form
// its name is written; to allow, all must fit as they stand. A condition that
// cannot be worked out (an argument is missing or of another type) allows nothing
// and lets nothing past.
func (c *condition) holds(x *call, effect agent.Verdict) bool {
	cautious := effect != agent.Allow
	paths, hosts := nothing, nothing
	if c.paths {
		if list := x.paths(); len(list) > 0 {
			paths = list
		}
		if cautious && paths[0] != "" {
			paths = x.spellings()
		}
	}
	if c.hosts {
		if list := x.hosts(); len(list) > 0 {
			hosts = list
		}
	}
	for _, h := range c.hints {
		if !h.may(paths, hosts, x) {
			return false
		}
	}
	for _, x.path = range paths {
		for _, x.host = range hosts {
			if met := c.met(x, cautious); met == cautious {
				return met
			}
		}
	}
	return !cautious
}

// nothing stands for the files and hosts of a call that has none.
var nothing = []string{""}

func (c *condition) met(x *call, otherwise bool) bool {
	out, _, err := c.program.Eval(x)
	if err != nil {
		return otherwise
	}
	is, known := out.Value().(bool)
	return known && is || !known && otherwise
}

// ResolveName gives conditions what they name. All but path and host are the
// same for every condition of a file.
func (x *call) ResolveName(name string) (any, bool) {
	if v, known := x.known[name]; known {
		return v, true
	}
	v, is := variables()[name]
	if !is {
		return nil, false
	}
	value := types.DefaultTypeAdapter.NativeToValue(v.value(x))
	if name != "path" && name != "host" {
		if x.known == nil {
			x.known = map[string]ref.Val{}
		}
		x.known[name] = value
	}
	return value, true
}

// Parent is nil: all that conditions name is in the call.
func (x *call) Parent() interpreter.Activation { return nil }

// didYouMean names the known word nearest to an unknown one, or all of them.
func didYouMean(word string, known []string) string {
	slices.Sort(known)
	if near := format.Nearest(word, known, max(1, len(word)/3)); near != "" {
		return fmt.Sprintf("(did you mean %q?)", near)
	}
	return "(known: " + strings.Join(known, ", ") + ")"
}

// errorLine is the line within a condition that its error is about, from 1.
func errorLine(err error) int {
	if e, is := errors.AsType[*conditionError](err); is {
		return e.line
	}
	return 1
}
