package agent

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Nano is an amount of money in billionths of a US dollar. As JSON it is a
// decimal number of dollars, exact to the last digit.
type Nano int64

// Dollar is one US dollar.
const Dollar Nano = 1_000_000_000

// String returns dollars with as many decimals as the amount has, at least
// two: "0.05", "12.000001".
func (n Nano) String() string {
	sign, amount := "", uint64(n)
	if n < 0 {
		sign, amount = "-", -amount // also right for the smallest number, which has no opposite
	}
	frac := strings.TrimRight(fmt.Sprintf("%09d", amount%uint64(Dollar)), "0")
	for len(frac) < 2 {
		frac += "0"
	}
	return sign + strconv.FormatUint(amount/uint64(Dollar), 10) + "." + frac
}

// MarshalJSON writes dollars as a JSON number.
func (n Nano) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalJSON reads dollars as a JSON number.
func (n *Nano) UnmarshalJSON(b []byte) error {
	v, err := ParseDollars(string(b))
	if err != nil {
		return err
	}
	*n = v
	return nil
}

// ParseDollars reads a decimal number of dollars, for example "1.25" or
// "1e-06". Digits below a billionth are rounded to the nearest.
func ParseDollars(s string) (Nano, error) {
	s = strings.TrimSpace(s)
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(f):
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	case math.Abs(f) > 1e9:
		return 0, fmt.Errorf("%q is too large an amount: at most a billion dollars", s)
	case math.Abs(f) < 1e-10: // also keeps big.Rat away from absurd exponents
		return 0, nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(Dollar)))
	v, err := strconv.ParseInt(r.FloatString(0), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	}
	return Nano(v), nil
}
