package format

import (
	"strconv"
	"time"
)

var units = []struct {
	seconds int64
	name    string
}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}

// Duration is a length of time in its two largest units: "1m 20s", "2h",
// "350ms". A unit that is zero ends it: "2h 5s" would be odd.
func Duration(d time.Duration) string {
	if d = max(d, 0); d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	left := int64(d.Round(time.Second) / time.Second)
	text := ""
	for _, u := range units {
		n := left / u.seconds
		left -= n * u.seconds
		switch {
		case n > 0 && text == "":
			text = strconv.FormatInt(n, 10) + u.name
		case n > 0:
			return text + " " + strconv.FormatInt(n, 10) + u.name
		case text != "":
			return text
		}
	}
	return text
}

// Minutes is a length of time that grows while people look at it, for whom
// seconds are noise: "under 1m", "12m", "1h 5m".
func Minutes(d time.Duration) string {
	if d < time.Minute {
		return "under 1m"
	}
	return Duration(d.Truncate(time.Minute))
}

// Moment is a point in time, in UTC: "2 Jan 15:04 UTC".
func Moment(t time.Time) string { return t.UTC().Format("2 Jan 15:04 UTC") }
