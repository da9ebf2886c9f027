package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// thousands writes a number with commas: 12,345.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural is "1 task", "2 tasks".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return thousands(int64(n)) + " " + word + "s"
}

// dollars rounds to a hundredth of a cent.
func dollars(n agent.Nano) string {
	const unit = agent.Dollar / 10_000
	if n > 0 && n < unit {
		return "under $0.0001"
	}
	n = (n + unit/2) / unit
	return fmt.Sprintf("$%d.%04d", n/10_000, n%10_000)
}

// cost is money where every call had a price, tokens where one had none.
func cost(usd *agent.Nano, tokens int64) string {
	if usd == nil {
		return thousands(tokens) + " tokens"
	}
	return dollars(*usd)
}

// clock is an elapsed time as 0:42 or 1:02:03.
func clock(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// span of time in words of its two largest units: "1m 20s", "2h", "350ms".
func lasting(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + "s"
	}
	var parts []string
	s := int64(d.Round(time.Second) / time.Second)
	for _, u := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := s / u.seconds; n > 0 && len(parts) < 2 {
			parts = append(parts, strconv.FormatInt(n, 10)+u.name)
			s -= n * u.seconds
		} else if len(parts) > 0 {
			break
		}
	}
	return strings.Join(parts, " ")
}

// limits is a budget in words, "" for none.
func limits(l agent.Limits) string {
	var parts []string
	if l.USD > 0 {
		parts = append(parts, "$"+l.USD.String())
	}
	if l.Tokens > 0 {
		parts = append(parts, thousands(l.Tokens)+" tokens")
	}
	if l.Time > 0 {
		parts = append(parts, lasting(l.Time)+" of work")
	}
	if l.Steps > 0 {
		parts = append(parts, thousands(l.Steps)+" steps")
	}
	return strings.Join(parts, " · ")
}
