package agent

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
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

// Limits bounds what a run may spend. Zero is no limit. Time counts only while
// something executes; hours spent waiting for a person do not count.
type Limits struct {
	USD    Nano          `json:"usd,omitempty"`
	Tokens int64         `json:"tokens,omitempty"`
	Time   time.Duration `json:"time,omitempty"` // nanoseconds
	Steps  int64         `json:"steps,omitempty"`
}

// raised are the limits with so many percent more of each budget.
func (l Limits) raised(percent map[string]int) Limits {
	l.USD += l.USD * Nano(percent[BudgetUSD]) / 100
	l.Tokens += l.Tokens * int64(percent[BudgetTokens]) / 100
	l.Time += l.Time * time.Duration(percent[BudgetTime]) / 100
	l.Steps += l.Steps * int64(percent[BudgetSteps]) / 100
	return l
}

// Budget is what a run has spent, and what people added to its limits.
type Budget struct {
	Raised  map[string]int `json:"raised,omitempty"` // budget → percent added by people
	Notices map[string]int `json:"notices,omitempty"`
	Spent   Spent          `json:"spent"`
}

// Spent is what a run has used. Lost reservations are included.
type Spent struct {
	Cost       Nano          `json:"cost"`
	Unpriced   bool          `json:"unpriced,omitempty"` // a call had no known price
	Prompt     int           `json:"prompt"`
	Completion int           `json:"completion"`
	Calls      int           `json:"calls"`
	Free       int           `json:"free,omitempty"` // of the calls: those that are no step, as they are made again
	Tools      int           `json:"tools"`
	Time       time.Duration `json:"time"` // while executing, all strands together
}

// Tokens is prompt and completion together.
func (s Spent) Tokens() int64 { return int64(s.Prompt) + int64(s.Completion) }

// Steps counts the calls that are steps of the run's budget.
func (s Spent) Steps() int64 { return int64(s.Calls - s.Free) }

// Dollars is the cost, nil where a call had no known price.
func (s Spent) Dollars() *Nano {
	if s.Unpriced {
		return nil
	}
	return &s.Cost
}

// settle adds what a model call cost.
func (s Spent) settle(b ModelAnswered) Spent {
	s.Calls++
	if b.Free() {
		s.Free++
	}
	s.Prompt += b.Prompt
	s.Completion += b.Completion
	s.Time += b.Took
	if b.Cost == nil {
		s.Unpriced = true
	} else {
		s.Cost += *b.Cost
	}
	return s
}
