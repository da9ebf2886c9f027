package calc

// The functions and constants of an expression.

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/apd/v3"
)

// The constants to 110 digits.
const (
	piText = "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679821480865"
	eText  = "2.7182818284590452353602874713526624977572470936999595749669676277240766303535475945713821785251664274274663919"
)

// largestFactorial is the largest n whose factorial is below 10^limit.
const largestFactorial = 449

// names are the functions, for errors; constants are tried first.
const names = "sqrt, abs, round, floor, ceil, ln, log10, exp, min, max, sum, avg, pi and e"

func constant(name string) (number, bool) {
	text := map[string]string{"pi": piText, "e": eText}[name]
	if text == "" {
		return number{}, false
	}
	d, _, err := apd.NewFromString(text)
	return number{d, true}, err == nil
}

// call applies a function to its values.
func call(name string, args []number) (number, error) {
	switch name {
	case "min", "max", "sum", "avg":
		if len(args) == 0 {
			return number{}, fmt.Errorf("%w: %s needs at least one value", ErrSyntax, name)
		}
		return fold(name, args)
	case "round":
		if len(args) != 1 && len(args) != 2 {
			return number{}, fmt.Errorf("%w: round needs a value and perhaps a number of places: round(x, 2)", ErrSyntax)
		}
		return round(args)
	case "sqrt", "abs", "floor", "ceil", "ln", "log10", "exp":
		if len(args) != 1 {
			return number{}, fmt.Errorf("%w: %s needs one value, got %d", ErrSyntax, name, len(args))
		}
		return single(name, args[0])
	}
	return number{}, fmt.Errorf("%w: there is no function %q, there are %s", ErrSyntax, name, names)
}

func single(name string, x number) (number, error) {
	switch name {
	case "abs":
		return number{new(apd.Decimal).Abs(x.d), x.rough}, nil
	case "floor", "ceil":
		settled := x.settled()
		return calculate(exactDigits, false, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) {
			if name == "floor" {
				return c.Floor(d, settled.d)
			}
			return c.Ceil(d, settled.d)
		})
	case "sqrt":
		return root(x)
	case "exp":
		return exponential(x)
	}
	if x.d.Sign() <= 0 {
		return number{}, fmt.Errorf("%w: %s needs a positive value", ErrUndefined, name)
	}
	if d, _ := new(apd.Decimal).Reduce(x.d); name == "log10" && !x.rough && d.Coeff.IsUint64() && d.Coeff.Uint64() == 1 {
		return number{d: apd.New(int64(d.Exponent), 0)}, nil
	}
	if name == "ln" {
		return logarithm(x)
	}
	y, err := logarithm(x)
	if err != nil {
		return number{}, err
	}
	ten, err := logarithm(number{d: apd.New(10, 0)})
	if err != nil {
		return number{}, err
	}
	return binary('/', y, ten)
}

// logarithm is the natural logarithm of a positive number. The library's own
// does not end for numbers with many digits near 1: there the first terms of
// ln(1+u) = u - u^2/2 + u^3/3 - … are more exact than what is shown, and
// elsewhere the operand needs no more digits than the result.
func logarithm(x number) (number, error) {
	one := number{d: apd.New(1, 0)}
	u, err := binary('-', x, one)
	if err != nil {
		return number{}, err
	}
	if u.d.IsZero() {
		return number{apd.New(0, 0), x.rough}, nil
	}
	if log10(u.d) < -shownDigits {
		// u*(1 - u*(1/2 - u/3)); the inner terms may lie below the smallest number.
		if log10(u.d) < -2*shownDigits {
			u.rough = true
			return u, nil
		}
		third, e1 := binary('/', u, number{d: apd.New(3, 0)})
		half, e2 := binary('-', number{d: apd.New(5, -1)}, third)
		inner, e3 := binary('*', u, half)
		factor, e4 := binary('-', one, inner)
		if err := errors.Join(e1, e2, e3, e4); err != nil {
			return number{}, err
		}
		y, err := binary('*', u, factor)
		y.rough = true
		return y, err
	}
	short := x.shortened()
	return calculate(roughDigits, true, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Ln(d, short.d) })
}

// root is exact where its square gives the value back.
func root(x number) (number, error) {
	if x.d.Negative && !x.d.IsZero() {
		return number{}, fmt.Errorf("%w: the square root of a negative number is not real", ErrUndefined)
	}
	y, err := calculate(limit, x.rough, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Sqrt(d, x.d) })
	if err != nil || x.rough {
		return y, err
	}
	square, err := binary('*', y, y)
	if err != nil {
		return y, err
	}
	y.rough = square.d.Cmp(x.d) != 0
	return y, nil
}

func exponential(x number) (number, error) {
	if x.d.IsZero() {
		return number{apd.New(1, 0), x.rough}, nil
	}
	if f := approx(x.d); f > 2.31*limit || f < -2.31*limit { // ln 10 is 2.302…
		return number{}, fmt.Errorf("%w: exp of this value is beyond 10^±%d", ErrRange, limit)
	}
	short := x.shortened()
	return calculate(roughDigits, true, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Exp(d, short.d) })
}

// round rounds half away from zero, as taught at school.
func round(args []number) (number, error) {
	places := int64(0)
	if len(args) == 2 {
		var ok bool
		if places, ok = args[1].whole(); !ok || places > limit || places < -limit {
			return number{}, fmt.Errorf("%w: the places of round must be a whole number between -%d and %d", ErrSyntax, limit, limit)
		}
	}
	x := args[0].settled()
	return calculate(exactDigits, false, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) {
		// Rounding is what was asked for, so it is not said to be rounded.
		cond, err := c.Quantize(d, x.d, int32(-places))
		return cond &^ (apd.Inexact | apd.Rounded), err
	})
}

func fold(name string, args []number) (number, error) {
	out := args[0]
	for _, x := range args[1:] {
		switch {
		case name == "min" && x.d.Cmp(out.d) < 0, name == "max" && x.d.Cmp(out.d) > 0:
			out = x
		case name == "sum" || name == "avg":
			var err error
			if out, err = binary('+', out, x); err != nil {
				return number{}, err
			}
		}
	}
	if name == "avg" {
		return binary('/', out, number{d: apd.New(int64(len(args)), 0)})
	}
	return out, nil
}

func factorial(x number) (number, error) {
	n, ok := x.whole()
	if !ok || n < 0 || n > largestFactorial {
		return number{}, fmt.Errorf("%w: a factorial needs a whole number from 0 to %d", ErrRange, largestFactorial)
	}
	out := number{d: apd.New(1, 0), rough: x.rough}
	for k := int64(2); k <= n; k++ {
		var err error
		if out, err = binary('*', out, number{d: apd.New(k, 0)}); err != nil {
			return number{}, err
		}
	}
	return out, nil
}
