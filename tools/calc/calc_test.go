package calc_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/calc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEvaluate(t *testing.T) {
	const rounded = " (rounded to 34 digits)"
	for in, want := range map[string]string{
		"0.1+0.2":           "0.3",
		"1/3":               "0.3333333333333333333333333333333333" + rounded,
		"2/3":               "0.6666666666666666666666666666666667" + rounded,
		"1/3*3":             "1" + rounded,
		"floor(1/3*3)":      "1",
		"1/8":               "0.125",
		"2+3*4":             "14",
		"(2+3)*4":           "20",
		"2^3^2":             "512",
		"-2^2":              "-4",
		"(-2)^2":            "4",
		"2^-2":              "0.25",
		"2**10":             "1024",
		"-3 - -3":           "0",
		"--3":               "3",
		"10-4-3":            "3",
		"7 % 3":             "1",
		"-7 % 3":            "-1",
		"5.5 % 2":           "1.5",
		"sqrt(16)":          "4",
		"sqrt(2)":           "1.414213562373095048801688724209698" + rounded,
		"sqrt(2)^2":         "2" + rounded,
		"sqrt(0.01)":        "0.1",
		"abs(-3.5)":         "3.5",
		"round(2.5)":        "3",
		"round(-2.5)":       "-3",
		"round(2.345, 2)":   "2.35",
		"round(1234, -2)":   "1200",
		"round(2/3, 4)":     "0.6667",
		"floor(-1.5)":       "-2",
		"ceil(-1.5)":        "-1",
		"min(3, 1, 2)":      "1",
		"max(100,200)":      "200",
		"sum(1, 2.5, 3)":    "6.5",
		"sum([1,2,3])":      "6",
		"avg([1,2],[3,4])":  "2.5",
		"avg(1,2,2)":        "1.666666666666666666666666666666667" + rounded,
		"ln(e)":             "1" + rounded,
		"ln(1)":             "0",
		"log10(1000)":       "3",
		"log10(0.01)":       "-2",
		"log10(2)":          "0.301029995663981195213738894724493" + rounded,
		"exp(0)":            "1",
		"exp(1)":            "2.718281828459045235360287471352662" + rounded,
		"PI":                "3.141592653589793238462643383279503" + rounded,
		"5!":                "120",
		"3!^2":              "36",
		"2^3!":              "64",
		"-3!":               "-6",
		"30!":               "265252859812191058636308480000000",
		"2^200":             "1606938044258990275541962092341162602522202993782792835301376",
		"1e3":               "1000",
		"1.5e-3":            "0.0015",
		"1e500 * 1e400":     "1e+900",
		"1e500 + 1 - 1e500": "1",
		"4^0.5":             "2",
		"8^(1/3)":           "2" + rounded,
		"ln(1+1e-900)":      "1e-900" + rounded,
		"ln(1+1e-36)":       "1e-36" + rounded,
		"ln(1+1e-34)":       "0.0000000000000000000000000000000001" + rounded,
		"ln(1+1e-30)":       "0.0000000000000000000000000000009999999999999999999999999999995" + rounded, "(1+1e-30)^(1e30/3)": "1.395612425086089528628125319602354" + rounded,
		"(1/3)^0.5":                 "0.5773502691896257645091487805019575" + rounded,
		"2^0.5":                     "1.414213562373095048801688724209698" + rounded,
		"0^0":                       "1",
		"1.0000001^100000000":       "22026.4547815773066364694281246363" + rounded,
		"3 × 4 ÷ 2 − 1":             "5",
		"100*1.19":                  "119",
		"19.99*3":                   "59.97",
		".5 + 5.":                   "5.5",
		"-0":                        "0",
		"2087*60*60*8000*0.05/1000": "3005280",
	} {
		got, err := calc.Evaluate(t.Context(), in)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s = %s, want %s", in, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for in, c := range map[string]struct {
		kind  error
		words string
	}{
		"":                 {calc.ErrSyntax, "it is empty"},
		"1 +":              {calc.ErrSyntax, "something is missing at its end"},
		"1,000 + 2":        {calc.ErrSyntax, "thousands separators"},
		"max((1,000), 2)":  {calc.ErrSyntax, "thousands separators"},
		"max(1,000, 5)":    {calc.ErrSyntax, "000 starts with a zero"},
		"1_000":            {calc.ErrSyntax, "without separators"},
		"1'000":            {calc.ErrSyntax, "without separators"},
		"1 000":            {calc.ErrSyntax, "numbers have no spaces"},
		"2pi":              {calc.ErrSyntax, "operator is missing"},
		"2(3)":             {calc.ErrSyntax, "operator is missing"},
		"15% * 200":        {calc.ErrSyntax, "for per cent write / 100"},
		"(1":               {calc.ErrSyntax, "a ) is missing"},
		"1)":               {calc.ErrSyntax, "')' is not expected at character 2"},
		"$5":               {calc.ErrSyntax, "'$' is not expected at character 1"},
		"foo(1)":           {calc.ErrSyntax, "there is no function \"foo\", there are sqrt"},
		"x + 1":            {calc.ErrSyntax, "\"x\" is not known"},
		"sqrt()":           {calc.ErrSyntax, "sqrt needs one value, got 0"},
		"sum()":            {calc.ErrSyntax, "at least one value"},
		"round(1, 0.5)":    {calc.ErrSyntax, "places of round"},
		"1 = 1":            {calc.ErrSyntax, "'=' is not expected"},
		"1/0":              {calc.ErrUndefined, "division by zero"},
		"0/0":              {calc.ErrUndefined, "division by zero"},
		"5 % 0":            {calc.ErrUndefined, "division by zero"},
		"0^-1":             {calc.ErrUndefined, "division by zero"},
		"sqrt(-1)":         {calc.ErrUndefined, "not real"},
		"ln(0)":            {calc.ErrUndefined, "positive"},
		"(-8)^(1/3)":       {calc.ErrUndefined, "not whole"},
		"9^9^9":            {calc.ErrRange, "beyond 10^"},
		"9^-(9^9)":         {calc.ErrRange, "beyond 10^"},
		"(1e-900)^2":       {calc.ErrRange, "beyond 10^"},
		"1e900*1e900":      {calc.ErrRange, "beyond 10^1000"},
		"1e-900*1e-900":    {calc.ErrRange, "nearer to zero"},
		"1e99999":          {calc.ErrRange, ""},
		"1e99999999999999": {calc.ErrRange, ""},
		"exp(1e30)":        {calc.ErrRange, "exp"},
		"450!":             {calc.ErrRange, "from 0 to 449"},
		"(-1)!":            {calc.ErrRange, "from 0 to 449"},
		"2.5!":             {calc.ErrRange, "from 0 to 449"},
		"9!!!":             {calc.ErrRange, "from 0 to 449"},
		strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 4000): {calc.ErrSyntax, "nested deeper"},
		strings.Repeat("-", 9000) + "1":                             {calc.ErrSyntax, "nested deeper"},
		"sum(" + strings.Repeat("[", 9000):                          {calc.ErrSyntax, "nested deeper"},
		strings.Repeat("1+", 9000) + "1":                            {calc.ErrSyntax, "longer than"},
		"\xff":                                                      {calc.ErrSyntax, "UTF-8"},
	} {
		got, err := calc.Evaluate(t.Context(), in)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%.60s = %s, %v; want %v with %q", in, got, err, c.kind, c.words)
		}
	}
}

func TestTool(t *testing.T) {
	r := calc.Tool{}.Run(t.Context(), agent.Call{Arguments: json.RawMessage(`{"expression":"0.1+0.2"}`)})
	if r.State != agent.OutcomeOK || r.Text != "0.3" || r.Trust != agent.Trusted {
		t.Errorf("%+v", r)
	}
	r = calc.Tool{}.Run(t.Context(), agent.Call{Arguments: json.RawMessage(`{"expression":"1/0"}`)})
	if r.State != agent.OutcomeError || !strings.HasPrefix(r.Text, "error: calculator: ") {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := calc.Evaluate(ctx, "1+1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled calculation: %v", err)
	}
}

// Sums and products agree with exact fractions.
func TestAgainstFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		var text strings.Builder
		want := new(big.Rat)
		for i := range n {
			a := rapid.StringMatching(`[1-9][0-9]{0,20}\.[0-9]{1,20}`).Draw(t, "a")
			b := rapid.StringMatching(`[1-9][0-9]{0,5}`).Draw(t, "b")
			x, _ := new(big.Rat).SetString(a)
			y, _ := new(big.Rat).SetString(b)
			x.Mul(x, y)
			switch {
			case i == 0:
				want.Set(x)
			case i%2 == 1:
				text.WriteString(" - ")
				want.Sub(want, x)
			default:
				text.WriteString("+")
				want.Add(want, x)
			}
			text.WriteString(a + "*" + b)
		}
		got, err := calc.Evaluate(context.Background(), text.String())
		if err != nil {
			t.Fatal(err)
		}
		g, ok := new(big.Rat).SetString(got)
		if !ok || g.Cmp(want) != 0 {
			t.Fatalf("%s = %s, want %s", text.String(), got, want.FloatString(60))
		}
	})
}

func FuzzEvaluate(f *testing.F) {
	for _, s := range []string{"1+2*3^2", "sqrt(2)!", "sum([1,[2]],3)", "9^9^9", "-(-1)%3", "1e999*9", "round(1/3,-3)", "exp(-2000)", "0.5^0.5^0.5", "ln(1e-1000)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start := time.Now()
		got, err := calc.Evaluate(ctx, s)
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("%q took %s", s, d)
		}
		if err != nil {
			if !errors.Is(err, calc.ErrSyntax) && !errors.Is(err, calc.ErrRange) && !errors.Is(err, calc.ErrUndefined) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		plain, _, _ := strings.Cut(got, " (")
		if _, ok := new(big.Rat).SetString(plain); !ok {
			t.Fatalf("%q = %q is no number", s, got)
		}
	})
}
