package agent

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDollars(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Nano
		ok   bool
	}{
		{"0", 0, true},
		{"1", Dollar, true},
		{" 1.25 ", 1_250_000_000, true},
		{"0.1", 100_000_000, true},
		{"2.675", 2_675_000_000, true},
		{"-0.05", -50_000_000, true},
		{"1e-06", 1_000, true},
		{"2.5E3", 2500 * Dollar, true},
		{"0.000000001", 1, true},
		{"0.0000000005", 1, true}, // half a billionth, to the nearest
		{"0.0000000004", 0, true},
		{"123456789.123456789", 123_456_789_123_456_789, true},
		{"1000000000", 1_000_000_000 * Dollar, true},
		{"1e-400", 0, true},
		{"1000000001", 0, false},
		{"1e400", 0, false},
		{"NaN", 0, false},
		{"Inf", 0, false},
		{"-Infinity", 0, false},
		{"", 0, false},
		{"five", 0, false},
		{"$5", 0, false},
		{"1/3", 0, false},
		{"1,000", 0, false},
		{"1 2", 0, false},
		{"null", 0, false},
	} {
		got, err := ParseDollars(tt.text)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParseDollars(%q) = %d, %v; want %d, ok %v", tt.text, int64(got), err, int64(tt.want), tt.ok)
		}
	}
}

func TestDollarsAsText(t *testing.T) {
	for n, want := range map[Nano]string{
		0: "0.00", 1: "0.000000001", 50_000_000: "0.05", 100_000_000: "0.10", Dollar: "1.00",
		12_000_001_000: "12.000001", -50_000_000: "-0.05", -1: "-0.000000001",
		math.MaxInt64: "9223372036.854775807", math.MinInt64: "-9223372036.854775808",
	} {
		if got := n.String(); got != want {
			t.Errorf("Nano(%d) is %q, want %q", int64(n), got, want)
		}
	}
}

// Money goes through text and JSON without losing a billionth.
func TestMoneyIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Nano(rapid.Int64Range(-1e18, 1e18).Draw(t, "nano"))
		parsed, err := ParseDollars(n.String())
		if err != nil || parsed != n {
			t.Fatalf("%d is %q and then %d, %v", int64(n), n, int64(parsed), err)
		}
		type price struct {
			Cost *Nano `json:"cost_usd"`
		}
		data, err := json.Marshal(price{&n})
		if err != nil {
			t.Fatal(err)
		}
		var read price
		if err := json.Unmarshal(data, &read); err != nil || read.Cost == nil || *read.Cost != n {
			t.Fatalf("%s was read as %v, %v", data, read.Cost, err)
		}
	})
}

func TestMoneyIsANumberInJSON(t *testing.T) {
	var n Nano
	for _, text := range []string{`"1.25"`, `{}`, `[1]`, `true`, `0x10`} {
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s was read as %s dollars", text, n)
		}
	}
	if err := json.Unmarshal([]byte("1.25"), &n); err != nil || n != 1_250_000_000 {
		t.Errorf("1.25 was read as %d, %v", int64(n), err)
	}
}

func FuzzParseDollars(f *testing.F) {
	for _, s := range []string{"1.25", "-0.05", "1e-06", "1e400", "0x1p-2", "NaN", "1_0", "1e-999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseDollars(s)
		if err != nil {
			return
		}
		again, err := ParseDollars(n.String())
		if err != nil || again != n {
			t.Fatalf("%q is %d, and %q is %d, %v", s, int64(n), n, int64(again), err)
		}
	})
}
