package form

// This file reads edited arguments back with the types that they had, so that
// what was not touched stays byte for byte.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

func object(data json.RawMessage) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	err := json.Unmarshal(data, &m)
	if err == nil && m == nil {
		err = fmt.Errorf("%w: null", bot.ErrNotAnAnswer)
	}
	return m, err
}

// argumentFields are a field for each argument, none where they do not fit.
func argumentFields(args map[string]json.RawMessage) []bot.Field {
	if len(args) > maxFields {
		return nil
	}
	var list []bot.Field
	for i, name := range slices.Sorted(maps.Keys(args)) {
		f := bot.Field{ID: fieldArgument + strconv.Itoa(i), Label: text.InLine(name, maxName), Value: shownValue(args[name]), Kind: bot.FieldText, Max: maxField}
		switch kindOf(args[name]) {
		case kindText:
			f.Optional = true
			if strings.Contains(f.Value, "\n") || len(f.Value) > 80 {
				f.Kind = bot.FieldLong
			}
		case kindBool:
			f.Kind, f.Choices = bot.FieldChoice, []string{"true", "false"}
		case kindOther:
			f.Kind = bot.FieldLong
		case kindNumber, kindNull:
		}
		if utf8.RuneCountInString(f.Value) > maxField {
			return nil
		}
		list = append(list, f)
	}
	return list
}

// valueKind is what an argument is.
type valueKind int

const (
	kindNumber valueKind = iota
	kindText
	kindBool
	kindNull
	kindOther
)

func kindOf(v json.RawMessage) valueKind {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return kindNull
	}
	switch v[0] {
	case '"':
		return kindText
	case 't', 'f':
		return kindBool
	case 'n':
		return kindNull
	case '{', '[':
		return kindOther
	}
	return kindNumber
}

// shownValue is an argument as a person edits it: text as it is, else JSON.
func shownValue(v json.RawMessage) string {
	var plain string
	if kindOf(v) == kindText && json.Unmarshal(v, &plain) == nil {
		return plain
	}
	return string(v)
}

// Edited builds the arguments anew from the form: each has the type that it had.
// What was not touched stays byte for byte. An error is a *FieldError, unless the
// original itself cannot be read.
func Edited(original json.RawMessage, values map[string]string) (json.RawMessage, error) {
	if typed, is := values[FieldJSON]; is {
		if _, err := object(json.RawMessage(typed)); err != nil {
			return nil, wrong(FieldJSON, "These arguments are no JSON object.")
		}
		return json.RawMessage(strings.TrimSpace(typed)), nil
	}
	args, err := object(original)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", bot.ErrNotAnAnswer, err)
	}
	for i, name := range slices.Sorted(maps.Keys(args)) {
		field := fieldArgument + strconv.Itoa(i)
		typed, given := values[field]
		if !given || sameText(typed, shownValue(args[name])) {
			continue
		}
		if args[name], err = retyped(args[name], typed); err != nil {
			return nil, wrong(field, "“%s” %w.", text.InLine(name, maxName), err)
		}
	}
	return format.JSON(args)
}

// sameText compares what a form brought back with what it showed: platforms
// change the ends of lines.
func sameText(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}

// retyped is a text as a value of the type that the old one has.
func retyped(old json.RawMessage, typed string) (json.RawMessage, error) {
	kind := kindOf(old)
	if kind == kindText {
		return format.JSON(typed)
	}
	v := json.RawMessage(strings.TrimSpace(typed))
	switch {
	case json.Valid(v) && (kindOf(v) == kind || kind == kindNull):
		if kind == kindOther && v[0] != bytes.TrimSpace(old)[0] {
			return nil, valueError("must stay a list or an object, as before")
		}
		return v, nil
	case kind == kindNull:
		return format.JSON(typed)
	case kind == kindNumber:
		return nil, valueError("must be a number")
	case kind == kindBool:
		return nil, valueError("must be true or false")
	}
	return nil, valueError("must be JSON of the same shape as before")
}

type valueError string

func (e valueError) Error() string { return string(e) }
