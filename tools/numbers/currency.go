package numbers

// Currencies, by the rates of a source that the configuration names.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Config says what the tools go by.
type Config struct {
	Zone string // of times that name none
	// Rates is a file or a URL with rates of currencies; empty: there are none, and
	// convert_currency is not offered. It holds JSON {"base", "date"?, "rates": {CODE:
	// NUMBER}}, the daily XML of the European Central Bank (base EUR), or lines CODE,NUMBER
	// with a rate of 1 for the base.
	Rates string
	// Every is how long rates of a URL are good for; 0: an hour.
	Every time.Duration
	// Client asks a URL.
	Client *http.Client
	Now    func() time.Time
}

// New returns the tools.
func New(c Config) []agent.Tool {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Zone == "" {
		c.Zone = "UTC"
	}
	if c.Every <= 0 {
		c.Every = time.Hour
	}
	list := []agent.Tool{units{}, dates{c.Zone, c.Now}}
	if c.Rates != "" {
		list = append(list, &currency{c: c})
	}
	return list
}

// maxRates is how long a file of rates may be, in bytes.
const maxRates = 2 << 20

// rates are what a source says: how much of each currency one of the base is.
type rates struct {
	Date  string
	Of    map[string]*big.Rat
	asked time.Time
}

// currency is the tool convert_currency.
type currency struct {
	c  Config
	mu sync.Mutex
	r  *rates
}

// Spec describes the tool.
func (*currency) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "convert_currency",
		Description: "Converts an amount of money into another currency, by the rates that this installation uses, and tells their day.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["amount","from","to"],"properties":{
			"amount":{"type":["number","string"]},
			"from":{"type":"string","pattern":"^[A-Za-z]{3}$","description":"Currency such as EUR"},
			"to":{"type":"string","pattern":"^[A-Za-z]{3}$"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead, Timeout: 30 * time.Second, Example: json.RawMessage(`{"amount":99.90,"from":"EUR","to":"USD"}`),
	}
}

// Run converts.
func (t *currency) Run(ctx context.Context, c agent.Call) agent.Result {
	var a struct {
		Amount json.RawMessage `json:"amount"`
		From   string          `json:"from"`
		To     string          `json:"to"`
	}
	err := json.Unmarshal(c.Arguments, &a)
	text := ""
	if err == nil {
		text, err = t.convert(ctx, strings.Trim(string(a.Amount), `"`), strings.ToUpper(a.From), strings.ToUpper(a.To))
	}
	if err != nil {
		return agent.Failed("convert_currency: " + err.Error())
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: text}
}

func (t *currency) convert(ctx context.Context, amount, from, to string) (string, error) {
	v, ok := new(big.Rat).SetString(amount)
	if !ok || len(amount) > 60 {
		return "", fmt.Errorf("%q is no amount", amount)
	}
	r, err := t.rates(ctx)
	if err != nil {
		return "", err
	}
	for _, code := range []string{from, to} {
		if r.Of[code] == nil {
			return "", fmt.Errorf("there is no rate of %s; there are %s", code, strings.Join(slices.Sorted(maps.Keys(r.Of)), ", "))
		}
	}
	rate := new(big.Rat).Quo(r.Of[to], r.Of[from])
	f, _ := rate.Float64()
	text := fmt.Sprintf("%s %s = %s %s (1 %s = %.6g %s", amount, from, v.Mul(v, rate).FloatString(2), to, from, f, to)
	if r.Date != "" {
		text += ", rates of " + r.Date
	}
	return text + ")", nil
}

// rates are those that are good now. Where the source cannot be asked, the last ones
// are used for a day.
func (t *currency) rates(ctx context.Context) (*rates, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.c.Now()
	if t.r != nil && now.Sub(t.r.asked) < t.c.Every {
		return t.r, nil
	}
	text, err := t.read(ctx)
	var r *rates
	if err == nil {
		r, err = parseRates(text)
	}
	if err != nil {
		if t.r != nil && now.Sub(t.r.asked) < 24*time.Hour {
			return t.r, nil
		}
		return nil, fmt.Errorf("the rates cannot be had: %w", err)
	}
	r.asked = now
	t.r = r
	return r, nil
}

func (t *currency) read(ctx context.Context) ([]byte, error) {
	if !strings.Contains(t.c.Rates, "://") {
		return os.ReadFile(t.c.Rates)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.c.Rates, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "deckhand")
	resp, err := t.c.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the source answers %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxRates))
}

var (
	bankRate = regexp.MustCompile(`currency=["']([A-Z]{3})["']\s+rate=["']([0-9.]+)["']`)
	bankDay  = regexp.MustCompile(`time=["']([0-9-]{10})["']`)
	rateLine = regexp.MustCompile(`(?m)^\s*([A-Z]{3})\s*[,;\t]\s*([0-9.]+)\s*$`)

	errRates = errors.New("it is none of JSON with base and rates, the European Central Bank's XML, and lines CODE,NUMBER")
)

// parseRates reads the three shapes.
func parseRates(text []byte) (*rates, error) {
	r := &rates{Of: map[string]*big.Rat{}}
	var object struct {
		Base  string                 `json:"base"`
		Date  string                 `json:"date"`
		Rates map[string]json.Number `json:"rates"`
	}
	put := func(code, number string) {
		if v, ok := new(big.Rat).SetString(number); ok && v.Sign() > 0 && len(number) < 40 {
			r.Of[strings.ToUpper(code)] = v
		}
	}
	switch {
	case json.Unmarshal(text, &object) == nil && len(object.Rates) > 0:
		r.Date = format.Cut(object.Date, 40)
		for code, n := range object.Rates {
			put(code, n.String())
		}
		if object.Base != "" {
			put(object.Base, "1")
		}
	case bankRate.Match(text):
		if m := bankDay.FindSubmatch(text); m != nil {
			r.Date = string(m[1])
		}
		for _, m := range bankRate.FindAllSubmatch(text, 400) {
			if code := string(m[1]); r.Of[code] == nil { // of several days the first is the newest
				put(code, string(m[2]))
			}
		}
		put("EUR", "1")
	default:
		for _, m := range rateLine.FindAllSubmatch(text, 400) {
			put(string(m[1]), string(m[2]))
		}
	}
	if len(r.Of) < 2 {
		return nil, errRates
	}
	return r, nil
}
