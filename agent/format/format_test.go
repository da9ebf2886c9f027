package format_test

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/format"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{format.Thousands(0), "0"},
		{format.Thousands(-999), "-999"},
		{format.Thousands(-1_000), "-1,000"},
		{format.Thousands(int64(12_345)), "12,345"},
		{format.Thousands(int64(math.MinInt64)), "-9,223,372,036,854,775,808"},
		{format.Count(0, "task"), "0 tasks"},
		{format.Count(1, "task"), "1 task"},
		{format.Count(int64(1_234), "line"), "1,234 lines"},
		{format.Money(int64(0)), "$0.00"},
		{format.Money(int64(1)), "under $0.01"},
		{format.Money(int64(9_999_999)), "under $0.01"},
		{format.Money(int64(14_999_999)), "$0.01"},
		{format.Money(int64(15_000_000)), "$0.02"},
		{format.Money(int64(1_234_050_000_000)), "$1,234.05"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		-time.Second:                      "0ms",
		350 * time.Millisecond:            "350ms",
		999*time.Millisecond + 999_999:    "999ms",
		1400 * time.Millisecond:           "1s",
		59*time.Second + 600_000_000:      "1m",
		80 * time.Second:                  "1m 20s",
		2 * time.Hour:                     "2h",
		2*time.Hour + 5*time.Second:       "2h",
		2*time.Hour + 5*time.Minute + 1e9: "2h 5m",
		3*day + time.Hour:                 "3d 1h",
	} {
		if got := format.Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{59 * time.Second: "under 1m", 119 * time.Second: "1m", 25 * time.Hour: "1d 1h"} {
		if got := format.Minutes(d); got != want {
			t.Errorf("Minutes(%s) = %q, want %q", d, got, want)
		}
	}
	at := time.Date(2025, 3, 1, 1, 5, 0, 0, time.FixedZone("", 2*3600))
	if got, want := format.Moment(at), "28 Feb 23:05 UTC"; got != want {
		t.Errorf("Moment = %q, want %q", got, want)
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{format.OneLine(" a \t b\n\nc "), "a b c"},
		{format.First("äöü", 2), "äö"},
		{format.First("äöü", 3), "äöü"},
		{format.First("äöü", 0), ""},
		{format.First("äöü", -1), ""},
		{format.Cut("abc", 3), "abc"},
		{format.Cut("abcd", 3), "ab…"},
		{format.Cut("ab cd", 4), "ab…"},
		{format.Cut("one\ntwo", 5), "one…"},
		{format.Line("one\ntwo", 7), "one two"},
		{format.Line("one\ntwo three", 8), "one two…"},
		{format.List(nil, "or"), ""},
		{format.List([]string{"a"}, "or"), "a"},
		{format.List([]string{"a", "b"}, "and"), "a and b"},
		{format.List([]string{"a", "b", "c"}, "or"), "a, b or c"},
		{string(must(t, map[string]string{"a": "<&"})), `{"a":"<&"}`},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func must(t *testing.T, v any) []byte {
	t.Helper()
	b, err := format.JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	if b, err := format.JSON(math.NaN()); err == nil || b != nil {
		t.Errorf("JSON of NaN = %q, %v", b, err)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("words in a row", 7)
	f.Add("\xff\xfe broken", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = 1 + most&0xff
		cut := format.Cut(s, most)
		if n := utf8.RuneCountInString(cut); n > most {
			t.Errorf("Cut(%q, %d) has %d characters", s, most, n)
		}
		if cut != s && (!strings.HasSuffix(cut, "…") || !strings.HasPrefix(s, strings.TrimSuffix(cut, "…"))) {
			t.Errorf("Cut(%q, %d) = %q is no marked beginning", s, most, cut)
		}
	})
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ac", 1}, {"abc", "abbc", 1},
		{"abcd", "abdc", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}, {"über", "uber", 1},
		{strings.Repeat("a", 101), "a", 101}, {strings.Repeat("a", 200), strings.Repeat("a", 200), 0},
	} {
		if got := format.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := format.Distance(c.b, c.a); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"", "status", "Runs", "reply", "rely"}
	for word, want := range map[string]string{"statsu": "status", "RUN": "Runs", "rply": "reply", "rey": "rely", "x": "", "anything": ""} {
		if got := format.Nearest(word, known, 2); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 漢 👍\n\t":      "plain ä 漢 👍\n\t",
		"a\u202Eb":             "a⟨U+202E⟩b",
		"pay\u200Bpal\uFEFF":   "pay⟨U+200B⟩pal⟨U+FEFF⟩",
		"\u2066x\u2069":        "⟨U+2066⟩x⟨U+2069⟩",
		"a\x1b[31m\r":          "a⟨U+001B⟩[31m⟨U+000D⟩",
		"\U000E0041":           "⟨U+E0041⟩",
		"\xff":                 "⟨FF⟩",
		"\u3164":               "⟨U+3164⟩",
		"soft\u00ADhyphen":     "soft⟨U+00AD⟩hyphen",
		"line\u2028separators": "line⟨U+2028⟩separators",
	} {
		if got := format.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}
