package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
)

// Bytes is an amount of memory.
type Bytes int64

// kind is a type of values.
type kind struct {
	name, unit string // in the documentation
	like       string // what one looks like, for a person who wrote something else
	node       yaml.Kind
	// parse reads a value that is one text; nil: it is several.
	parse func(v reflect.Value, text string) error
}

// kinds are looked up by type, or else by kind of type.
var kinds = map[any]kind{
	reflect.TypeFor[time.Duration](): {"duration", "", "a duration such as 500ms, 10s or 2h30m", yaml.ScalarNode, number(time.ParseDuration)},
	reflect.TypeFor[agent.Nano]():    {"amount", "US$", "an amount of US dollars such as 2.50", yaml.ScalarNode, number(parseMoney)},
	reflect.TypeFor[Bytes]():         {"size", "bytes", "a size such as 65536, 64KiB or 256MiB", yaml.ScalarNode, number(parseSize)},
	reflect.TypeFor[Secret](): {"file with a secret", "", "the path of a file that holds the secret", yaml.ScalarNode, func(v reflect.Value, text string) error {
		v.Set(reflect.ValueOf(NewSecret(strings.TrimSpace(text))))
		return nil
	}},
	reflect.TypeFor[Value](): {"template", "", "a text, which may name variables: ${NAME}", yaml.ScalarNode, func(v reflect.Value, text string) error {
		v.Set(reflect.ValueOf(Value{Secret: NewSecret(text)}))
		return nil
	}},
	reflect.Bool: {"true or false", "", "true or false", yaml.ScalarNode, func(v reflect.Value, text string) error {
		if text != "true" && text != "false" {
			return strconv.ErrSyntax
		}
		v.SetBool(text == "true")
		return nil
	}},
	reflect.Int:   {"whole number", "", "a whole number", yaml.ScalarNode, number(parseWhole)},
	reflect.Int64: {"whole number", "", "a whole number", yaml.ScalarNode, number(parseWhole)},
	reflect.String: {"text", "", "a text", yaml.ScalarNode, func(v reflect.Value, text string) error {
		v.SetString(text)
		return nil
	}},
	reflect.Slice:  {like: "a list", node: yaml.SequenceNode},
	reflect.Map:    {like: "keys with values below it", node: yaml.MappingNode},
	reflect.Struct: {like: "keys with values below it", node: yaml.MappingNode},
}

func kindOf(t reflect.Type) kind {
	if k, is := kinds[t]; is {
		return k
	}
	return kinds[t.Kind()]
}

// isSection reports whether values of the type are keys with values.
func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct && kindOf(t).parse == nil }

// number is the reading of a type of numbers.
func number[N ~int64](parse func(text string) (N, error)) func(reflect.Value, string) error {
	return func(v reflect.Value, text string) error {
		n, err := parse(text)
		v.SetInt(int64(n))
		return err
	}
}

// parse reads a text as a value of the type, without its bounds.
func parse(t reflect.Type, text string) (reflect.Value, error) {
	v, k := reflect.New(t).Elem(), kindOf(t)
	if k.parse(v, text) != nil {
		return v, fmt.Errorf("%q is not %s", text, k.like)
	}
	return v, nil
}

// read reads a text as a value of the type, within the bounds of the tag. A
// secret is the text itself.
func read(t reflect.Type, text string, tag reflect.StructTag) (reflect.Value, error) {
	v, err := parse(t, text)
	if err != nil {
		return v, err
	}
	if words := strings.Fields(tag.Get("oneof")); len(words) > 0 && !slices.Contains(words, text) {
		if near := nearest(text, words); near != "" {
			return v, fmt.Errorf("%q is not one of %s (did you mean %q?)", text, strings.Join(words, ", "), near)
		}
		return v, fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
	}
	if is, has := tag.Lookup("is"); has {
		if err := forms[is].check(text); err != nil {
			return v, err
		}
	}
	if least, bounded := tag.Lookup("min"); bounded {
		if low, err := parse(t, least); err != nil || v.Int() < low.Int() {
			return v, fmt.Errorf("%s is too small: at least %s", text, least)
		}
	}
	return v, nil
}

func parseWhole(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }

// parseMoney reads dollars. An amount that would be rounded to nothing is
// refused, because nothing means that there is no limit.
func parseMoney(text string) (agent.Nano, error) {
	n, err := agent.ParseDollars(text)
	if err == nil && n == 0 && strings.ContainsAny(text, "123456789") && !zeroMantissa.MatchString(text) {
		return 0, strconv.ErrRange
	}
	return n, err
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
	n, err := parseWhole(strings.TrimSpace(digits))
	unit, known := units[text[len(digits):]]
	if err == nil && (!known || n > (1<<62)/unit || n < -(1<<62)/unit) {
		err = strconv.ErrRange
	}
	return n * unit, err
}
