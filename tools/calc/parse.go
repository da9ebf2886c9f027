package calc

// The parser, which evaluates while it reads.

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
)

// ErrSyntax is returned where an expression cannot be read.
var ErrSyntax = errors.New("the expression cannot be read")

// deepest bounds how far parentheses and signs may be nested.
const deepest = 200

var (
	numberText = regexp.MustCompile(`^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?`)
	nameText   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*`)
	// writings of the same operators.
	writings = strings.NewReplacer("**", "^", "×", "*", "·", "*", "÷", "/", "−", "-")
)

// The binding powers of operators; ^ binds to the right and tighter than a
// sign before it, so -2^2 is -4.
const (
	bindSum     = 10
	bindProduct = 20
	bindSign    = 30
	bindPower   = 40
	bindPostfix = 50
)

// Evaluate calculates an expression. The result is in plain digits; where it
// is not exact it is rounded to 34 digits and says so. Errors wrap ErrSyntax,
// ErrRange or ErrUndefined.
func Evaluate(ctx context.Context, expression string) (string, error) {
	if len(expression) > longestExpression {
		return "", fmt.Errorf("%w: it is longer than %d characters; calculate in steps or use run_code", ErrSyntax, longestExpression)
	}
	if !utf8.ValidString(expression) {
		return "", fmt.Errorf("%w: it is not UTF-8", ErrSyntax)
	}
	p := &parser{text: writings.Replace(expression), ended: ctx.Err}
	x, err := p.expression(0, 0)
	if err != nil {
		return "", err
	}
	if p.skip(); p.rest() != "" {
		return "", p.unexpected()
	}
	return x.String(), nil
}

// parser is a Pratt parser that evaluates while it reads.
type parser struct {
	text  string
	at    int
	lists int // open argument lists, in which a comma separates values
	ended func() error
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) skip() {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t\r\n"))
}

// next is the next character that is not space, 0 at the end.
func (p *parser) next() byte {
	p.skip()
	if p.rest() == "" {
		return 0
	}
	return p.text[p.at]
}

// expression reads operators that bind tighter than bind.
func (p *parser) expression(bind, depth int) (number, error) {
	if depth > deepest {
		return number{}, fmt.Errorf("%w: it is nested deeper than %d levels", ErrSyntax, deepest)
	}
	if err := p.ended(); err != nil {
		return number{}, fmt.Errorf("the calculation was stopped: %w", err)
	}
	x, err := p.prefix(depth)
	for err == nil {
		op := p.next()
		left, right := binding(op)
		if left <= bind {
			return x, nil
		}
		p.at++
		if op == '!' {
			x, err = factorial(x)
			continue
		}
		if op == '%' && strings.IndexByte("\x00)+-*/,]", p.next()) >= 0 {
			return number{}, fmt.Errorf("%w: %% is the remainder of a division; for per cent write / 100", ErrSyntax)
		}
		var y number
		if y, err = p.expression(right, depth+1); err == nil {
			x, err = binary(op, x, y)
		}
	}
	return number{}, err
}

// binding is how tight an operator binds to its left and right; 0: none.
func binding(op byte) (left, right int) {
	switch op {
	case '+', '-':
		return bindSum, bindSum
	case '*', '/', '%':
		return bindProduct, bindProduct
	case '^':
		return bindPower, bindSign - 1 // to the right, and 2^-1 is allowed
	case '!':
		return bindPostfix, 0
	}
	return 0, 0
}

// prefix reads a sign, a number, a name or what is in parentheses.
func (p *parser) prefix(depth int) (number, error) {
	switch p.next() {
	case '-':
		p.at++
		x, err := p.expression(bindSign, depth+1)
		if err != nil {
			return number{}, err
		}
		return number{new(apd.Decimal).Neg(x.d), x.rough}, nil
	case '+':
		p.at++
		return p.expression(bindSign, depth+1)
	case '(':
		p.at++
		lists := p.lists
		p.lists = 0
		x, err := p.expression(0, depth+1)
		if err == nil {
			err = p.expect(')')
		}
		p.lists = lists
		return x, err
	}
	if n := numberText.FindString(p.rest()); n != "" {
		return p.number(n)
	}
	if n := nameText.FindString(p.rest()); n != "" {
		p.at += len(n)
		return p.name(strings.ToLower(n), depth)
	}
	return number{}, p.unexpected()
}

func (p *parser) number(text string) (number, error) {
	p.at += len(text)
	if len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' {
		return number{}, fmt.Errorf("%w: %s starts with a zero; leave it out, and write numbers without thousands separators", ErrSyntax, text)
	}
	if r := p.rest(); r != "" && (r[0] == '_' || r[0] == '\'') {
		return number{}, fmt.Errorf("%w: write numbers without separators between the digits (after %s)", ErrSyntax, text)
	}
	return calculate(exactDigits, false, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) {
		_, cond, err := c.SetString(d, text)
		return cond, err
	})
}

// name reads a constant or a function with its values.
func (p *parser) name(name string, depth int) (number, error) {
	if p.next() != '(' {
		if x, ok := constant(name); ok {
			return x, nil
		}
		return number{}, fmt.Errorf("%w: %q is not known, there are %s", ErrSyntax, name, names)
	}
	p.at++
	p.lists++
	var args []number
	if p.next() != ')' {
		var err error
		if args, err = p.values(nil, depth); err != nil {
			return number{}, err
		}
	}
	p.lists--
	if err := p.expect(')'); err != nil {
		return number{}, err
	}
	return call(name, args)
}

// values reads values separated by commas; lists in brackets are taken apart,
// so that a list from an earlier result can be pasted in.
func (p *parser) values(args []number, depth int) ([]number, error) {
	if depth > deepest {
		return nil, fmt.Errorf("%w: it is nested deeper than %d levels", ErrSyntax, deepest)
	}
	for {
		if p.next() == '[' {
			p.at++
			var err error
			if args, err = p.values(args, depth+1); err != nil {
				return nil, err
			}
			if err := p.expect(']'); err != nil {
				return nil, err
			}
		} else {
			x, err := p.expression(0, depth+1)
			if err != nil {
				return nil, err
			}
			args = append(args, x)
		}
		if p.next() != ',' {
			return args, nil
		}
		p.at++
	}
}

func (p *parser) expect(c byte) error {
	switch p.next() {
	case c:
		p.at++
		return nil
	case 0:
		return fmt.Errorf("%w: a %c is missing at its end", ErrSyntax, c)
	}
	return p.unexpected()
}

// unexpected says what stands where it should not.
func (p *parser) unexpected() error {
	c := p.next()
	before := strings.TrimSpace(p.text[:p.at])
	switch {
	case c == 0 && before == "":
		return fmt.Errorf("%w: it is empty", ErrSyntax)
	case c == 0:
		return fmt.Errorf("%w: something is missing at its end", ErrSyntax)
	case c == ',' && p.lists == 0:
		return fmt.Errorf("%w: a comma stands at character %d; write numbers without thousands separators and with a point before the decimals: 1234.5", ErrSyntax, p.column())
	case numberText.MatchString(p.rest()) && before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9':
		return fmt.Errorf("%w: an operator is missing before character %d; numbers have no spaces in them", ErrSyntax, p.column())
	case nameText.MatchString(p.rest()) || c == '(' || numberText.MatchString(p.rest()):
		return fmt.Errorf("%w: an operator is missing before character %d (write 2*pi, not 2pi)", ErrSyntax, p.column())
	}
	r, _ := utf8.DecodeRuneInString(p.rest())
	return fmt.Errorf("%w: %q is not expected at character %d", ErrSyntax, r, p.column())
}

// column counts characters from 1.
func (p *parser) column() int { return utf8.RuneCountInString(p.text[:p.at]) + 1 }
