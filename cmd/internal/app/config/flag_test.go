package config

import (
	"slices"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// parseBudget reads the flag over the limits that hold without it.
func parseBudget(text string, over agent.Limits) (agent.Limits, error) {
	r, l := &reader{origin: origins{}}, Limits(over)
	r.budget(&l, text)
	if len(r.problems) > 0 {
		return over, &Error{r.problems}
	}
	return agent.Limits(l), nil
}

func TestParseBudget(t *testing.T) {
	over := agent.Limits{USD: agent.Dollar, Tokens: 7, Time: time.Hour, Steps: 9}
	got, err := parseBudget("usd=1.000000001, time=10m,tokens=0", over)
	if want := (agent.Limits{USD: agent.Dollar + 1, Time: 10 * time.Minute, Steps: 9}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	got, err = parseBudget("tokens=1,step=2", over)
	wantError(t, err, `--budget: unknown limit "step" (did you mean "steps"?)`)
	if got != over {
		t.Errorf("limits changed to %+v", got)
	}
}

func TestParseYesTo(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
		err  string
	}{
		{"", nil, ""},
		{"writes, plan,writes", []string{"plan", "writes"}, ""},
		{"all", []string{"all"}, ""},
		{"write", nil, `--yes-to: unknown word "write" (did you mean "writes"?)`},
		{"everything", nil, `--yes-to: unknown word "everything" (known: all, deletes, plan, reads, writes)`},
		{"plan,", nil, `--yes-to: unknown word "" (known: all, deletes, plan, reads, writes)`},
	} {
		got, err := ParseYesTo(test.text)
		if test.err != "" {
			wantError(t, err, test.err)
		} else if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, %v; want %v", test.text, got, err, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"budget", "autonomy", "authority", "bot_token_file", "http"}
	for word, want := range map[string]string{
		"bugdet": "budget", "Budget": "budget", "autonmy": "autonomy", "bot_token": "bot_token_file",
		"htp": "http", "x": "", "": "", "schedule": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for _, d := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"ca", "abc", 3}, {"bugdet", "budget", 1}, {"größe", "grösse", 2}} {
		if got := format.Distance(d.a, d.b); got != d.want {
			t.Errorf("distance(%q, %q) = %d, want %d", d.a, d.b, got, d.want)
		}
	}
}

func TestSizesAndMoneyAreExact(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "65536": 65536, "64KiB": 65536, "1 GiB": 1 << 30, "2MB": 2_000_000, "3B": 3} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KiB", "1.5MiB", "9223372036854775807GiB", "1iB", "1kb"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
	for text, want := range map[string]int64{"0": 0, "0.00": 0, "0e5": 0, "0.1": 100_000_000, "12.345678901": 12_345_678_901} {
		if got, err := parseMoney(text); err != nil || int64(got) != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "$5", "1e-12", "0.0000000001", "NaN", "1e300", "1/2"} {
		if got, err := parseMoney(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}
