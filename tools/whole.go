package tools

// Integers as JSON Schema knows them.

import (
	"encoding/json"
	"fmt"
	"math"
)

// Whole is an integer as JSON Schema knows it: 5, 5.0 and 5e0 are the same
// number. Values beyond ±2^53 are refused, for they may have been rounded.
type Whole int

// UnmarshalJSON reads a JSON number without a fractional part.
func (w *Whole) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("a whole number is needed, got %s", b)
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("a whole number within ±2^53 is needed, got %s", b)
	}
	*w = Whole(f)
	return nil
}
