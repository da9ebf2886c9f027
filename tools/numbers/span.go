package numbers

// Lengths of time as people write them.

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// span is a length of time in the parts that calendars count by.
type span struct {
	years, months, days, business int
	rest                          time.Duration
}

var part = regexp.MustCompile(`([+-]?[0-9]+(?:\.[0-9]+)?)\s*(business days?|working days?|years?|y|months?|mo|weeks?|w|days?|d|hours?|h|minutes?|min|m|seconds?|sec|s)\b`)

// readSpan reads "3 months 2 days", "-90 minutes", "10 business days".
func readSpan(text string) (s span, err error) {
	rest := part.ReplaceAllStringFunc(strings.ToLower(text), func(found string) string {
		m := part.FindStringSubmatch(found)
		n, e := strconv.ParseFloat(m[1], 64)
		if e != nil || n > 1e6 || n < -1e6 {
			err = fmt.Errorf("%s is too long", found)
		}
		if e := s.add(n, m[2]); e != nil {
			err = e
		}
		return ""
	})
	if strings.Trim(rest, " ,and") != "" || strings.TrimSpace(text) == "" {
		return s, fmt.Errorf("%q is no length of time such as 3 months 2 days, -90 minutes or 10 business days", text)
	}
	return s, err
}

func (s *span) add(n float64, word string) error {
	whole := int(n)
	calendar := map[string]*int{"y": &s.years, "b": &s.business}
	switch {
	case strings.HasPrefix(word, "business"), strings.HasPrefix(word, "working"):
		word = "b"
	case strings.HasPrefix(word, "mo"):
		calendar["mo"], word = &s.months, "mo"
	case strings.HasPrefix(word, "y"):
		word = "y"
	case strings.HasPrefix(word, "w"):
		calendar["w"], word, whole, n = &s.days, "w", whole*7, n*7
	case strings.HasPrefix(word, "d"):
		calendar["d"], word = &s.days, "d"
	default:
		s.rest += time.Duration(n * float64(map[byte]time.Duration{'h': time.Hour, 'm': time.Minute, 's': time.Second}[word[0]]))
		return nil
	}
	if n != float64(whole) {
		return fmt.Errorf("%g of calendar units is not a whole number", n)
	}
	*calendar[word] += whole
	return nil
}

// after is the moment so long after another: months end where they end (31 January
// and a month is 28 or 29 February), days follow the clock on the wall.
func (s *span) after(t time.Time) time.Time {
	first := time.Date(t.Year()+s.years, t.Month()+time.Month(s.months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	t = first.AddDate(0, 0, min(t.Day(), last)-1+s.days)
	step := 1
	if s.business < 0 {
		step = -1
	}
	for left := s.business * step; left > 0; {
		if t = t.AddDate(0, 0, step); weekday(t) {
			left--
		}
	}
	return t.Add(s.rest)
}

func weekday(t time.Time) bool { return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday }
