package main

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

// reader turns a YAML document into a struct by its tags and collects every
// problem instead of stopping at the first.
type reader struct {
	file     string
	origin   origins
	problems []problem
}

// problem is one thing wrong in the file.
type problem struct {
	at   origin
	text string
}

func (p problem) String() string { return p.at.String() + ": " + p.text }

func (r *reader) failf(n *yaml.Node, key, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if key != "" {
		text = key + ": " + text
	}
	r.problems = append(r.problems, problem{origin{r.file, n.Line}, text})
}

// document reads the only document of a file into a struct.
func (r *reader) document(data []byte, v reflect.Value) {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, second yaml.Node
	if err := d.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			r.problems = append(r.problems, r.syntax(err))
		}
		return
	}
	r.value(doc.Content[0], v, "", rules{})
	if err := d.Decode(&second); err == nil {
		r.failf(&second, "", "a second document starts here: a configuration file has one")
	} else if !errors.Is(err, io.EOF) {
		r.problems = append(r.problems, r.syntax(err))
	}
}

var yamlLine = regexp.MustCompile(`^line ([0-9]+): `)

// syntax turns an error of the YAML parser into a problem with its line. The
// parser counts the lines of what it "did not find" from 0, all others from 1,
// and leaves out a first line.
func (r *reader) syntax(err error) problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		line, _ = strconv.Atoi(m[1]) // only digits; too many of them stay 0
		if strings.HasPrefix(text, "did not find expected") {
			line++
		}
	}
	return problem{origin{r.file, line}, "not YAML: " + text}
}

// value reads a node into v, whose bounds are the rules.
func (r *reader) value(n *yaml.Node, v reflect.Value, key string, bounds rules) {
	empty := n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
	switch {
	case n.Kind == yaml.AliasNode:
		r.failf(n, key, "*%s is a reference: write the value out", n.Value)
	case n.Style&yaml.TaggedStyle != 0:
		r.failf(n, key, "%s is a tag: write the value without one", n.Tag)
	case isScalar(v.Type()):
		r.scalar(n, v, key, bounds)
	case empty: // a section whose keys are all commented out
	case v.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		r.list(n, v, key, bounds)
	case v.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		r.entries(n, v, key, bounds)
	case v.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		r.section(n, v, key)
	default:
		r.failf(n, key, "expected %s, found %s", wanted(v.Type()), found(n))
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

func (r *reader) scalar(n *yaml.Node, v reflect.Value, key string, bounds rules) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		r.failf(n, key, "expected %s, found %s", wanted(v.Type()), found(n))
		return
	}
	text := n.Value
	if v.Type() == secretType {
		s, err := readSecret(r.path(text))
		if err != nil {
			r.failf(n, key, "%v", err)
		}
		v.Set(reflect.ValueOf(s))
		return
	}
	x, err := parse(v.Type(), text)
	if err == nil {
		err = bounds.check(x, text)
	}
	if err != nil {
		r.failf(n, key, "%v", err)
		return
	}
	if bounds.form == "path" {
		x.SetString(r.path(text))
	}
	v.Set(x)
}

// path resolves a path of the file from the file's folder.
func (r *reader) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(r.file), p)
}

func (r *reader) list(n *yaml.Node, v reflect.Value, key string, bounds rules) {
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, child := range n.Content {
		at := key + "[" + strconv.Itoa(i) + "]"
		r.origin[at] = origin{r.file, child.Line}
		if err := setDefaults(out.Index(i)); err != nil {
			r.failf(child, at, "%v", err)
		}
		r.value(child, out.Index(i), at, bounds)
	}
	v.Set(out)
}

// pairs calls yield for every key of a mapping with its value, once each.
func (r *reader) pairs(n *yaml.Node, key string, yield func(name, value *yaml.Node)) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		first, twice := lines[name.Value]
		switch {
		case name.Kind != yaml.ScalarNode:
			r.failf(name, key, "expected a key, found %s", found(name))
		case twice:
			r.failf(name, "", "key %q is there twice: the first is in line %d", below(key, name.Value), first)
		default:
			lines[name.Value] = name.Line
			yield(name, value)
		}
	}
}

// entries reads a map with free keys; its bounds hold the form of the keys.
func (r *reader) entries(n *yaml.Node, v reflect.Value, key string, bounds rules) {
	out := reflect.MakeMap(v.Type())
	r.pairs(n, key, func(name, value *yaml.Node) {
		at := member(key, name.Value)
		if bounds.form != "" {
			if err := checkForm(bounds.form, name.Value); err != nil {
				r.failf(name, key, "%v", err)
			}
		}
		r.origin[at] = origin{r.file, name.Line}
		entry := reflect.New(v.Type().Elem()).Elem()
		if err := setDefaults(entry); err != nil {
			r.failf(name, at, "%v", err)
		}
		r.value(value, entry, at, rules{})
		out.SetMapIndex(reflect.ValueOf(name.Value), entry)
	})
	v.Set(out)
}

// section reads a mapping into a struct.
func (r *reader) section(n *yaml.Node, v reflect.Value, key string) {
	fields := fieldsOf(v.Type())
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.key)
	}
	seen := map[string]bool{}
	r.pairs(n, key, func(name, value *yaml.Node) {
		i := slices.Index(names, name.Value)
		if i < 0 {
			r.failf(name, "", "unknown key %q %s", below(key, name.Value), didYouMean(name.Value, names))
			return
		}
		f, at := fields[i], below(key, name.Value)
		seen[f.key] = true
		r.origin[at] = origin{r.file, name.Line}
		bounds := rulesOf(f.tag)
		if f.kind.Kind() == reflect.Map {
			bounds.form = f.tag.Get("keys")
		}
		r.value(value, v.Field(f.index), at, bounds)
	})
	for _, f := range fields {
		if f.tag.Get("required") != "" && !seen[f.key] {
			r.failf(n, key, "%q is missing", f.key)
		}
	}
}

// inOrder sorts problems by line and drops what is said twice.
func inOrder(problems []problem) []problem {
	slices.SortStableFunc(problems, func(a, b problem) int { return cmp.Compare(a.at.line, b.at.line) })
	return slices.Compact(problems)
}
