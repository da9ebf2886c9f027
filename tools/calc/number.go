package calc

// Decimals that know whether they were rounded.

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// ErrRange is returned where a value is beyond what is calculated.
var ErrRange = errors.New("the result is out of range")

// ErrUndefined is returned where mathematics gives no (real) value.
var ErrUndefined = errors.New("there is no such value")

// Numbers go to 10^±limit. Sums, products and quotients are exact up to
// exactDigits, which is enough for every sum within that range; roots,
// logarithms and powers are calculated to roughDigits; a rounded value is
// shown with shownDigits, the precision of decimal128 (IEEE 754-2008), and
// compared with whole numbers with settledDigits.
const (
	limit         = 1000
	exactDigits   = 2*limit + 100
	roughDigits   = 100
	settledDigits = 60
	shownDigits   = 34
)

// number is a decimal that knows whether it was rounded on the way.
type number struct {
	d     *apd.Decimal
	rough bool
}

func digits(n uint32) *apd.Context {
	return &apd.Context{
		Precision: n, MaxExponent: limit, MinExponent: -limit, Rounding: apd.RoundHalfUp,
		Traps: apd.Overflow | apd.Underflow | apd.Subnormal | apd.DivisionByZero | apd.DivisionUndefined | apd.DivisionImpossible | apd.InvalidOperation | apd.SystemOverflow | apd.SystemUnderflow,
	}
}

// operation is a method of apd.Context with one or two operands.
type operation func(c *apd.Context, d *apd.Decimal) (apd.Condition, error)

// calculate runs an operation to a number of digits; rough says whether an
// operand was rounded already.
func calculate(n uint32, rough bool, op operation) (number, error) {
	d := new(apd.Decimal)
	cond, err := op(digits(n), d)
	switch {
	case cond.DivisionByZero() || cond.DivisionUndefined():
		return number{}, fmt.Errorf("%w: division by zero", ErrUndefined)
	case cond.Overflow() || cond.SystemOverflow():
		return number{}, fmt.Errorf("%w: it is beyond 10^%d", ErrRange, limit)
	case cond.Underflow() || cond.Subnormal() || cond.SystemUnderflow():
		return number{}, fmt.Errorf("%w: it is nearer to zero than 10^-%d", ErrRange, limit)
	case cond.InvalidOperation() || cond.DivisionImpossible():
		return number{}, fmt.Errorf("%w: the operation is not defined for this value", ErrUndefined)
	case err != nil:
		return number{}, fmt.Errorf("%w: %w", ErrRange, err)
	case d.Form != apd.Finite:
		return number{}, fmt.Errorf("%w: the operation gives no finite value", ErrUndefined)
	}
	return number{d, rough || cond.Inexact()}, nil
}

func binary(op byte, x, y number) (number, error) {
	rough := x.rough || y.rough
	switch op {
	case '+':
		return calculate(exactDigits, rough, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Add(d, x.d, y.d) })
	case '-':
		return calculate(exactDigits, rough, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Sub(d, x.d, y.d) })
	case '*':
		return calculate(exactDigits, rough, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Mul(d, x.d, y.d) })
	case '/':
		return calculate(exactDigits, rough, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Quo(d, x.d, y.d) })
	case '%':
		if y.d.IsZero() {
			return number{}, fmt.Errorf("%w: remainder of a division by zero", ErrUndefined)
		}
		x, y = x.settled(), y.settled()
		return calculate(exactDigits, rough, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Rem(d, x.d, y.d) })
	}
	return power(x, y)
}

// settled is a rounded number without its last digits, so that 1/3*3 is not
// taken for a number below 1.
func (x number) settled() number {
	if !x.rough {
		return x
	}
	y, err := calculate(settledDigits, true, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Round(d, x.d) })
	if err != nil {
		return x
	}
	return y
}

// whole is the number as an int where it is one of at most nine digits.
func (x number) whole() (int64, bool) {
	d := new(apd.Decimal)
	d.Reduce(x.settled().d)
	if d.Exponent < 0 || d.NumDigits()+int64(d.Exponent) > 9 {
		return 0, false
	}
	n, err := d.Int64()
	return n, err == nil
}

// power is x^y. Whole exponents are exact as far as the digits go.
func power(x, y number) (number, error) {
	if x.d.IsZero() && y.d.Sign() <= 0 {
		if y.d.IsZero() {
			return number{d: apd.New(1, 0)}, nil // as in IEEE 754 and most languages
		}
		return number{}, fmt.Errorf("%w: zero to a negative power is a division by zero", ErrUndefined)
	}
	if x.d.IsZero() {
		return number{d: apd.New(0, 0), rough: x.rough}, nil
	}
	exponent := approx(y.d)
	if math.Abs(log10(x.d)*exponent) > limit+1 {
		return number{}, fmt.Errorf("%w: this power is beyond 10^±%d", ErrRange, limit)
	}
	rough := x.rough || y.rough
	n, ok := y.whole()
	if !ok {
		if x.d.Negative {
			return number{}, fmt.Errorf("%w: a negative number to a power that is not whole (or has more than nine digits)", ErrUndefined)
		}
		return realPower(x, y)
	}
	out, err := wholePower(x, n)
	out.rough = out.rough || rough
	return out, err
}

// wholePower squares and multiplies.
func wholePower(x number, n int64) (number, error) {
	out, base := number{d: apd.New(1, 0)}, x
	var err error
	for k := max(n, -n); ; {
		if k&1 == 1 {
			if out, err = binary('*', out, base); err != nil {
				return number{}, err
			}
		}
		if k >>= 1; k == 0 {
			break
		}
		if base, err = binary('*', base, base); err != nil {
			return number{}, err
		}
	}
	if n < 0 {
		return binary('/', number{d: apd.New(1, 0)}, out)
	}
	return out, nil
}

// realPower is exp(y ln x), exact where y is a half and the root is.
func realPower(x, y number) (number, error) {
	if y.d.Cmp(apd.New(5, -1)) == 0 {
		return root(x)
	}
	l, err := logarithm(x)
	if err != nil {
		return number{}, err
	}
	p, err := binary('*', y, l)
	if err != nil {
		return number{}, err
	}
	out, err := exponential(p)
	out.rough = true
	return out, err
}

// shortened is the number with as many digits as rough operations have.
func (x number) shortened() number {
	if x.d.NumDigits() <= roughDigits {
		return x
	}
	y, err := calculate(roughDigits, true, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Round(d, x.d) })
	if err != nil {
		return x
	}
	return y
}

// approx is the nearest float64, infinite where it is too large.
func approx(d *apd.Decimal) float64 {
	f, err := d.Float64()
	if err != nil {
		return math.Inf(d.Sign())
	}
	return f
}

// log10 is the approximate decimal logarithm of the magnitude, for numbers
// that float64 cannot hold as well.
func log10(d *apd.Decimal) float64 {
	shift := d.NumDigits() - 1 + int64(d.Exponent)
	m := new(apd.Decimal).Abs(d)
	m.Exponent -= int32(shift) // within ±limit plus the digits
	return math.Log10(approx(m)) + float64(shift)
}

// String is the number in plain digits; a rounded one says so.
func (x number) String() string {
	if !x.rough {
		return plain(x.d)
	}
	d := new(apd.Decimal)
	if _, err := digits(shownDigits).Round(d, x.d); err != nil {
		d = x.d
	}
	return fmt.Sprintf("%s (rounded to %d digits)", plain(d), shownDigits)
}

func plain(x *apd.Decimal) string {
	d, _ := new(apd.Decimal).Reduce(x)
	if d.IsZero() {
		return "0"
	}
	if size := d.NumDigits() + int64(d.Exponent); d.NumDigits() <= shownDigits && (size > 3*shownDigits || size < -shownDigits) {
		return strings.ToLower(d.Text('E'))
	}
	return d.Text('f')
}
