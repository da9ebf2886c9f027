package config

import (
	"errors"
	"os"
	"reflect"
	"strings"
)

// File is read where no other is named, if it exists.
const File = "deckhand.yaml"

// Error holds everything that is wrong with the configuration, one complaint a
// line: "deckhand.yaml:12: …".
type Error struct{ problems []problem }

// Error returns all complaints.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.problems))
	for _, p := range e.problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// Flags are the flags that win over the environment and the file. Empty: not
// given.
type Flags struct {
	Config    string // --config
	DataDir   string // --data-dir
	Workspace string // --workspace
	Model     string // --model
	Budget    string // --budget
	NoThought bool   // --no-thought
}

// Load reads the configuration: defaults, then the file (--config,
// DECKHAND_CONFIG, or ./deckhand.yaml where it exists), then the environment,
// then the flags. An empty variable counts as absent. The error is an *Error
// with every problem that was found.
func Load(flags Flags, env func(string) string) (Config, error) {
	path, from := flags.Config, "--config"
	if path == "" {
		path, from = env("DECKHAND_CONFIG"), "DECKHAND_CONFIG"
	}
	if path == "" {
		path, from = File, ""
	}
	r := &reader{file: path, origin: origins{}}
	data, err := readFile(path, maxConfig)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if from != "" {
			r.problem(origin{name: path}, "there is no such configuration file (named by "+from+")")
		}
	case errors.Is(err, errTooLarge):
		r.problem(origin{name: path}, "is too large for a configuration file (above 1 MiB)")
	case err != nil:
		r.problem(origin{name: path}, "cannot read the configuration: "+err.Error())
	}
	c := r.load(data, flags, env)
	if data != nil {
		c.File = path
	}
	if len(r.problems) > 0 {
		return Config{}, &Error{inOrder(r.problems)}
	}
	return c, nil
}

// Defaults is the configuration of a process that nobody configured.
func Defaults() Config {
	return (&reader{origin: origins{}}).load(nil, Flags{}, func(string) string { return "" })
}

// load lays a file's text, the environment and the flags over the defaults.
func (r *reader) load(data []byte, flags Flags, env func(string) string) Config {
	c := Config{origin: r.origin}
	v := reflect.ValueOf(&c).Elem()
	r.defaults(v)
	r.document(data, v)
	walk(v, "", func(path string, f reflect.StructField, v reflect.Value) {
		if name := f.Tag.Get("env"); name != "" {
			r.set(v, path, name, env(name), f.Tag)
		}
	})
	r.set(reflect.ValueOf(&c.DataDir).Elem(), "data_dir", "--data-dir", flags.DataDir, "")
	r.set(reflect.ValueOf(&c.Workspace).Elem(), "workspace", "--workspace", flags.Workspace, "")
	r.set(reflect.ValueOf(&c.Model.Name).Elem(), "model.name", "--model", flags.Model, "")
	if flags.NoThought {
		c.Model.Thought = false
	}
	if flags.Budget != "" {
		r.budget(&c.Budget.Run, flags.Budget)
	}
	if len(r.problems) == 0 {
		r.refer(&c, env)
		r.complete(&c)
	}
	return c
}
