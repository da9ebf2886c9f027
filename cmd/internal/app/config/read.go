package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader fills a Config from its sources and collects every problem instead of
// stopping at the first. The library's own strict decoding knows neither where
// a value was written nor the key that it belongs to, so its nodes are walked
// beside the struct.
type reader struct {
	file     string
	origin   origins
	problems []problem
}

// problem is one thing that is wrong, and where.
type problem struct {
	at   origin
	text string
}

func (p problem) String() string { return p.at.String() + ": " + p.text }

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

func (r *reader) problem(at origin, text string) { r.problems = append(r.problems, problem{at, text}) }

// failf notes a problem of a node, with its key where it has one.
func (r *reader) failf(n *yaml.Node, path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	r.problem(origin{r.file, n.Line}, text)
}

// inOrder sorts problems by line and drops what is said twice.
func inOrder(problems []problem) []problem {
	slices.SortStableFunc(problems, func(a, b problem) int { return cmp.Compare(a.at.line, b.at.line) })
	return slices.Compact(problems)
}

// document reads the only document of a file into a section.
func (r *reader) document(data []byte, v reflect.Value) {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	if err == nil {
		r.value(doc.Content[0], v, "", "")
		if err = d.Decode(&second); err == nil {
			r.failf(&second, "", "a second document starts here: a configuration file has one")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.syntax(err)
	}
}

var yamlLine = regexp.MustCompile(`^line ([0-9]+): `)

// syntax notes an error of the YAML parser with its line. The parser counts
// the lines of what it "did not find" from 0, all others from 1, and leaves
// out a first line.
func (r *reader) syntax(err error) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		line, _ = strconv.Atoi(m[1]) // only digits; too many of them stay 0
		if strings.HasPrefix(text, "did not find expected") {
			line++
		}
	}
	r.problem(origin{r.file, line}, "not YAML: "+text)
}

// value reads a node into v, within the bounds of the tag.
func (r *reader) value(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	empty := n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
	switch k := kindOf(v.Type()); {
	case n.Kind == yaml.AliasNode:
		r.failf(n, path, "*%s is a reference: write the value out", n.Value)
	case n.Style&yaml.TaggedStyle != 0:
		r.failf(n, path, "%s is a tag: write the value without one", n.Tag)
	case empty && k.parse == nil: // a section whose keys are all commented out
	case empty || n.Kind != k.node:
		r.failf(n, path, "expected %s, found %s", k.like, found(n))
	case k.parse != nil:
		r.scalar(n, v, path, tag)
	case v.Kind() == reflect.Slice:
		r.list(n, v, path, tag)
	case v.Kind() == reflect.Map:
		r.entries(n, v, path, tag)
	default:
		r.section(n, v, path)
	}
}

// found describes a node to a person who expected something else.
func found(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "keys with values"
	case n.ShortTag() == "!!null":
		return "nothing"
	default:
		return strconv.Quote(n.Value)
	}
}

// scalar reads one text. Paths start at the file's own folder, and a secret is
// in the file that the text names.
func (r *reader) scalar(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	x, err := read(v.Type(), n.Value, tag)
	switch {
	case err != nil:
	case v.Type() == reflect.TypeFor[Secret]():
		var s Secret
		s, err = readSecret(r.beside(n.Value))
		x = reflect.ValueOf(s)
	case tag.Get("is") == "path":
		x.SetString(r.beside(n.Value))
	}
	if err != nil {
		r.failf(n, path, "%v", err)
		return
	}
	v.Set(x)
}

// beside resolves a path of the file from the file's folder.
func (r *reader) beside(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(r.file), p)
}

func (r *reader) list(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, child := range n.Content {
		r.element(child, child, v.Index(i), path+"["+strconv.Itoa(i)+"]", tag)
	}
}

// entries reads a map with free keys, whose form the tag tells.
func (r *reader) entries(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	v.Set(reflect.MakeMap(v.Type()))
	r.pairs(n, path, func(name, value *yaml.Node) {
		if form, has := forms[tag.Get("keys")]; has {
			if err := form.check(name.Value); err != nil {
				r.failf(name, path, "%v", err)
			}
		}
		e := reflect.New(v.Type().Elem()).Elem()
		inner := reflect.StructTag("")
		if !isSection(e.Type()) {
			inner = tag // of each value
		}
		r.element(name, value, e, entry(path, name.Value), inner)
		v.SetMapIndex(reflect.ValueOf(name.Value), e)
	})
}

// element reads a member of a list or a map, which starts with the defaults of
// its type.
func (r *reader) element(at, value *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	r.origin[path] = origin{r.file, at.Line}
	r.defaults(v)
	r.value(value, v, path, tag)
}

// section reads a mapping into a struct.
func (r *reader) section(n *yaml.Node, v reflect.Value, path string) {
	fields, names, seen := map[string]reflect.StructField{}, []string(nil), map[string]bool{}
	for f := range v.Type().Fields() {
		if name := f.Tag.Get("yaml"); name != "" {
			fields[name], names = f, append(names, name)
		}
	}
	r.pairs(n, path, func(name, value *yaml.Node) {
		f, known := fields[name.Value]
		if !known {
			r.failf(name, "", "unknown key %q %s", below(path, name.Value), didYouMean(name.Value, names))
			return
		}
		at := below(path, name.Value)
		seen[name.Value], r.origin[at] = true, origin{r.file, name.Line}
		r.value(value, v.FieldByIndex(f.Index), at, f.Tag)
	})
	for _, name := range names {
		if fields[name].Tag.Get("required") != "" && !seen[name] {
			r.failf(n, path, "%q is missing", name)
		}
	}
}

// pairs calls yield for every key of a mapping with its value, once each.
func (r *reader) pairs(n *yaml.Node, path string, yield func(name, value *yaml.Node)) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		first, twice := lines[name.Value]
		switch {
		case name.Kind != yaml.ScalarNode:
			r.failf(name, path, "expected a key, found %s", found(name))
		case twice:
			r.failf(name, "", "key %q is there twice: the first is in line %d", below(path, name.Value), first)
		default:
			lines[name.Value] = name.Line
			yield(name, value)
		}
	}
}

// defaults gives the keys of a section, and of those below it, the values of
// their tags.
func (r *reader) defaults(v reflect.Value) {
	if !isSection(v.Type()) {
		return
	}
	walk(v, "", func(path string, f reflect.StructField, v reflect.Value) {
		text, has := f.Tag.Lookup("default")
		if !has {
			return
		}
		x, err := parse(f.Type, text)
		if err != nil {
			r.problem(origin{name: "built-in default"}, fmt.Sprintf("%s: %v", path, err))
			return
		}
		v.Set(x)
	})
}

// set gives a key the text of a variable or a flag, where there is one.
func (r *reader) set(v reflect.Value, path, name, text string, tag reflect.StructTag) {
	if text == "" {
		return
	}
	x, err := read(v.Type(), text, tag)
	if err != nil {
		r.problem(origin{name: name}, err.Error())
		return
	}
	v.Set(x)
	r.origin[path] = origin{name: name}
}
