package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Bytes is an amount of memory.
type Bytes int64

// quantity is a type of numbers that are written with a unit.
type quantity struct {
	like  string // what a value looks like, for a person who wrote something else
	name  string
	unit  string
	parse func(text string) (int64, error)
}

var quantities = map[reflect.Type]quantity{
	reflect.TypeFor[time.Duration](): {"a duration such as 500ms, 10s or 2h30m", "duration", "Go duration", func(text string) (int64, error) {
		d, err := time.ParseDuration(text)
		return int64(d), err
	}},
	reflect.TypeFor[agent.Nano](): {"an amount of US dollars such as 2.50", "money", "US$", parseMoney},
	reflect.TypeFor[Bytes]():      {"a size such as 65536, 64KiB or 256MiB", "size", "bytes", parseSize},
}

var secretType = reflect.TypeFor[Secret]()

// isSection reports whether values of the type are keys with values.
func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct && t != secretType }

// isScalar reports whether values of the type are one text in the file.
func isScalar(t reflect.Type) bool {
	return t.Kind() != reflect.Map && t.Kind() != reflect.Slice && !isSection(t)
}

// wanted describes what a value of the type looks like, for a person who
// wrote something else.
func wanted(t reflect.Type) string {
	if t == secretType {
		return "the path of a file that holds the secret"
	}
	if q, is := quantities[t]; is {
		return q.like
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "keys with values below it"
	default:
		return "a text"
	}
}

// typeName names the type of a key in the documentation.
func typeName(f reflect.StructField) string {
	if words := f.Tag.Get("oneof"); words != "" {
		return strings.Join(strings.Fields(words), " | ")
	}
	if q, is := quantities[f.Type]; is {
		return q.name
	}
	if f.Type == secretType {
		return "file"
	}
	switch f.Type.Kind() {
	case reflect.Bool:
		return "true | false"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Slice:
		return "list"
	default:
		return "text"
	}
}

func unitOf(f reflect.StructField) string {
	if unit := f.Tag.Get("unit"); unit != "" {
		return unit
	}
	return quantities[f.Type].unit
}

// read reads a text as a value of the type, within the bounds of the tag. A
// secret is the text itself.
func read(t reflect.Type, text string, tag reflect.StructTag) (reflect.Value, error) {
	v, err := parse(t, text)
	if err != nil {
		return v, fmt.Errorf("%q is not %s", text, wanted(t))
	}
	if words := strings.Fields(tag.Get("oneof")); len(words) > 0 && !slices.Contains(words, text) {
		err = fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
		if near := nearest(text, words); near != "" {
			err = fmt.Errorf("%w (did you mean %q?)", err, near)
		}
		return v, err
	}
	if form := tag.Get("is"); form != "" {
		if err := checkForm(form, text); err != nil {
			return v, err
		}
	}
	if least, bounded := tag.Lookup("min"); bounded {
		min, err := parse(t, least)
		if err != nil {
			return v, fmt.Errorf("the bound of %s: %w", t, err)
		}
		if v.Int() < min.Int() {
			return v, fmt.Errorf("%s is too small: at least %s", text, least)
		}
	}
	return v, nil
}

// parse reads a text as a value of the type, without its bounds.
func parse(t reflect.Type, text string) (v reflect.Value, err error) {
	v = reflect.New(t).Elem()
	var n int64
	if q, is := quantities[t]; is {
		n, err = q.parse(text)
		v.SetInt(n)
		return v, err
	}
	switch t.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return v, strconv.ErrSyntax
		}
		v.SetBool(text == "true")
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		v.Set(reflect.ValueOf(NewSecret(strings.TrimSpace(text))))
	default:
		n, err = strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
	}
	return v, err
}

// parseMoney reads dollars. An amount that would be rounded to nothing is
// refused, because nothing means that there is no limit.
func parseMoney(text string) (int64, error) {
	n, err := agent.ParseDollars(text)
	if err == nil && n == 0 && strings.ContainsAny(text, "123456789") && !zeroMantissa.MatchString(text) {
		return 0, strconv.ErrRange
	}
	return int64(n), err
}

var zeroMantissa = regexp.MustCompile(`^[+-]?[0.]+[eE]`)

// units are the endings of sizes, in bytes.
var units = map[string]int64{
	"": 1, "B": 1,
	"KB": 1e3, "MB": 1e6, "GB": 1e9,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}

// parseSize reads a whole number of bytes with an optional unit.
func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGi")
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	unit, known := units[text[len(digits):]]
	switch {
	case err != nil:
		return 0, err
	case !known:
		return 0, strconv.ErrSyntax
	case n > (1<<62)/unit || n < -(1<<62)/unit:
		return 0, strconv.ErrRange
	}
	return n * unit, nil
}
