package numbers

// Units, exact: sizes are fractions, and only what is shown is rounded.

import (
	"context"
	_ "embed" // the units
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

//go:embed units.yaml
var unitsFile []byte

// unit is the size of one in its kind's base, and what is added to it.
type unit struct {
	kind         string
	size, offset *big.Rat
}

// known are the units by their names.
var known = sync.OnceValues(func() (map[string]unit, error) {
	var kinds map[string]map[string]string
	if err := yaml.Unmarshal(unitsFile, &kinds); err != nil {
		return nil, err
	}
	all := map[string]unit{}
	for kind, units := range kinds {
		for names, text := range units {
			size, err := fraction(text)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", names, kind, err)
			}
			for name := range strings.SplitSeq(names, ", ") {
				all[name] = unit{kind, size, new(big.Rat)}
			}
		}
	}
	kelvin, fahrenheit := big.NewRat(27315, 100), big.NewRat(45967*5, 900)
	for _, t := range []struct {
		names        string
		size, offset *big.Rat
	}{
		{"K, kelvin", big.NewRat(1, 1), new(big.Rat)}, {"C, °C, celsius", big.NewRat(1, 1), kelvin}, {"F, °F, fahrenheit", big.NewRat(5, 9), fahrenheit},
	} {
		for name := range strings.SplitSeq(t.names, ", ") {
			all[name] = unit{"temperature", t.size, t.offset}
		}
	}
	return all, nil
})

// fraction reads 0.45, 5/18 and 1.6/3.7.
func fraction(text string) (*big.Rat, error) {
	above, below, is := strings.Cut(text, "/")
	a, ok := new(big.Rat).SetString(above)
	if !ok {
		return nil, fmt.Errorf("%q is no number", text)
	}
	if !is {
		return a, nil
	}
	b, ok := new(big.Rat).SetString(below)
	if !ok || b.Sign() == 0 {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return a.Quo(a, b), nil
}

// find is a unit by its name, in whatever case and number people write it.
func find(name string) (unit, error) {
	all, err := known()
	if err != nil {
		return unit{}, err
	}
	name = strings.TrimSpace(name)
	for _, try := range []string{name, strings.TrimSuffix(name, "s"), strings.ToLower(name), strings.TrimSuffix(strings.ToLower(name), "s")} {
		if u, is := all[try]; is {
			return u, nil
		}
	}
	names := slices.Sorted(maps.Keys(all))
	if near := format.Nearest(name, names, 3); near != "" {
		return unit{}, fmt.Errorf("there is no unit %q, did you mean %q?", name, near)
	}
	return unit{}, fmt.Errorf("there is no unit %q", name)
}

// errKinds is said of units that nothing leads from to another.
var errKinds = errors.New("cannot be converted into each other")

// Convert is a value in another unit. Digits are those of a 64-bit number, unless it
// is exact.
func Convert(value, from, to string) (string, error) {
	v, ok := new(big.Rat).SetString(strings.TrimSpace(value))
	if !ok || len(value) > 60 {
		return "", fmt.Errorf("%q is no number", value)
	}
	a, err := find(from)
	if err != nil {
		return "", err
	}
	b, err := find(to)
	if err != nil {
		return "", err
	}
	if a.kind != b.kind {
		return "", fmt.Errorf("%s is a unit of %s and %s of %s: they %w", from, a.kind, to, b.kind, errKinds)
	}
	v.Mul(v, a.size).Add(v, a.offset).Sub(v, b.offset).Quo(v, b.size)
	return shown(v), nil
}

// shown is a fraction as a decimal number: exact where 15 digits behind the point
// say it, else rounded to 15 digits in all.
func shown(v *big.Rat) string {
	text := strings.TrimRight(strings.TrimRight(v.FloatString(15), "0"), ".")
	if back, ok := new(big.Rat).SetString(text); ok && back.Cmp(v) == 0 {
		return text
	}
	f, _ := v.Float64()
	return fmt.Sprintf("%.15g (rounded)", f)
}

// units is the tool convert_units.
type units struct{}

// Spec describes the tool.
func (units) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "convert_units",
		Description: "Converts a value into another unit: length, mass, volume, area, time, speed, pressure, energy, power, data, temperature, angle, fuel. " +
			"Exact where it can be.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["value","from","to"],"properties":{
			"value":{"type":["number","string"],"description":"The number"},
			"from":{"type":"string","minLength":1,"maxLength":40,"description":"Its unit, such as mi, km/h, °F or GiB"},
			"to":{"type":"string","minLength":1,"maxLength":40}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead, Example: json.RawMessage(`{"value":26.2,"from":"mi","to":"km"}`),
	}
}

// Run converts.
func (units) Run(_ context.Context, c agent.Call) agent.Result {
	var a struct {
		Value json.RawMessage `json:"value"`
		From  string          `json:"from"`
		To    string          `json:"to"`
	}
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return agent.Failed("convert_units: the arguments do not fit: " + err.Error())
	}
	value := strings.Trim(string(a.Value), `"`)
	text, err := Convert(value, a.From, a.To)
	if err != nil {
		return agent.Failed("convert_units: " + err.Error())
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: fmt.Sprintf("%s %s = %s %s", value, a.From, text, a.To)}
}
