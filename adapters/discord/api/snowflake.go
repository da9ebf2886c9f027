package api

import (
	"regexp"
	"strconv"
	"time"
)

// Discord's ids are numbers that grow with time: 42 bits of milliseconds, then
// what keeps the order within one.
const (
	epoch     = 1420070400000 // the first millisecond of Discord's time
	timeShift = 22
)

var snowflake = regexp.MustCompile(`^[0-9]{15,20}$`)

// IsID reports whether a text is an id as Discord gives them out today.
func IsID(id string) bool { return snowflake.MatchString(id) }

// Number is an id as a number: ids grow with time. 0: that is none.
func Number(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Time is when an id was given out, zero for what is none. Ids hold
// milliseconds; what they count within one keeps the order.
func Time(id string) time.Time {
	n := Number(id)
	if n <= 0 {
		return time.Time{}
	}
	const within = time.Millisecond / 4096
	return time.UnixMilli(n>>timeShift + epoch).Add(time.Duration(n&4095) * within).UTC()
}

// FirstID is the first id of a time.
func FirstID(t time.Time) int64 { return max(t.UnixMilli()-epoch, 0) << timeShift }
