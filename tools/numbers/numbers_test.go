package numbers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestConvert(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, from, to, want string }{
		{"26.2", "mi", "km", "42.1648128"}, {"1", "inch", "cm", "2.54"}, {"100", "°C", "°F", "212"}, {"-40", "F", "celsius", "-40"},
		{"1", "GiB", "MB", "1073.741824"}, {"90", "km/h", "m/s", "25"}, {"3", "Hours", "min", "180"}, {"1", "m", "ft", "3.28083989501312 (rounded)"},
		{"5", "pounds", "kg", "2.26796185"}, {"1", "nmi", "km", "1.852"},
		{"1", "kg", "m", "cannot be converted"}, {"1", "kilometer", "parsecs", "there is no unit"}, {"much", "m", "km", "no number"},
	} {
		got, err := Convert(c.value, c.from, c.to)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %s in %s: %s, want %s", c.value, c.from, c.to, got, c.want)
		}
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	tool := New(Config{Zone: "Europe/Berlin", Now: func() time.Time { return time.Date(2026, 3, 16, 13, 0, 0, 0, time.UTC) }})[1]
	for arguments, want := range map[string]string{
		`{}`:                                            `"at":"2026-03-16T14:00:00+01:00","weekday":"Monday","iso_week":12`,
		`{"to_zones":["America/New_York"]}`:             `"America/New_York":"2026-03-16T09:00:00-04:00 Monday"`,
		`{"at":"2026-01-31","add":"1 month"}`:           `"after":{"at":"2026-02-28T00:00:00+01:00"`,
		`{"at":"2026-03-28 12:00","add":"1 day"}`:       `"after":{"at":"2026-03-29T12:00:00+02:00"`, // the clocks go forward
		`{"at":"2026-03-28 12:00","add":"24 hours"}`:    `"after":{"at":"2026-03-29T13:00:00+02:00"`,
		`{"at":"2026-03-13","add":"2 business days"}`:   `"after":{"at":"2026-03-17T00:00:00+01:00","weekday":"Tuesday"`,
		`{"at":"2026-03-16 10:00","add":"-90 minutes"}`: `"after":{"at":"2026-03-16T08:30:00+01:00"`,
		`{"at":"2026-03-16","until":"2027-04-20"}`:      `"until":{"days":400,"business_days":286,"hours":9599,"calendar":"1 year, 1 month, 4 days"}`,
		`{"at":"2026-03-16","until":"2026-03-13"}`:      `"days":-3,"business_days":-1`,
		`{"at":"soon"}`:                                 "is no moment",
		`{"zone":"Mars/Base"}`:                          "is no time zone",
		`{"add":"a fortnight"}`:                         "is no length of time",
		`{"add":"1.5 months"}`:                          "not a whole number",
	} {
		if got := tool.Run(t.Context(), agent.Call{Arguments: json.RawMessage(arguments)}).Text; !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}

func TestCurrency(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rates.json": `{"base":"EUR","date":"2026-03-13","rates":{"USD":1.08,"GBP":0.84}}`,
		"rates.xml":  `<Cube><Cube time='2026-03-13'><Cube currency='USD' rate='1.08'/><Cube currency='GBP' rate='0.84'/></Cube><Cube time='2026-03-12'><Cube currency='USD' rate='9'/></Cube></Cube>`,
		"rates.csv":  "EUR,1\nUSD,1.08\nGBP,0.84\n",
	} {
		at := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tool := New(Config{Rates: at})[2]
		for arguments, want := range map[string]string{
			`{"amount":100,"from":"EUR","to":"USD"}`:     "100 EUR = 108.00 USD (1 EUR = 1.08 USD",
			`{"amount":"84.00","from":"gbp","to":"usd"}`: "84.00 GBP = 108.00 USD",
			`{"amount":1,"from":"EUR","to":"XXX"}`:       "there is no rate of XXX; there are EUR, GBP, USD",
		} {
			if got := tool.Run(t.Context(), agent.Call{Arguments: json.RawMessage(arguments)}).Text; !strings.Contains(got, want) {
				t.Errorf("%s: %s: %s, want %s", name, arguments, got, want)
			}
		}
	}
	if len(New(Config{})) != 2 {
		t.Error("without rates there is a convert_currency")
	}
	broken := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(broken, []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := New(Config{Rates: broken})[2].Run(t.Context(), agent.Call{Arguments: json.RawMessage(`{"amount":1,"from":"EUR","to":"USD"}`)}); got.State != agent.OutcomeError {
		t.Errorf("a page that holds no rates: %+v", got)
	}
}
