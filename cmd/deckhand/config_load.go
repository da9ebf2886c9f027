package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
)

// configFile is read where no other is named, if it exists.
const configFile = "deckhand.yaml"

// maxConfig bounds the configuration file, in bytes.
const maxConfig = 1 << 20

// configError holds everything that is wrong with the configuration, one
// complaint a line: "deckhand.yaml:12: …".
type configError struct{ problems []problem }

func (e *configError) Error() string {
	lines := make([]string, 0, len(e.problems))
	for _, p := range e.problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// overrides are the flags that win over the environment and the file. Empty:
// not given.
type overrides struct {
	Config    string // --config
	DataDir   string // --data-dir
	Workspace string // --workspace
	Model     string // --model
	Budget    string // --budget
}

// loadConfig reads the configuration: defaults, then the file (--config,
// DECKHAND_CONFIG, or ./deckhand.yaml where it exists), then the environment,
// then the flags. An empty variable counts as absent. The error is a
// *configError with every problem that was found.
func loadConfig(flags overrides, env func(string) string) (config, error) {
	path, from := flags.Config, "--config"
	if path == "" {
		path, from = env("DECKHAND_CONFIG"), "DECKHAND_CONFIG"
	}
	if path == "" {
		path, from = configFile, ""
	}
	data, problems := readConfig(path, from)
	r := &reader{file: path, origin: origins{}, problems: problems}
	c := r.load(data, flags, env)
	if data != nil {
		c.file = path
	}
	if len(r.problems) > 0 {
		return config{}, &configError{inOrder(r.problems)}
	}
	return c, nil
}

// load lays a file's text, the environment and the flags over the defaults.
func (r *reader) load(data []byte, flags overrides, env func(string) string) config {
	c := config{origin: r.origin}
	v := reflect.ValueOf(&c).Elem()
	if err := setDefaults(v); err != nil {
		r.problems = append(r.problems, problem{origin{name: "built-in default"}, err.Error()})
	}
	r.document(data, v)
	r.environment(v, "", env)
	r.flags(&c, flags)
	if len(r.problems) == 0 {
		r.complete(&c)
	}
	return c
}

// readConfig reads the file at path; from is the flag or the variable that
// named it, "" for the file that need not exist.
func readConfig(path, from string) ([]byte, []problem) {
	f, err := os.Open(path)
	switch {
	case err != nil && from == "" && errors.Is(err, os.ErrNotExist):
		return nil, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, []problem{{origin{name: path}, "there is no such configuration file (named by " + from + ")"}}
	case err != nil:
		return nil, []problem{{origin{name: path}, "cannot read the configuration: " + err.Error()}}
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	switch {
	case err != nil:
		return nil, []problem{{origin{name: path}, "cannot read the configuration: " + err.Error()}}
	case len(data) > maxConfig:
		return nil, []problem{{origin{name: path}, "is too large for a configuration file (above 1 MiB)"}}
	}
	return data, nil
}

// environment lays the variables over the file.
func (r *reader) environment(v reflect.Value, key string, env func(string) string) {
	for _, f := range fieldsOf(v.Type()) {
		at, name := below(key, f.key), f.tag.Get("env")
		if f.kind.Kind() == reflect.Struct && f.kind != secretType {
			r.environment(v.Field(f.index), at, env)
			continue
		}
		if name == "" || env(name) == "" {
			continue
		}
		if f.kind == secretType {
			v.Field(f.index).Set(reflect.ValueOf(newSecret(strings.TrimSpace(env(name)))))
			r.origin[at] = origin{name: name}
			continue
		}
		r.set(v.Field(f.index), at, name, env(name), rulesOf(f.tag))
	}
}

// flags lays the flags over everything else.
func (r *reader) flags(c *config, o overrides) {
	for _, f := range []struct {
		name, key, text string
		to              *string
	}{
		{"--data-dir", "data_dir", o.DataDir, &c.DataDir},
		{"--workspace", "workspace", o.Workspace, &c.Workspace},
		{"--model", "model.name", o.Model, &c.Model.Name},
	} {
		if f.text != "" {
			r.set(reflect.ValueOf(f.to).Elem(), f.key, f.name, f.text, rules{})
		}
	}
	if o.Budget != "" {
		r.budget(&c.Budget.Run, o.Budget)
	}
}

// set gives a key the text of a variable or a flag.
func (r *reader) set(v reflect.Value, key, name, text string, bounds rules) {
	x, err := parse(v.Type(), text)
	if err == nil {
		err = bounds.check(x, text)
	}
	if err != nil {
		r.problems = append(r.problems, problem{origin{name: name}, err.Error()})
		return
	}
	v.Set(x)
	r.origin[key] = origin{name: name}
}

// complete fills in what follows from other keys and refuses what no single
// key shows to be wrong.
func (r *reader) complete(c *config) {
	if c.Model.Fast == "" {
		c.Model.Fast = c.Model.Name
	}
	for name, p := range c.Model.Prices {
		if !c.given(member("model.prices", name) + ".cached") {
			p.Cached = p.Input
			c.Model.Prices[name] = p
		}
	}
	r.completeQuorum(c)
	names := map[string]string{}
	for i, s := range c.Schedules {
		at := fmt.Sprintf("schedules[%d]", i)
		if (s.Report == "") == (s.Goal == "") {
			r.reject(at, `one of "report" and "goal" is needed, and only one`)
		}
		if first, twice := names[s.Name]; twice {
			r.reject(at+".name", fmt.Sprintf("%q is taken: the first is at %s", s.Name, first))
		}
		names[s.Name] = c.at(at + ".name")
		if s.Zone == "" {
			c.Schedules[i].Zone = c.Zone
		}
	}
}

// completeQuorum refuses a quorum that the approvers, or the reviewers, could
// never reach. How many a group or a role has is not known here.
func (r *reader) completeQuorum(c *config) {
	r.reachable(c, "authority.approvers", c.Authority.Approvers)
	r.reachable(c, "authority.reviewers", c.Authority.Reviewers)
}

func (r *reader) reachable(c *config, key string, people []string) {
	several := func(p string) bool { return strings.HasPrefix(p, "slack:S") || strings.Contains(p, "&") }
	if len(people) == 0 || slices.ContainsFunc(people, several) {
		return
	}
	most, but := len(people), ""
	if !c.Authority.RequesterMayApprove {
		most, but = most-1, " when one of them is the requester"
	}
	if c.Authority.Quorum > 1 && c.Authority.Quorum > most {
		r.reject("authority.quorum", fmt.Sprintf("%d people must approve, but %s can be %d%s: nothing would ever be approved", c.Authority.Quorum, key, most, but))
	}
}

// reject notes a problem at a key.
func (r *reader) reject(key, text string) {
	r.problems = append(r.problems, problem{r.origin[key], key + ": " + text})
}
