package config

// This file holds the keys of the families of tools that reach out: the web,
// HTTP APIs, posts, git and pictures.

import (
	"fmt"
	"maps"
	"slices"
)

// Search is the engine behind web_search; without a Kind there is no such tool.
type Search struct {
	Kind string `yaml:"kind" oneof:"searxng brave tavily json"`
	URL  string `yaml:"url" is:"url"`
	Key  Secret `yaml:"key_file" env:"DECKHAND_SEARCH_KEY"`
}

// Web is browse_website. Private are hosts of one's own network that it may read,
// Browser is the path of a headless browser for pages that programs write.
type Web struct {
	Enabled bool     `yaml:"enabled" default:"true"`
	Private []string `yaml:"private" is:"host"`
	Browser string   `yaml:"browser" is:"path"`
}

// Requests is http_request; without Hosts there is no such tool. Credentials are
// named by the model and never seen by it.
type Requests struct {
	Hosts       []string                   `yaml:"hosts" is:"host"`
	Credentials map[string]HostCredentials `yaml:"credentials" keys:"source"`
}

// HostCredentials go to their Hosts and nowhere else.
type HostCredentials struct {
	Hosts      []string         `yaml:"hosts" is:"host" required:"true"`
	Bearer     Value            `yaml:"bearer"`
	BearerFile Secret           `yaml:"bearer_file"`
	Basic      Value            `yaml:"basic"` // user:password
	BasicFile  Secret           `yaml:"basic_file"`
	Header     map[string]Value `yaml:"header"`
}

// Whole are the credentials with their ways to be asked for.
func (h HostCredentials) Whole() Credentials {
	return Credentials{Bearer: h.Bearer, BearerFile: h.BearerFile, Basic: h.Basic, BasicFile: h.BasicFile, Header: h.Header}
}

// PostExternal is where post_external posts; without a URL it only says what it
// would post.
type PostExternal struct {
	URL        string           `yaml:"url" is:"url"`
	Field      string           `yaml:"field" default:"text"`
	Bearer     Value            `yaml:"bearer"`
	BearerFile Secret           `yaml:"bearer_file"`
	Header     map[string]Value `yaml:"header"`
}

// Whole are the credentials of the posts.
func (p PostExternal) Whole() Credentials {
	return Credentials{Bearer: p.Bearer, BearerFile: p.BearerFile, Header: p.Header}
}

// Git is what the tools of git may reach and as whom they commit.
type Git struct {
	Enabled bool     `yaml:"enabled" default:"true"`
	Hosts   []string `yaml:"hosts" is:"host"`
	Name    string   `yaml:"name" default:"Deckhand"`
	Email   string   `yaml:"email" default:"deckhand@localhost"`
}

// Images is generate_image, over the model's endpoint; without a Model there is
// no such tool.
type Images struct {
	Model string `yaml:"model"`
	Size  string `yaml:"size" default:"1024x1024"`
}

// referFamilies puts variables and files into the places of their names, and
// refuses what no single key shows to be wrong.
func (r *reader) referFamilies(c *Config, env func(string) string) {
	for _, name := range slices.Sorted(maps.Keys(c.Tools.HTTP.Credentials)) {
		h, at := c.Tools.HTTP.Credentials[name], entry("tools.http.credentials", name)
		h.Bearer, h.Basic, h.Header = r.expanded(h.Bearer, at+".bearer", env), r.expanded(h.Basic, at+".basic", env), r.filled(h.Header, at+".header", env)
		c.Tools.HTTP.Credentials[name] = h
	}
	p := &c.Tools.PostExternal
	p.Bearer, p.Header = r.expanded(p.Bearer, "tools.post_external.bearer", env), r.filled(p.Header, "tools.post_external.header", env)
	s := c.Search
	switch {
	case s.Kind == "" && s.URL != "":
		r.reject("search.url", `"kind" is missing beside it: searxng, brave, tavily or json`)
	case (s.Kind == "searxng" || s.Kind == "json") && s.URL == "":
		r.reject("search.kind", fmt.Sprintf(`%s needs "url" beside it`, s.Kind))
	case (s.Kind == "brave" || s.Kind == "tavily") && !s.Key.Present():
		r.reject("search.kind", s.Kind+` needs "key_file" beside it, or DECKHAND_SEARCH_KEY`)
	}
}
