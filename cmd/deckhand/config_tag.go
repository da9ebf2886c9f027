package main

import (
	"errors"
	"reflect"
	"strconv"
)

// origin is where a value was written. Line 0: not in a file.
type origin struct {
	name string // of the file, the variable or the flag
	line int
}

func (o origin) String() string {
	if o.line == 0 {
		return o.name
	}
	return o.name + ":" + strconv.Itoa(o.line)
}

// origins maps keys to where they were written; defaults are not in it.
type origins map[string]origin

func (o origins) has(key string) bool {
	_, ok := o[key]
	return ok
}

// member is the key of an entry in a map with free keys.
func member(key, name string) string { return key + "[" + strconv.Quote(name) + "]" }

func below(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// field is one key of a section.
type field struct {
	key   string
	index int
	tag   reflect.StructTag
	kind  reflect.Type
}

// fieldsOf lists the keys of a section's type.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") != "" {
			fields = append(fields, field{f.Tag.Get("yaml"), i, f.Tag, f.Type})
		}
	}
	return fields
}

// setDefaults fills a value and everything below it from the tags.
func setDefaults(v reflect.Value) error {
	if v.Kind() != reflect.Struct {
		return nil
	}
	var failed []error
	for _, f := range fieldsOf(v.Type()) {
		text, has := f.tag.Lookup("default")
		if !has {
			failed = append(failed, setDefaults(v.Field(f.index)))
			continue
		}
		x, err := parse(f.kind, text)
		if err == nil {
			v.Field(f.index).Set(x)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
