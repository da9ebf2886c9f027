package format

import (
	"fmt"
	"strconv"
)

// Thousands writes a number with commas: 12,345.
func Thousands[N ~int | ~int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count is "1 task", "2 tasks", "1,234 tasks".
func Count[N ~int | ~int64](n N, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Thousands(n) + " " + word + "s"
}

// Money is an amount in whole cents: "$1,234.05". It takes billionths of a
// dollar, the unit of agent.Nano. What is less than a cent is "under $0.01",
// as rounded it would be nothing, or more than was spent.
func Money[N ~int64](nanos N) string {
	const cent = 10_000_000
	if 0 < nanos && nanos < cent {
		return "under $0.01"
	}
	cents := (nanos + cent/2) / cent
	return fmt.Sprintf("$%s.%02d", Thousands(cents/100), cents%100)
}
