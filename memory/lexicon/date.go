package lexicon

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Days and months are words of their own, so that "7 May 2023" and "2023-05-07"
// are one, and the month is none of the word "may":
//
//	@2023-05-07  a day      @2023-05  a month of a year
//	@05          a month    @2023     a year
//	@sunday      a day of the week
const dateLayout = "@2006-01-02"

// The spellings of dates in texts.
var (
	isoDate  = regexp.MustCompile(`\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b`)
	dayFirst = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+` + monthNames + `\b\.?,?(?:\s+((?:19|20)\d\d))?`)
	dayLast  = regexp.MustCompile(`(?i)\b` + monthNames + `\b\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?\b)?,?(?:\s+((?:19|20)\d\d))?`)
	yearOnly = regexp.MustCompile(`\b((?:19|20)\d\d)\b`)
	relative = regexp.MustCompile(`(?i)\b(today|tonight|this morning|yesterday|last night|tomorrow|day before yesterday|` +
		`(?:last|this|next|past|previous) (?:week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|` +
		`(?:on )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|` +
		`(?:a|one|two|three|four|five|six|\d{1,2}) (?:day|week|month|year)s? ago|a few (?:day|week|month|year)s ago)\b`)
)

const monthNames = `(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)`

// monthsByName is a month by the first three letters of its name.
const monthsByName = "janfebmaraprmayjunjulaugsepoctnovdec"

// Date is a day, a month or a year that a text names; what it does not name is 0.
type Date struct{ Year, Month, Day int }

// Dates are the dates that stand in a text.
func Dates(text string) []Date {
	if !strings.ContainsAny(text, "0123456789") && !mayNameMonth(text) {
		return nil
	}
	var list []Date
	rest := text
	take := func(re *regexp.Regexp, read func(m []string) (Date, bool)) {
		rest = re.ReplaceAllStringFunc(rest, func(found string) string {
			d, is := read(re.FindStringSubmatch(found))
			if !is {
				return found
			}
			list = append(list, d)
			return " "
		})
	}
	take(isoDate, func(m []string) (Date, bool) { return valid(Date{number(m[1]), number(m[2]), number(m[3])}) })
	take(dayFirst, func(m []string) (Date, bool) { return valid(Date{number(m[3]), month(m[2]), number(m[1])}) })
	take(dayLast, func(m []string) (Date, bool) {
		if m[2] == "" && m[3] == "" && ambiguous(m[1]) {
			return Date{}, false
		}
		return valid(Date{number(m[3]), month(m[1]), number(m[2])})
	})
	take(yearOnly, func(m []string) (Date, bool) { return valid(Date{Year: number(m[1])}) })
	return list
}

// mayNameMonth reports whether a month can stand in a text without digits.
func mayNameMonth(text string) bool {
	lower := strings.ToLower(text)
	for i := 0; i < len(monthsByName); i += 3 {
		if strings.Contains(lower, monthsByName[i:i+3]) {
			return true
		}
	}
	return false
}

// ambiguous are names of months that are words, too, unless a day or a year
// stands beside them or they are written as names.
func ambiguous(name string) bool {
	switch name {
	case "may", "march", "mar", "dec", "sep", "jan", "jun", "oct", "nov", "apr", "aug", "feb", "jul", "Mar", "Dec", "Jan", "Jun", "April":
		return name != "April"
	}
	return false
}

func valid(d Date) (Date, bool) { return d, d.Month <= 12 && d.Day <= 31 && d != Date{} }

func month(name string) int {
	return strings.Index(monthsByName, strings.ToLower(name)[:3])/3 + 1
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // empty: 0
	return n
}

// Words are the date as words of its own kind, the exact ones first.
func (d Date) Words() []string {
	var list []string
	pad := func(n int) string { return strconv.Itoa(n + 100)[1:] }
	if d.Year > 0 && d.Month > 0 && d.Day > 0 {
		list = append(list, "@"+strconv.Itoa(d.Year)+"-"+pad(d.Month)+"-"+pad(d.Day))
	}
	if d.Year > 0 && d.Month > 0 {
		list = append(list, "@"+strconv.Itoa(d.Year)+"-"+pad(d.Month))
	}
	if d.Month > 0 {
		list = append(list, "@"+pad(d.Month))
		if d.Day > 0 {
			list = append(list, "@"+pad(d.Month)+"-"+pad(d.Day))
		}
	}
	if d.Year > 0 {
		list = append(list, "@"+strconv.Itoa(d.Year))
	}
	return list
}

// DayWords are a day as words: of itself, its month, its year and its day of the week.
func DayWords(at time.Time) []string {
	return append(DateOf(at).Words(), "@"+strings.ToLower(at.Weekday().String()))
}

// DateOf is the day of a time.
func DateOf(at time.Time) Date { return Date{at.Year(), int(at.Month()), at.Day()} }

// RelativeWords are the days and months that a text means which was said at a
// time: "yesterday", "last Friday", "two weeks ago".
func RelativeWords(text string, at time.Time) []string {
	if at.IsZero() {
		return nil
	}
	var list []string
	for _, found := range relative.FindAllString(text, 8) {
		list = append(list, relativeWords(strings.ToLower(found), at)...)
	}
	return list
}

// HasTime reports whether a text says when something happens.
func HasTime(text string) bool { return relative.MatchString(text) || len(Dates(text)) > 0 }

func relativeWords(phrase string, at time.Time) []string {
	day := func(n int) []string { return []string{at.AddDate(0, 0, n).Format(dateLayout)} }
	switch phrase {
	case "today", "tonight", "this morning":
		return nil // the time of the record says it
	case "yesterday", "last night":
		return day(-1)
	case "tomorrow":
		return day(1)
	case "day before yesterday":
		return day(-2)
	}
	words := strings.Fields(phrase)
	if len(words) == 3 && words[2] == "ago" {
		return ago(words[0], strings.TrimSuffix(words[1], "s"), at)
	}
	if len(words) != 2 {
		return nil
	}
	step := map[string]int{"last": -1, "past": -1, "previous": -1, "next": 1}[words[0]]
	switch words[1] {
	case "week", "weekend":
		return nil // seven days in a row say little
	case "month":
		return DateMonth(at.AddDate(0, step, 1-at.Day()))
	case "year":
		return []string{"@" + strconv.Itoa(at.Year()+step)}
	}
	for n := 1; n <= 7; n++ {
		if to := at.AddDate(0, 0, n*cmpStep(step)); strings.EqualFold(to.Weekday().String(), words[1]) {
			return day(n * cmpStep(step))
		}
	}
	return nil
}

// cmpStep is the direction in which a day of the week is meant: back, but for "next".
func cmpStep(step int) int {
	if step > 0 {
		return 1
	}
	return -1
}

// DateMonth is the month of a time as words.
func DateMonth(at time.Time) []string { return []string{at.Format("@2006-01"), at.Format("@01")} }

func ago(count, unit string, at time.Time) []string {
	n := map[string]int{"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}[count]
	if n == 0 {
		n = number(count)
	}
	switch unit {
	case "day":
		return []string{at.AddDate(0, 0, -n).Format(dateLayout)}
	case "week":
		return DateMonth(at.AddDate(0, 0, -7*n))
	case "month":
		return DateMonth(at.AddDate(0, -n, 1-at.Day()))
	case "year":
		return []string{"@" + strconv.Itoa(at.Year()-n)}
	}
	return nil
}
