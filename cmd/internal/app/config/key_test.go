package config

import (
	"reflect"
	"slices"
	"testing"
)

// Every key has a kind, every form that a tag names is there, and every default
// is one that the file itself could hold.
func TestKeysAreDescribed(t *testing.T) {
	var paths []string
	for _, k := range Keys() {
		paths = append(paths, k.Path)
		if k.Kind == "" || k.Kind == "list of s" {
			t.Errorf("%s has no kind", k.Path)
		}
	}
	for _, want := range []string{"http", "budget.run.usd", "model.prices.NAME.input", "schedules[].when", "channels.PLACE.budget.run.usd", "slack.bot_token_file"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not listed among %v", want, paths)
		}
	}
	var look func(section reflect.Type)
	look = func(section reflect.Type) {
		walk(reflect.New(section).Elem(), "", func(path string, f reflect.StructField, _ reflect.Value) {
			for _, tag := range []string{"is", "keys"} {
				if name, has := f.Tag.Lookup(tag); has && forms[name].check == nil {
					t.Errorf("%s: there is no form %q", path, name)
				}
			}
			if text, has := f.Tag.Lookup("default"); has {
				if _, err := read(f.Type, text, f.Tag); err != nil {
					t.Errorf("the default of %s: %v", path, err)
				}
			}
			if k := f.Type.Kind(); (k == reflect.Map || k == reflect.Slice) && isSection(f.Type.Elem()) {
				look(f.Type.Elem())
			}
		})
	}
	look(reflect.TypeFor[Config]())
}
