package data

// JSON values in their order, and the schema of rows that have none.

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// keysOf are the keys of a JSON object in their order, none where it is no object.
func keysOf(raw json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var keys []string
	for d.More() {
		t, err := d.Token()
		key, is := t.(string)
		var skipped json.RawMessage
		if err != nil || !is || d.Decode(&skipped) != nil {
			return keys
		}
		keys = append(keys, key)
	}
	return keys
}

// Row is a row as JSON knows it: nil, bool, json.Number, string, or what becomes JSON.
type Row map[string]any

// cell is a value as SQLite keeps it.
func cell(v any) any {
	switch v := v.(type) {
	case nil, int64, float64, string, int:
		return v
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	}
	text, err := format.JSON(v)
	if err != nil {
		return nil
	}
	return string(text)
}

var (
	integer = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)
	decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)
)

// typeOf is the JSON type of all values of a column.
func typeOf(values []any) string {
	known := ""
	for _, v := range values {
		t := "string"
		switch v := v.(type) {
		case nil:
			continue
		case bool:
			t = "boolean"
		case json.Number:
			t = "number"
			if integer.MatchString(v.String()) {
				t = "integer"
			}
		case []any:
			t = "array"
		case map[string]any:
			t = "object"
		}
		switch {
		case known == "" || known == t:
			known = t
		case (known == "integer" || known == "number") && (t == "integer" || t == "number"):
			known = "number"
		default:
			return "" // of several kinds
		}
	}
	return known
}

// Infer is the schema of rows: the columns in the order given, each of the type
// that all of its values have.
func Infer(columns []string, rows []Row) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i, c := range columns {
		values := make([]any, len(rows))
		for k, r := range rows {
			values[k] = r[c]
		}
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := format.JSON(c) // a text
		b.Write(name)
		if t := typeOf(values); t != "" {
			b.WriteString(`:{"type":"` + t + `"}`)
		} else {
			b.WriteString(`:{}`)
		}
	}
	b.WriteString(`}}`)
	return json.RawMessage(b.String())
}

// numbers makes numbers of the texts of a CSV in columns where all are some.
func numbers(columns []string, rows []Row) {
	for _, c := range columns {
		all := !slices.ContainsFunc(rows, func(r Row) bool {
			text, is := r[c].(string)
			return r[c] != nil && (!is || !decimal.MatchString(text))
		})
		for _, r := range rows {
			if text, is := r[c].(string); all && is {
				r[c] = json.Number(text)
			}
		}
	}
}
