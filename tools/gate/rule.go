package gate

// Rules as data, read from YAML.

import (
	"bytes"
	_ "embed" // the shipped rules
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:embed rules.yaml
var shipped []byte

// Rules are what is refused.
type Rules struct {
	// Intents are words for wanting something, by their names in Class.With.
	Intents map[string][]string `yaml:"intents"`
	// Procedure are words of which instructions are made.
	Procedure []string         `yaml:"procedure"`
	Classes   map[string]Class `yaml:"classes"`
	// Harmless are words that make something else of a term right before them.
	Harmless []string `yaml:"harmless"`
}

// Class is one kind of what is refused.
type Class struct {
	Reason string   `yaml:"reason"` // "it asks for …"
	With   []string `yaml:"with"`   // intents
	Terms  []string `yaml:"terms"`
	// Steps is how many different words of procedures around a term make a text
	// that tells how to; 0: none does.
	Steps int `yaml:"steps"`
}

// Load reads the shipped rules, those of the files over them, and leaves out the
// classes that are off. A class of a file adds to the shipped one of its name.
func Load(files, off []string) (Rules, error) {
	rules, err := read(shipped)
	if err != nil {
		return Rules{}, fmt.Errorf("the shipped rules of the gate: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return Rules{}, fmt.Errorf("gate.rules: %w", err)
		}
		more, err := read(text)
		if err != nil {
			return Rules{}, fmt.Errorf("gate.rules: %s: %w", file, err)
		}
		rules = rules.with(more)
	}
	for _, name := range off {
		if _, known := rules.Classes[name]; !known {
			return Rules{}, fmt.Errorf("gate.off: there is no class %q; there are %v", name, slices.Sorted(maps.Keys(rules.Classes)))
		}
		delete(rules.Classes, name)
	}
	return rules, rules.check()
}

func read(text []byte) (r Rules, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&r); err != nil && !errors.Is(err, io.EOF) {
		return Rules{}, err
	}
	return r, nil
}

// with are the rules with more of them.
func (r Rules) with(more Rules) Rules {
	for name, list := range more.Intents {
		r.Intents[name] = append(r.Intents[name], list...)
	}
	r.Procedure = append(r.Procedure, more.Procedure...)
	r.Harmless = append(r.Harmless, more.Harmless...)
	for name, c := range more.Classes {
		old := r.Classes[name]
		old.Terms, old.With = append(old.Terms, c.Terms...), append(old.With, c.With...)
		if c.Reason != "" {
			old.Reason = c.Reason
		}
		if c.Steps != 0 {
			old.Steps = c.Steps
		}
		r.Classes[name] = old
	}
	return r
}

func (r Rules) check() error {
	for name, c := range r.Classes {
		switch {
		case c.Reason == "":
			return fmt.Errorf("gate: class %s says no reason: what people are told", name)
		case len(c.Terms) == 0 || len(c.With) == 0:
			return fmt.Errorf("gate: class %s needs terms, and intents under with", name)
		}
		for _, intent := range c.With {
			if len(r.Intents[intent]) == 0 {
				return fmt.Errorf("gate: class %s names the intent %q, which there is not", name, intent)
			}
		}
	}
	return nil
}
