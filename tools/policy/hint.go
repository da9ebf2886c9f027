package policy

// What a condition asks for outright, so that CEL is asked only about calls that it
// may be about: most conditions of a long policy name a channel, a person, a host.

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
)

// hint is a part of a condition that has to hold for the whole to hold: a text is
// one of these, or begins or ends with one.
type hint struct {
	name  string // of the variable
	fits  func(text, with string) bool
	texts []string
}

func equal(text, with string) bool { return text == with }

// hintsOf are the parts of a conjunction that are plain comparisons. In CEL a
// conjunction with a false part is false, whatever goes wrong in the others.
func hintsOf(e ast.Expr) []hint {
	if e.Kind() != ast.CallKind {
		return nil
	}
	c := e.AsCall()
	switch args := c.Args(); c.FunctionName() {
	case operators.LogicalAnd:
		var list []hint
		for _, part := range args {
			list = append(list, hintsOf(part)...)
		}
		return list
	case operators.Equals:
		for i, side := range args {
			if text, is := literal(args[1-i]); is && plainText(side) {
				return []hint{{side.AsIdent(), equal, []string{text}}}
			}
		}
	case operators.In:
		if texts, are := literals(args[1]); are && plainText(args[0]) {
			return []hint{{args[0].AsIdent(), equal, texts}}
		}
	case overloads.StartsWith, overloads.EndsWith:
		return affix(c)
	}
	return nil
}

// affix is what a comparison of a text's beginning or end asks for.
func affix(c ast.CallExpr) []hint {
	args := c.Args()
	if len(args) != 1 || !c.IsMemberFunction() || !plainText(c.Target()) {
		return nil
	}
	fits := strings.HasPrefix
	if c.FunctionName() == overloads.EndsWith {
		fits = strings.HasSuffix
	}
	if text, is := literal(args[0]); is {
		return []hint{{c.Target().AsIdent(), fits, []string{text}}}
	}
	return nil
}

// plainText reports whether an expression is a variable that is a text.
func plainText(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && slices.Contains([]string{"class", "effect", "risk", "path", "host", "person", "principal", "role", "channel", "autonomy", "weekday"}, e.AsIdent())
}

// literals are the texts of a list of nothing else.
func literals(e ast.Expr) (texts []string, are bool) {
	if e.Kind() != ast.ListKind {
		return nil, false
	}
	for _, part := range e.AsList().Elements() {
		text, is := literal(part)
		if !is {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

// may reports whether the hint holds for any of the values that its variable has.
func (h hint) may(paths, hosts []string, x *call) bool {
	switch h.name {
	case "path":
		return h.any(paths)
	case "host":
		return h.any(hosts)
	}
	return h.holds(x.word(h.name))
}

func (h hint) any(values []string) bool { return slices.ContainsFunc(values, h.holds) }

func (h hint) holds(text string) bool {
	return slices.ContainsFunc(h.texts, func(with string) bool { return h.fits(text, with) })
}

// word is the value of a variable that is a text and the same for every condition
// of a file.
func (x *call) word(name string) string {
	if text, known := x.words[name]; known {
		return text
	}
	text, _ := variables()[name].value(x).(string)
	if x.words == nil {
		x.words = make(map[string]string, 4)
	}
	x.words[name] = text
	return text
}
