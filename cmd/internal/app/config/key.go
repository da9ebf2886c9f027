package config

import (
	"reflect"
	"strconv"
)

// Key is one key of the file as a person looks it up.
type Key struct {
	Path    string // "budget.run.usd"; NAME stands for a free key, [] for a list's entries
	Type    string // what a value looks like, or the words that are possible
	Default string // as one would write it; empty: none
	Unit    string // what a number counts; empty where it counts nothing
	Env     string // the variable that wins over the file; empty: none
}

// Keys lists every key of the file in its order, for the reference in the
// documentation.
func Keys() []Key { return keysOf(reflect.New(reflect.TypeFor[Config]()).Elem(), "") }

func keysOf(section reflect.Value, prefix string) []Key {
	var list []Key
	walk(section, prefix, func(path string, f reflect.StructField, v reflect.Value) {
		switch t := f.Type; {
		case t.Kind() == reflect.Map:
			list = append(list, keysOf(reflect.New(t.Elem()).Elem(), path+".NAME")...)
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
			list = append(list, keysOf(reflect.New(t.Elem()).Elem(), path+"[]")...)
		default:
			list = append(list, Key{path, typeName(f), f.Tag.Get("default"), unitOf(f), f.Tag.Get("env")})
		}
	})
	return list
}

// walk visits every key below a section that is no section itself.
func walk(section reflect.Value, prefix string, visit func(path string, f reflect.StructField, v reflect.Value)) {
	for f, v := range section.Fields() {
		name, path := f.Tag.Get("yaml"), ""
		if name == "" {
			continue
		}
		if path = below(prefix, name); isSection(f.Type) {
			walk(v, path, visit)
		} else {
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
