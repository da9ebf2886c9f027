package file

// File patterns.

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ErrPattern is returned for a glob or a regular expression that cannot be read.
var ErrPattern = errors.New("this pattern cannot be used")

// glob is a compiled file pattern. It is a regular expression, because these
// take a time that grows with the path alone: patterns come from a model, and
// doublestar goes through the alternatives of {a,b}{c,d} one by one (22 pairs of
// braces take 2 s for one path).
type glob struct {
	re    *regexp.Regexp
	whole bool // compared with the path instead of the name
}

// compileGlob reads a pattern: * and ? within a name, ** over folders,
// [a-z] or [!a-z], {go,mod}. With a slash it is compared with the path, else
// with the name. Empty matches everything.
func compileGlob(pattern string) (glob, error) {
	if pattern == "" {
		return glob{}, nil
	}
	if len(pattern) > 1000 {
		return glob{}, fmt.Errorf("%w: the glob is longer than 1000 characters", ErrPattern)
	}
	p := norm.NFC.String(strings.TrimPrefix(pattern, "./"))
	text, err := translate(p)
	if err != nil {
		return glob{}, fmt.Errorf("%w: glob %q: %w", ErrPattern, pattern, err)
	}
	re, err := regexp.Compile(`^(?s:` + text + `)$`)
	if err != nil {
		return glob{}, fmt.Errorf("%w: glob %q: use *, ?, [a-z], {a,b} and **", ErrPattern, pattern)
	}
	return glob{re, strings.Contains(p, "/")}, nil
}

func (g glob) match(p string) bool {
	if g.re == nil {
		return true
	}
	p = norm.NFC.String(p) // é is written in two ways, and looks the same
	if g.whole {
		return g.re.MatchString(p)
	}
	return g.re.MatchString(path.Base(p))
}

// translate turns a glob into the text of a regular expression.
func translate(p string) (string, error) {
	var b strings.Builder
	open := 0
	for i := 0; i < len(p); i++ {
		rest := p[i:]
		if sign, expression := wildcard(rest); sign != "" {
			b.WriteString(expression)
			i += len(sign) - 1
			continue
		}
		switch c := p[i]; {
		case c == '[':
			end := strings.IndexByte(rest[1:], ']')
			if end < 1 {
				return "", errors.New("a [ is not closed")
			}
			b.WriteString(charClass(rest[1 : end+1]))
			i += end + 1
		case c == '{':
			b.WriteString(`(?:`)
			open++
		case c == '}' && open > 0:
			b.WriteString(`)`)
			open--
		case c == ',' && open > 0:
			b.WriteString(`|`)
		case c == '\\' && i+1 < len(p):
			i++
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		default:
			b.WriteString(quoteByte(c))
		}
	}
	if open > 0 {
		return "", errors.New("a { is not closed")
	}
	return b.String(), nil
}

// wildcard is the sign that a glob goes on with and what it stands for, empty
// where it goes on with something else.
func wildcard(p string) (sign, expression string) {
	for _, w := range [...]struct{ sign, expression string }{{"**/", `(?:.*/)?`}, {"**", `.*`}, {"*", `[^/]*`}, {"?", `[^/]`}} {
		if strings.HasPrefix(p, w.sign) {
			return w.sign, w.expression
		}
	}
	return "", ""
}

// quoteByte keeps the bytes of a character of several bytes together as they are.
func quoteByte(c byte) string {
	if c >= 0x80 {
		return string([]byte{c})
	}
	return regexp.QuoteMeta(string(rune(c)))
}

func charClass(inside string) string {
	not := ""
	if inside[0] == '!' || inside[0] == '^' {
		not, inside = "^", inside[1:]
	}
	r := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`, `&`, `\&`)
	return `[` + not + r.Replace(inside) + `]`
}
