package schedule

import (
	"strings"
	"testing"
	"time"
)

// A text is refused with a reason or is a schedule that ticks, reads back and
// leaves the end of the text.
func FuzzParsePrefix(f *testing.F) {
	for _, text := range []string{
		"every weekday 9:00 here always", "every monday 8:00: water the plants", "0 9 * * 1-5 Europe/Berlin #ops", "0 0 9 L * 7", "@every 90m", "@daily",
		"monthly on the 1st, 15th and last day at 9am, 5 pm UTC", "every 2h", "at noon on weekends", "mon-fri 9 o'clock (Asia/Tokyo)", "*/7 */5 29 2 *", "TZ=UTC", "0 9 \u00a0* \u0130 *", "\xff:\xfe",
	} {
		f.Add(text)
	}
	anchor := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, text string) {
		w, rest, err := ParsePrefix(text, nil, anchor)
		if err != nil {
			if !w.IsZero() || rest != "" || err.Error() == "" {
				t.Fatalf("%q is refused and read: %q, %q, %v", text, w.Spec(), rest, err)
			}
			return
		}
		if !strings.HasSuffix(strings.TrimSpace(text), rest) || rest != strings.TrimSpace(rest) {
			t.Fatalf("of %q is left %q", text, rest)
		}
		if next := w.Next(anchor); !next.After(anchor) || w.Often() < time.Second || w.String() == "" {
			t.Fatalf("%q is %q, next %s, every %s", text, w, next, w.Often())
		}
		again, err := Parse(w.Spec(), time.UTC, anchor)
		if err != nil || !again.Equal(w) || again.Spec() != w.Spec() {
			t.Fatalf("%q is %q, read back as %q: %v", text, w.Spec(), again.Spec(), err)
		}
	})
}
