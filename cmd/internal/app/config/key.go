package config

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Key is one key of the file as a person looks it up.
type Key struct {
	Path     string // "budget.run.usd"; free keys are NAME or PLACE, a list's entries []
	Kind     string // what a value is: "duration", "list of principals", "words: never, effects, always"
	Unit     string // what a number counts; empty where it counts nothing
	Default  string // as one writes it in the file; empty: none
	Env      string // the variable that wins over the file; empty: none
	Required bool
}

// Keys lists every key of the file in its order, for the reference in the
// documentation.
func Keys() []Key { return keysOf(reflect.TypeFor[Config](), "") }

func keysOf(section reflect.Type, prefix string) []Key {
	var list []Key
	walk(reflect.New(section).Elem(), prefix, func(path string, f reflect.StructField, _ reflect.Value) {
		switch t, tag := f.Type, f.Tag; {
		case t.Kind() == reflect.Map:
			name := ".NAME"
			if tag.Get("keys") == "channel" {
				name = ".PLACE"
			}
			if isSection(t.Elem()) {
				list = append(list, keysOf(t.Elem(), path+name)...)
				break
			}
			k := Key{Path: path + name, Kind: kindOf(t.Elem()).name}
			if words := tag.Get("oneof"); words != "" {
				k.Kind = "words: " + strings.Join(strings.Fields(words), ", ")
			}
			list = append(list, k)
		case t.Kind() == reflect.Slice && isSection(t.Elem()):
			list = append(list, keysOf(t.Elem(), path+"[]")...)
		default:
			k := Key{path, kindOf(t).name, kindOf(t).unit, tag.Get("default"), tag.Get("env"), tag.Get("required") != ""}
			if form, has := forms[tag.Get("is")]; has {
				k.Kind = form.name
			}
			if words := tag.Get("oneof"); words != "" {
				k.Kind = "words: " + strings.Join(strings.Fields(words), ", ")
			}
			if t.Kind() == reflect.Slice {
				k.Kind = cmp.Or(k.Kind, kindOf(t.Elem()).name)
				k.Kind = "list of " + k.Kind + "s"
			}
			if unit := tag.Get("unit"); unit != "" {
				k.Unit = unit
			}
			list = append(list, k)
		}
	})
	return list
}

// walk visits every key below a section that is no section itself.
func walk(section reflect.Value, prefix string, visit func(path string, f reflect.StructField, v reflect.Value)) {
	for f, v := range section.Fields() {
		name := f.Tag.Get("yaml")
		switch path := below(prefix, name); {
		case name == "": // none of the file's
		case isSection(f.Type):
			walk(v, path, visit)
		default:
			visit(path, f, v)
		}
	}
}

// below is the path of a key in a section; the file itself is the section "".
func below(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}

// entry is the path of an entry of a map with free keys.
func entry(path, name string) string { return path + "[" + strconv.Quote(name) + "]" }

// Values are the values of all keys as JSON texts, by the keys' paths; of a
// secret only whether there is one.
func (c Config) Values() map[string]string {
	values := map[string]string{}
	walk(reflect.ValueOf(&c).Elem(), "", func(path string, _ reflect.StructField, v reflect.Value) {
		text, err := json.Marshal(v.Interface())
		if err != nil {
			text = []byte(strconv.Quote(err.Error()))
		}
		values[path] = string(text)
	})
	return values
}
