package main

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

// byteSize is an amount of memory, in bytes.
type byteSize int64

// The types of scalars that are read in a way of their own.
var (
	durationType = reflect.TypeFor[time.Duration]()
	nanoType     = reflect.TypeFor[agent.Nano]()
	byteSizeType = reflect.TypeFor[byteSize]()
	secretType   = reflect.TypeFor[secret]()
)

// isScalar reports whether values of the type are one text in the file.
func isScalar(t reflect.Type) bool {
	if t == secretType {
		return true
	}
	return t.Kind() != reflect.Struct && t.Kind() != reflect.Map && t.Kind() != reflect.Slice
}

// wanted describes what a value of the type looks like, for a person who
// wrote something else.
func wanted(t reflect.Type) string {
	switch t {
	case durationType:
		return "a duration such as 500ms, 10s or 2h30m"
	case nanoType:
		return "an amount of US dollars such as 2.50"
	case byteSizeType:
		return "a size such as 65536, 64KiB or 256MiB"
	case secretType:
		return "the path of a file that holds the secret"
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

// parse reads a text as a value of the type, without its bounds. Secrets are
// not read here: their text may be a path or the secret itself.
func parse(t reflect.Type, text string) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	var n int64
	var err error
	switch {
	case t == durationType:
		var d time.Duration
		d, err = time.ParseDuration(text)
		n = int64(d)
	case t == nanoType:
		n, err = parseMoney(text)
	case t == byteSizeType:
		n, err = parseSize(text)
	case t.Kind() == reflect.Bool && (text == "true" || text == "false"):
		v.SetBool(text == "true")
		return v, nil
	case t.Kind() == reflect.String:
		v.SetString(text)
		return v, nil
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		n, err = strconv.ParseInt(text, 10, 64)
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return v, fmt.Errorf("%q is not %s", text, wanted(t))
	}
	v.SetInt(n)
	return v, nil
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

// rules are the bounds in a field's tag.
type rules struct {
	min   string
	oneof []string
	form  string // is: a name in forms
}

func rulesOf(tag reflect.StructTag) rules {
	r := rules{min: tag.Get("min"), form: tag.Get("is")}
	if words := tag.Get("oneof"); words != "" {
		r.oneof = strings.Fields(words)
	}
	return r
}

// check says what is wrong with a value that was read from the text.
func (r rules) check(v reflect.Value, text string) error {
	if len(r.oneof) > 0 && !slices.Contains(r.oneof, text) {
		if near := nearest(text, r.oneof); near != "" {
			return fmt.Errorf("%q is not one of %s (did you mean %q?)", text, strings.Join(r.oneof, ", "), near)
		}
		return fmt.Errorf("%q is not one of %s", text, strings.Join(r.oneof, ", "))
	}
	if r.form != "" {
		if err := checkForm(r.form, text); err != nil {
			return err
		}
	}
	if r.min == "" {
		return nil
	}
	least, err := parse(v.Type(), r.min)
	if err != nil {
		return fmt.Errorf("bound of %s: %w", v.Type(), err)
	}
	if v.Int() < least.Int() {
		return fmt.Errorf("%s is too small: at least %s", text, r.min)
	}
	return nil
}
