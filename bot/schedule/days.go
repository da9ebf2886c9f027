package schedule

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Days in words: weekdays, and dates of a month.

// dayNames steps over names of weekdays: "mon,wed", "Monday and Friday",
// "mon-fri", "monday to friday".
func (r *reader) dayNames() (names []int) {
	item := func() bool {
		from, to, isRange := strings.Cut(r.peek(0), "-")
		first := dayOf(from)
		last := first
		if isRange {
			last = dayOf(to)
		}
		if first < 0 || last < 0 {
			return false
		}
		r.i++
		if until := dayOf(r.peek(1)); !isRange && until >= 0 && r.accept("to", "through", "until", "-", "–") {
			last = until
			r.i++
		}
		for d := first; ; d = (d + 1) % 7 {
			names = append(names, d)
			if d == last {
				return true
			}
		}
	}
	if item() {
		for r.another(item) {
			continue
		}
	}
	return names
}

// dayOf is the number of the weekday, -1 if the word is none.
func dayOf(word string) int {
	word = strings.TrimSuffix(word, ".")
	if len(word) < 3 {
		return -1
	}
	for i, name := range weekdays {
		name = strings.ToLower(name)
		if word == name || word == name+"s" || word == name[:3] || (len(word) < len(name) && word == name[:min(len(word), 5)] && i >= 2 && i <= 4) {
			return i
		}
	}
	return -1
}

// onWeekdays are the days with these names.
func onWeekdays(names []int) days {
	slices.SortFunc(names, func(a, b int) int { return (a+6)%7 - (b+6)%7 })
	names = slices.Compact(names)
	var words, numbers []string
	for _, n := range names {
		words, numbers = append(words, weekdays[n]), append(numbers, strconv.Itoa(n))
	}
	switch strings.Join(numbers, ",") {
	case "1,2,3,4,5":
		return days{"every weekday", "*", "1-5"}
	case "1,2,3,4,5,6,0":
		return days{"every day", "*", "*"}
	}
	return days{"every " + format.List(words, "and"), "*", strings.Join(numbers, ",")}
}

// dates steps over days of the month: "1st", "1st and 15th", "last day".
func (r *reader) dates() (doms []string) {
	item := func() bool {
		word := r.peek(0)
		if r.counted() {
			return false
		}
		if m := ordinal.FindStringSubmatch(word); m != nil {
			n, _ := strconv.Atoi(m[1]) // two digits
			if n < 1 || n > 31 {
				return false
			}
			doms = append(doms, ordinalOf(n))
		} else if (word == "last" || word == "first") && (r.peek(1) == "day" || r.peek(1) == "of") {
			doms = append(doms, map[string]string{"last": "last day", "first": "1st"}[word])
		} else {
			return false
		}
		r.i++
		r.accept("day")
		return true
	}
	if item() {
		for r.another(item) {
			continue
		}
	}
	return doms
}

// onDates are these days of each month.
func onDates(doms []string) days {
	key := func(d string) int {
		if n, err := strconv.Atoi(strings.TrimRight(d, "stndrh")); err == nil {
			return n
		}
		return 32 // the last day
	}
	slices.SortFunc(doms, func(a, b string) int { return key(a) - key(b) })
	doms = slices.Compact(doms)
	var numbers []string
	for _, d := range doms {
		n := strconv.Itoa(key(d))
		if n == "32" {
			n = "L"
		}
		numbers = append(numbers, n)
	}
	return days{"on the " + format.List(doms, "and") + " of every month", strings.Join(numbers, ","), "*"}
}

func ordinalOf(n int) string {
	end := "th"
	if n/10 != 1 && n%10 >= 1 && n%10 <= 3 {
		end = []string{"st", "nd", "rd"}[n%10-1]
	}
	return strconv.Itoa(n) + end
}
