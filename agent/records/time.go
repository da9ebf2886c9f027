package records

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The spellings of a day and of a time of day in it. A time has a day, and may
// have a time of day and a zone.
var (
	isoDay   = regexp.MustCompile(`\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b`)
	dayMonth = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,?[\s-]+(\d{4})\b`)
	monthDay = regexp.MustCompile(`(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b`)
	clock    = regexp.MustCompile(`(?i)\b(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?`)
)

// months by the first three letters of their names.
const months = "janfebmaraprmayjunjulaugsepoctnovdec"

// ParseTime reads a time in one of many spellings: RFC 3339, "2023-05-07",
// "2023/05/20 (Sat) 02:21", "1:56 pm on 8 May, 2023", "May 8, 2023 1:56 PM",
// seconds or milliseconds since 1970. Without a zone it is UTC.
func ParseTime(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly, time.RFC1123Z, time.RFC1123} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 1e8 && n < 1e14 {
		if n > 1e11 {
			n /= 1000
		}
		return time.UnixMilli(int64(n * 1000)).UTC(), nil
	}
	day, rest, err := parseDay(text)
	if err != nil {
		return time.Time{}, err
	}
	return day.Add(timeOfDay(rest)), nil
}

// parseDay finds a day in a text, and returns the text without it.
func parseDay(text string) (day time.Time, rest string, err error) {
	var year, month, date string
	cut := func(at []int) { rest = text[:at[0]] + " " + text[at[1]:] }
	if m := isoDay.FindStringSubmatchIndex(text); m != nil {
		year, month, date = text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]]
		cut(m)
	} else if m := dayMonth.FindStringSubmatchIndex(text); m != nil {
		date, month, year = text[m[2]:m[3]], monthNumber(text[m[4]:m[5]]), text[m[6]:m[7]]
		cut(m)
	} else if m := monthDay.FindStringSubmatchIndex(text); m != nil {
		month, date, year = monthNumber(text[m[2]:m[3]]), text[m[4]:m[5]], text[m[6]:m[7]]
		cut(m)
	} else {
		return day, "", fmt.Errorf("the time %.60q cannot be read: write it like 2023-05-07T13:56:00Z or 7 May 2023", text)
	}
	day, err = time.Parse("2006-1-2", year+"-"+strings.TrimLeft(month, "0")+"-"+strings.TrimLeft(date, "0"))
	if err != nil {
		return day, "", fmt.Errorf("the time %.60q names a day that is none", text)
	}
	return day, rest, nil
}

func monthNumber(name string) string {
	return strconv.Itoa(strings.Index(months, strings.ToLower(name[:3]))/3 + 1)
}

// timeOfDay finds a time of day in a text, zero where there is none.
func timeOfDay(text string) time.Duration {
	m := clock.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	second, _ := strconv.Atoi(m[3]) // 0 where there is none
	half := strings.ToLower(m[4])
	if strings.HasPrefix(half, "p") && hour < 12 {
		hour += 12
	}
	if strings.HasPrefix(half, "a") && hour == 12 {
		hour = 0
	}
	if hour > 23 || minute > 59 || second > 60 {
		return 0
	}
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
}

// anyTime is a time in a line of JSON: a text, a number, or nothing.
type anyTime struct{ time.Time }

// UnmarshalJSON reads a text or a number.
func (t *anyTime) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return fmt.Errorf("read a time: %w", err)
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	at, err := ParseTime(text)
	t.Time = at
	return err
}
