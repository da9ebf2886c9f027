package text

import (
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 350 * time.Millisecond: "350ms", time.Second: "1s", 80 * time.Second: "1m 20s", 2 * time.Hour: "2h",
		2*time.Hour + 5*time.Second: "2h", 26 * time.Hour: "1d 2h", 59*time.Minute + 59*time.Second + 600*time.Millisecond: "1h",
	} {
		if got := format.Duration(d); got != want {
			t.Errorf("%s lasts %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "under 1m", 90 * time.Second: "1m", 3*time.Hour + 90*time.Second: "3h 1m"} {
		if got := format.Minutes(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ name, got, want string }{
		{"a cut", InLine("one two three", 8), "one two…"},
		{"a fit", InLine(" one\n two ", 7), "one two"},
		{"plain", Plain("**Not** a\\*b\\\\c" + NextLine + "d"), "Not a*b\\c. d"},
		{"emoji in prose", Safe("👩\u200d🚀"), "👩\u200d🚀"},
		{"emoji in arguments", format.Visible("👩\u200d🚀"), "👩⟨U+200D⟩🚀"},
		{"bytes", format.Visible("a\xff"), "a⟨FF⟩"},
		{"thousands", format.Thousands(-1234567), "-1,234,567"},
		{"one", format.Count(1, "task"), "1 task"},
		{"unknown", Money(nil), ""},
		{"cents", format.Money(agent.Nano(24_690_005)), "$0.02"},
		{"a full cent", format.Money(agent.Nano(995_000_000)), "$1.00"},
		{"less than a cent", format.Money(agent.Nano(9_999_999)), "under $0.01"},
		{"no money", format.Money(agent.Nano(0)), "$0.00"},
		{"thousands of dollars", format.Money(1234 * agent.Dollar), "$1,234.00"},
		{"a fence", Fenced("```"), "````\n```\n````"},
		{"an hour left", UntilThen(now.Add(time.Hour), now), "expires " + Moment(now.Add(time.Hour)) + " (in 1h)"},
		{"over", UntilThen(now, now), "expires now"},
		{"never", UntilThen(time.Time{}, now), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}
