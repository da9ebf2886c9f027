package form

// This file says what is wrong with a form, beside the field that it is wrong
// in, and makes the form anew so that nobody types anything twice.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/bot"
)

// FieldError is a value that cannot be taken. Why is a sentence for the person:
// what is wrong, and what would be right.
type FieldError struct {
	Field string
	Why   string
}

func (e *FieldError) Error() string { return e.Why }

// wrong is a FieldError; the text is as of fmt.Errorf.
func wrong(field, text string, values ...any) error {
	return &FieldError{Field: field, Why: fmt.Errorf(text, values...).Error()}
}

// Again is the form with the values that were sent in, and what is wrong with one
// of them. Where the person had no such field, the first one that they had says it.
func Again(f bot.Form, values map[string]string, wrong *FieldError) bot.Form {
	f.Fields = slices.Clone(f.Fields)
	at := -1
	for i := range f.Fields {
		field := &f.Fields[i]
		typed, given := values[field.ID]
		if !given {
			continue
		}
		field.Value = typed
		if at < 0 || field.ID == wrong.Field {
			at = i
		}
	}
	if len(f.Fields) > 0 {
		f.Fields[max(at, 0)].Problem = strings.TrimSpace(wrong.Why)
	}
	return f
}
