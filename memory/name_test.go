package memory_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

func TestCheckName(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		good        bool
	}{
		{"thread/a", "run", true},
		{"removed", "", true},
		{"\xff %_*", "\xfe", true},
		{"", "value", false},
		{"a\x00", "value", false},
		{"a", "\x00", false},
	} {
		if err := memory.CheckName(tt.name, tt.value); tt.good != (err == nil) || !tt.good && !errors.Is(err, memory.ErrName) {
			t.Errorf("name %q, value %q: %v, want good: %v", tt.name, tt.value, err, tt.good)
		}
	}
}

func TestPrefixEnd(t *testing.T) {
	for prefix, want := range map[string]string{"": "", "a": "b", "run/": "run0", "a\xff\xff": "b", "\xff": "", "日": "\xe6\x97\xa6"} {
		if got := memory.PrefixEnd(prefix); got != want {
			t.Errorf("end of %q is %q, want %q", prefix, got, want)
		}
	}
}

func TestPrefixEndBoundsThePrefix(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune{0, 1, 'a', 'b', 0xff, '日', 0x10ffff}))
	rapid.Check(t, func(t *rapid.T) {
		prefix, name := text.Draw(t, "prefix"), text.Draw(t, "name")
		if rapid.Bool().Draw(t, "begins") {
			name = prefix + name
		}
		end := memory.PrefixEnd(prefix)
		if in := name >= prefix && (end == "" || name < end); in != strings.HasPrefix(name, prefix) {
			t.Fatalf("%q is in the range from %q to %q: %v", name, prefix, end, in)
		}
	})
}

func TestSlack(t *testing.T) {
	for name, tt := range map[string]struct {
		pace agent.Pace
		want time.Duration
		bad  bool
	}{
		"one at a time":       {pace: agent.Pace{Name: "a", Every: time.Second, Burst: 1}},
		"no burst":            {pace: agent.Pace{Name: "a", Every: time.Second}},
		"negative burst":      {pace: agent.Pace{Name: "a", Every: time.Second, Burst: -3}},
		"five in a row":       {pace: agent.Pace{Name: "a", Every: time.Second, Burst: 5}, want: 4 * time.Second},
		"two are left":        {pace: agent.Pace{Name: "a", Every: time.Second, Burst: 5, Leave: 2}, want: 2 * time.Second},
		"all are left":        {pace: agent.Pace{Name: "a", Every: time.Second, Burst: 5, Leave: 5}},
		"less than none":      {pace: agent.Pace{Name: "a", Every: time.Second, Burst: 5, Leave: -2}, want: 4 * time.Second},
		"no time":             {pace: agent.Pace{Name: "a", Burst: 5}},
		"more than can be":    {pace: agent.Pace{Name: "a", Every: time.Hour, Burst: math.MaxInt}, want: math.MaxInt64},
		"no name":             {pace: agent.Pace{Every: time.Second}, bad: true},
		"time that goes back": {pace: agent.Pace{Name: "a", Every: -1}, bad: true},
	} {
		got, err := memory.Slack(tt.pace)
		if got != tt.want || tt.bad != errors.Is(err, memory.ErrPace) {
			t.Errorf("%s: %v, %v; want %v, bad: %v", name, got, err, tt.want, tt.bad)
		}
	}
}
