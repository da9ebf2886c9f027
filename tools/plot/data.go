package plot

// The many forms in which models send values and labels.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// ErrData is returned for values or labels that no chart can be made of.
var ErrData = errors.New("these values cannot be drawn")

// Bounds of a chart.
const (
	mostValues = 10_000
	mostBars   = 40
	mostSlices = 9
	widest     = 40 // characters of a label
	largest    = 1e100
)

// chart is what is drawn: one series.
type chart struct {
	kind, title, xLabel, yLabel string
	labels                      []string // none, or one for each value
	values                      []float64
	other                       int // how many values became the last bar
}

func (c chart) String() string {
	s := fmt.Sprintf("%s chart of %d values", c.kind, len(c.values))
	if c.other > 0 {
		s = fmt.Sprintf("%s chart of %d values, the smallest %d of them as one, other", c.kind, len(c.values)-1+c.other, c.other)
	}
	return s
}

// read makes a chart of the arguments.
func read(a arguments) (chart, error) {
	c := chart{kind: a.Kind, title: label(a.Title, 120), xLabel: label(a.XLabel, 60), yLabel: label(a.YLabel, 60)}
	values, names, err := readValues(a.Values)
	if err != nil {
		return chart{}, err
	}
	c.values, c.labels = values, names
	if len(names) == 0 {
		if c.labels, err = readLabels(a.Labels); err != nil {
			return chart{}, err
		}
	}
	if c.kind == "histogram" {
		c.labels = nil
	}
	switch {
	case len(c.values) == 0:
		return chart{}, fmt.Errorf("%w: there are none", ErrData)
	case len(c.values) > mostValues:
		return chart{}, fmt.Errorf("%w: %d are more than %d; group them first", ErrData, len(c.values), mostValues)
	case len(c.labels) > 0 && len(c.labels) != len(c.values):
		return chart{}, fmt.Errorf("%w: there are %d labels for %d values, give one for each", ErrData, len(c.labels), len(c.values))
	}
	switch c.kind {
	case "bar":
		c = c.grouped(mostBars)
	case "pie":
		if slices.Min(c.values) < 0 || slices.Max(c.values) == 0 {
			return chart{}, fmt.Errorf("%w: a pie needs values that are not negative and not all zero; use bar", ErrData)
		}
		c = c.grouped(mostSlices)
	}
	for i := range c.labels {
		c.labels[i] = label(c.labels[i], widest)
	}
	return c, nil
}

// grouped keeps the n-1 largest values in their order and adds the sum of the
// others, where there are more than n.
func (c chart) grouped(n int) chart {
	for len(c.labels) < len(c.values) {
		c.labels = append(c.labels, strconv.Itoa(len(c.labels)+1))
	}
	if len(c.values) <= n {
		return c
	}
	order := make([]int, len(c.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(c.values[j]), math.Abs(c.values[i])) })
	kept := order[:n-1]
	slices.Sort(kept)
	out := c
	out.values, out.labels, out.other = nil, nil, len(c.values)-len(kept)
	sum := 0.0
	for _, i := range order[n-1:] {
		sum += c.values[i]
	}
	for _, i := range kept {
		out.values, out.labels = append(out.values, c.values[i]), append(out.labels, c.labels[i])
	}
	out.values, out.labels = append(out.values, sum), append(out.labels, fmt.Sprintf("other (%d)", out.other))
	return out
}

// readValues reads an array of numbers, an object of label and number, or a
// text that holds one of these or numbers between commas or lines.
func readValues(raw json.RawMessage) (values []float64, names []string, err error) {
	text, isText := unquote(raw)
	if isText {
		raw = json.RawMessage(text)
	}
	switch {
	case bytes.HasPrefix(raw, []byte("{")):
		return readObject(raw)
	case bytes.HasPrefix(raw, []byte("[")):
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, nil, fmt.Errorf("%w: values is no JSON array: %w", ErrData, err)
		}
		for i, item := range list {
			v, err := number(item)
			if err != nil {
				return nil, nil, fmt.Errorf("%w: values[%d] is %w", ErrData, i, err)
			}
			values = append(values, v)
		}
		return values, nil, nil
	}
	for i, field := range fields(text) {
		v, err := number(json.RawMessage(field))
		if err != nil {
			return nil, nil, fmt.Errorf("%w: value %d is %w", ErrData, i+1, err)
		}
		values = append(values, v)
	}
	return values, nil, nil
}

// readObject reads label and number, in the order in which they are written.
func readObject(raw []byte) (values []float64, names []string, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, nil, fmt.Errorf("%w: values is no JSON object: %w", ErrData, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: values is no JSON object: %w", ErrData, err)
		}
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return nil, nil, fmt.Errorf("%w: values is no JSON object: %w", ErrData, err)
		}
		v, err := number(item)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: the value of %q is %w", ErrData, key, err)
		}
		values, names = append(values, v), append(names, fmt.Sprint(key))
	}
	return values, names, nil
}

// number reads a JSON number or a text with one.
func number(raw json.RawMessage) (float64, error) {
	text, isText := unquote(raw)
	if !isText {
		text = string(raw)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("no number: %s", label(string(raw), widest))
	case math.IsNaN(v) || math.Abs(v) > largest:
		return 0, fmt.Errorf("not a finite number below 1e100: %s", label(string(raw), widest))
	}
	return v, nil
}

// readLabels reads an array of texts or numbers, or a text that holds one or
// labels between commas or lines.
func readLabels(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	text, isText := unquote(raw)
	if isText {
		if raw = json.RawMessage(strings.TrimSpace(text)); !bytes.HasPrefix(raw, []byte("[")) {
			return fields(text), nil
		}
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%w: labels is no JSON array: %w", ErrData, err)
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		label, ok := unquote(item)
		if !ok {
			label = string(item)
		}
		out = append(out, label)
	}
	return out, nil
}

// unquote is a JSON string's text and whether it is one.
func unquote(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return strings.TrimSpace(s), true
}

// fields splits a text at line ends, or at commas where it has one line.
func fields(s string) []string {
	sep := ","
	if strings.Contains(s, "\n") {
		sep = "\n"
	}
	var out []string
	for f := range strings.SplitSeq(s, sep) {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// label is a text without line ends and control characters, at most n
// characters long.
func label(s string, n int) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return r <= ' ' || r == 0x7f })
	return format.Cut(strings.Join(words, " "), n)
}
