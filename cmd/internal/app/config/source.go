package config

// This file holds the keys of what a team connects: MCP servers and OpenAPI
// documents, and the values in them that may be secrets.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MCPServer is a server of the Model Context Protocol, in the shape that other
// programs have for it: a Command that is started, or a URL.
type MCPServer struct {
	Command string `yaml:"command"`
	// Args and the values of Env and Headers may name variables: ${NAME}, or
	// ${NAME:-otherwise}. A key of Env or Headers that ends with "_file" names the
	// file that holds the value of the key without that ending.
	Args     []Value          `yaml:"args"`
	Env      map[string]Value `yaml:"env"`
	Cwd      string           `yaml:"cwd" is:"path"`
	URL      string           `yaml:"url" is:"url"`
	Headers  map[string]Value `yaml:"headers"`
	Type     string           `yaml:"type" oneof:"stdio http streamable-http streamableHttp"` // follows from the others
	Timeout  time.Duration    `yaml:"timeout" default:"2m" min:"100ms"`
	Disabled bool             `yaml:"disabled" default:"false"`
	// Sandbox starts Command in the sandbox, where it reaches Network, sees Read and
	// changes Write, and nothing else of this host's.
	Sandbox bool     `yaml:"sandbox" default:"false"`
	Network []string `yaml:"network" is:"host"`
	Read    []string `yaml:"read" is:"path"`
	Write   []string `yaml:"write" is:"path"`
}

// OpenAPI is an OpenAPI 3 document whose operations are tools.
type OpenAPI struct {
	Document    string        `yaml:"document" is:"document" required:"true"`
	Server      string        `yaml:"server" is:"url"` // empty: the document's first
	Credentials Credentials   `yaml:"credentials"`
	Timeout     time.Duration `yaml:"timeout" default:"1m" min:"100ms"`
	Disabled    bool          `yaml:"disabled" default:"false"`
}

// Credentials go into every request. Their values may name variables, and a key
// of Header, Query or Cookie that ends with "_file" names a file, as those of
// MCPServer do.
type Credentials struct {
	Bearer     Value            `yaml:"bearer"`
	BearerFile Secret           `yaml:"bearer_file"`
	Basic      Value            `yaml:"basic"` // user:password
	BasicFile  Secret           `yaml:"basic_file"`
	Header     map[string]Value `yaml:"header"`
	Query      map[string]Value `yaml:"query"`
	Cookie     map[string]Value `yaml:"cookie"`
}

// Value is a text that may hold secrets: it prints as Secret does.
type Value struct {
	Secret
	referred []string // what came from variables and files
}

// Values are the values under their keys.
func Values(m map[string]Value) map[string]string {
	out := make(map[string]string, len(m))
	for name, v := range m {
		out[name] = v.Reveal()
	}
	return out
}

// secretName is the name of a value that is a secret, however it was given.
var secretName = regexp.MustCompile(`(?i)token|key|secret|passw|credential|authorization|cookie`)

// Secrets are the values that nobody is shown: all of the credentials.
func (c Credentials) Secrets() []string {
	list := []string{c.Token(), c.Login()}
	for _, m := range []map[string]Value{c.Header, c.Query, c.Cookie} {
		for _, v := range m {
			list = append(list, v.Reveal())
		}
	}
	if _, password, is := strings.Cut(c.Login(), ":"); is {
		list = append(list, password)
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// Token is the bearer token, empty where there is none.
func (c Credentials) Token() string { return cmp.Or(c.BearerFile.Reveal(), c.Bearer.Reveal()) }

// Login is "user:password", empty where there is none.
func (c Credentials) Login() string { return cmp.Or(c.BasicFile.Reveal(), c.Basic.Reveal()) }

// Secrets are the values that nobody is shown: those that came from a variable or
// a file, and those whose name says so.
func (s MCPServer) Secrets() []string {
	var list []string
	for _, m := range []map[string]Value{s.Env, s.Headers} {
		for name, v := range m {
			if v.referred != nil {
				list = append(list, v.referred...)
			}
			if secretName.MatchString(name) {
				text := v.Reveal()
				list = append(list, text)
				if _, token, is := strings.Cut(text, " "); is { // Bearer TOKEN
					list = append(list, token)
				}
			}
		}
	}
	for _, v := range s.Args {
		list = append(list, v.referred...)
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// reference is ${NAME} or ${NAME:-otherwise}.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// refer puts variables and files into the places of their names.
func (r *reader) refer(c *Config, env func(string) string) {
	r.referServers(c, env)
	r.referDocuments(c, env)
	r.referFamilies(c, env)
	if c.Currency.Rates != "" && !strings.Contains(c.Currency.Rates, "://") {
		c.Currency.Rates = r.beside(c.Currency.Rates)
	}
}

func (r *reader) referServers(c *Config, env func(string) string) {
	for name, s := range c.MCPServers {
		at := entry("mcpServers", name)
		for i := range s.Args {
			s.Args[i] = r.expanded(s.Args[i], fmt.Sprintf("%s.args[%d]", at, i), env)
		}
		s.Env, s.Headers = r.filled(s.Env, at+".env", env), r.filled(s.Headers, at+".headers", env)
		c.MCPServers[name] = s
		switch {
		case (s.Command == "") == (s.URL == ""):
			r.reject(at, `one of "command" and "url" is needed, and only one`)
		case s.Command != "" && s.Type != "" && s.Type != "stdio", s.URL != "" && s.Type == "stdio":
			r.reject(at+".type", fmt.Sprintf("%q does not fit: a command is stdio, a url is http", s.Type))
		case s.Command == "" && (len(s.Args) > 0 || len(s.Env) > 0):
			r.reject(at, `"args" and "env" belong to a command; a url takes "headers"`)
		case s.URL == "" && len(s.Headers) > 0:
			r.reject(at, `"headers" belong to a url; a command takes "env"`)
		}
	}
}

func (r *reader) referDocuments(c *Config, env func(string) string) {
	for name, o := range c.OpenAPI {
		at := entry("openapi", name)
		if _, twice := c.MCPServers[name]; twice {
			r.reject(at, fmt.Sprintf("the name %q is taken by mcpServers, and names of tools begin with it: choose another", name))
		}
		if !strings.Contains(o.Document, "://") {
			o.Document = r.beside(o.Document)
		}
		k, here := &o.Credentials, at+".credentials"
		k.Bearer, k.Basic = r.expanded(k.Bearer, here+".bearer", env), r.expanded(k.Basic, here+".basic", env)
		k.Header, k.Query, k.Cookie = r.filled(k.Header, here+".header", env), r.filled(k.Query, here+".query", env), r.filled(k.Cookie, here+".cookie", env)
		if login := k.Login(); login != "" && !strings.Contains(login, ":") {
			r.reject(here, "basic is written as user:password")
		}
		c.OpenAPI[name] = o
	}
}

// fileEnding marks a key whose value is the name of a file.
const fileEnding = "_file"

// filled are values with variables and files in their places.
func (r *reader) filled(m map[string]Value, at string, env func(string) string) map[string]Value {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := r.expanded(m[name], entry(at, name), env)
		key, isFile := strings.CutSuffix(name, fileEnding)
		if isFile {
			delete(m, name)
			s, err := readSecret(r.beside(v.Reveal()))
			if err != nil {
				r.reject(entry(at, name), err.Error())
				continue
			}
			name, v = key, Value{Secret: s, referred: []string{s.Reveal()}}
		}
		m[name] = v
	}
	return m
}

// expanded is a value with the variables in it.
func (r *reader) expanded(v Value, at string, env func(string) string) Value {
	text := v.Reveal()
	if !strings.Contains(text, "${") {
		return v
	}
	var used []string
	text = reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		if x := env(parts[1]); x != "" {
			used = append(used, x)
			return x
		}
		if parts[2] == "" {
			r.reject(at, fmt.Sprintf("the variable %s is not set; set it, or write ${%s:-otherwise}", parts[1], parts[1]))
		}
		return strings.TrimPrefix(parts[2], ":-")
	})
	return Value{Secret: NewSecret(text), referred: used}
}

// checkDocument accepts a path and a URL without a user.
func checkDocument(text string) error {
	if !strings.Contains(text, "://") {
		if text == "" || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%q is no path", text)
		}
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return errors.New("not a file, nor a URL such as https://example.com/openapi.json (http or https, without a user)")
	}
	return nil
}
