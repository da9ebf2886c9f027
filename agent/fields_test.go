package agent

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// field is one field of a body's JSON, with the way to it.
type field struct {
	name string // kind/json.path
	body Body   // of the kind, with nothing but the field set
}

// fieldsOf lists the fields of a type, those of structs within it as well.
func fieldsOf(kind Kind, root reflect.Type) (all []field) {
	var walk func(t reflect.Type, path string, set func(reflect.Value) reflect.Value)
	walk = func(t reflect.Type, path string, at func(root reflect.Value) reflect.Value) {
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			in := func(root reflect.Value) reflect.Value { return at(root).FieldByIndex(f.Index) }
			if !f.Anonymous {
				body := reflect.New(root).Elem()
				fill(in(body))
				b, _ := reflect.TypeAssert[Body](body)
				all = append(all, field{string(kind) + path + "." + name, b})
				name = path + "." + name
			} else {
				name = path
			}
			inner, of := f.Type, in
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
				outer, into := of, inner
				of = func(root reflect.Value) reflect.Value {
					v := outer(root)
					if into.Kind() == reflect.Slice {
						v.Set(reflect.MakeSlice(into, 1, 1))
						return v.Index(0)
					}
					v.Set(reflect.New(into.Elem()))
					return v.Elem()
				}
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner.NumField() > 0 && inner.Field(0).IsExported() {
				walk(inner, name, of)
			}
		}
	}
	walk(root, "", func(root reflect.Value) reflect.Value { return root })
	return all
}

// fill sets a value to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64:
		v.SetUint(2)
	case reflect.Float64:
		v.SetFloat(2)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct: // its fields are looked at one by one
	default:
		v.SetInt(2)
	}
}

// words reads testdata/fields.txt: what each field means to builds that do not
// know it.
func words(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "fields.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all := map[string][]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] != "#" {
			all[words[0]] = words[1:]
		}
	}
	return all
}

// A replica of an older build skips fields that it does not know. Each field
// therefore has a word on whether it may: one that changes what is decided gives
// the bodies that have it a version of their own, and nothing else does.
func TestEachFieldHasAWord(t *testing.T) {
	said := words(t)
	for _, b := range samples {
		for _, f := range fieldsOf(b.Kind(), reflect.TypeOf(b)) {
			word, known := said[f.name]
			delete(said, f.name)
			want := 1
			switch {
			case !known:
				t.Errorf("%s is a new field. Does it change what is decided about a run? Then older builds must not work it: "+
					"append a step to its shape in codec.go, with the next Generation, and add the line %q to testdata/fields.txt; "+
					"otherwise add %q.", f.name, f.name+" decides VERSION", f.name+" ignorable WHY")
				continue
			case word[0] == "decides" && len(word) == 2:
				want, _ = strconv.Atoi(word[1])
			case word[0] == "first" && len(word) == 1:
			case word[0] == "ignorable" && len(word) > 1:
			default:
				t.Errorf("%s: no word: %q", f.name, word)
			}
			if got := Version(f.body); got != want {
				t.Errorf("%s: a body that sets it is written in version %d, want %d", f.name, got, want)
			}
		}
	}
	for name := range said {
		t.Errorf("%s is in testdata/fields.txt and in no body: fields are never taken away, journals keep them", name)
	}
}

// What decides is fenced: its version is newer, its generation one that older
// builds do not have; and what they can tell as well is written as they know it.
func TestGenerations(t *testing.T) {
	plain, guarded := RunStarted{Goal: "a", Quorum: 1}, RunStarted{Goal: "a", Reviewers: []string{"slack:U7"}}
	for _, tt := range []struct {
		body           Body
		version, needs int
	}{
		{plain, 1, 0}, {guarded, 2, 1}, {RunStarted{Quorum: 2}, 2, 1}, {RunStarted{Direct: true}, 2, 1},
		{CheckpointOpened{Ask: CheckApproval}, 1, 0}, {CheckpointOpened{Ask: CheckApproval, Review: true}, 2, 1},
		{TimePassed{}, 1, 0},
	} {
		e := Event{Run: "r1", Strand: Main, Seq: 1, At: noon, Body: tt.body}
		line, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if is := strings.Contains(string(line), fmt.Sprintf(`"v":%d`, tt.version)); is != (tt.version > 1) || Version(tt.body) != tt.version {
			t.Errorf("%s is written in version %d, want %d", line, Version(tt.body), tt.version)
		}
		if got := Needs([]Event{{Body: TimePassed{}}, e}); got != tt.needs {
			t.Errorf("%s needs generation %d, want %d", line, got, tt.needs)
		}
	}
	for kind, s := range builtin {
		for i, step := range s.steps {
			if step.generation < 1 || step.generation > Generation {
				t.Errorf("%s version %d is of generation %d; this build is of generation %d", kind, i+2, step.generation, Generation)
			}
		}
	}
}
