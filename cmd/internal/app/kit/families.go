package kit

// This file makes the families of tools that reach out: the web, HTTP APIs, posts,
// git and pictures. Each is there where the configuration gives it what it needs, and each goes out
// through tools/egress.

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/git"
	"github.com/deckhand-bot/deckhand/tools/image"
	"github.com/deckhand-bot/deckhand/tools/page"
	"github.com/deckhand-bot/deckhand/tools/request"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/web"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// readCommand begins this program as the reader of a document.
const readCommand = "read-page"

// family is what families of tools are made from.
type family struct {
	o     Options
	space *workspace.Workspace
	box   *sandbox.Sandbox
	self  string
}

// tools are those of all families.
func (f family) tools() ([]agent.Tool, error) {
	var list []agent.Tool
	for _, of := range []func() ([]agent.Tool, error){f.browse, f.search, f.requests, f.post, f.git, f.images} {
		made, err := of()
		if err != nil {
			return nil, err
		}
		list = append(list, made...)
	}
	return list, nil
}

// guard is the way out to hosts that the configuration names, wherever they are,
// and, where others is true, to all others that tools may reach.
func (f family) guard(named []string, others bool, patience time.Duration) (*egress.Guard, error) {
	c := f.o.Config
	hosts := c.Tools.Hosts
	if !others {
		hosts = named
	}
	return egress.New(egress.Config{Hosts: hosts, AllowPrivate: named, Off: !c.Tools.Internet, Bytes: web.MaxBytes, Time: patience, Redirects: web.Redirects})
}

// browse is browse_website. With the internet switched off it is there for hosts
// of one's own.
func (f family) browse() ([]agent.Tool, error) {
	c := f.o.Config
	if !c.Web.Enabled || !c.Tools.Internet && len(c.Web.Private) == 0 {
		return nil, nil
	}
	g, err := f.guard(c.Web.Private, true, web.MaxTime)
	if err != nil {
		return nil, fmt.Errorf("web.private: %w", err)
	}
	// a child that confines itself needs nothing to be installed
	plain, err := sandbox.New(sandbox.Config{Self: []string{f.self, confineCommand}, Driver: sandbox.Child})
	if err != nil {
		return nil, err
	}
	hosts := c.Tools.Hosts
	if len(hosts) == 0 {
		hosts = []string{"*"}
	}
	return []agent.Tool{web.NewBrowse(web.Config{
		Guard: g, Reader: page.NewReader(plain, []string{f.self, readCommand}), Save: keeper{f.space}.save, Version: f.o.Version,
		Browser: web.Browser{Sandbox: f.box, Program: c.Web.Browser, Hosts: hosts},
	})}, nil
}

// search is web_search.
func (f family) search() ([]agent.Tool, error) {
	s := f.o.Config.Search
	if s.Kind == "" {
		return nil, nil
	}
	engine := web.Engine{Kind: s.Kind, URL: s.URL, Key: s.Key.Reveal()}
	at, _ := engine.Address()
	named, err := hostOf(at)
	if err != nil {
		return nil, fmt.Errorf("search.url: %w", err)
	}
	g, err := f.guard([]string{named}, false, web.MaxTime)
	if err != nil {
		return nil, fmt.Errorf("search.url: %w", err)
	}
	return []agent.Tool{web.NewSearch(engine, g, f.o.Version)}, nil
}

// hostOf is the host and port of an address.
func hostOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// requests is http_request.
func (f family) requests() ([]agent.Tool, error) {
	h := f.o.Config.Tools.HTTP
	if len(h.Hosts) == 0 {
		return nil, nil
	}
	g, err := f.guard(h.Hosts, false, request.MaxTime)
	if err != nil {
		return nil, fmt.Errorf("tools.http.hosts: %w", err)
	}
	c := request.Config{Guard: g, Credentials: map[string]request.Credentials{}, Save: keeper{f.space}.save, Version: f.o.Version}
	for name, k := range h.Credentials {
		own, err := f.guard(k.Hosts, false, request.MaxTime)
		if err != nil {
			return nil, fmt.Errorf("tools.http.credentials.%s: %w", name, err)
		}
		c.Credentials[name] = credentials(k.Whole(), own)
	}
	return []agent.Tool{request.New(c)}, nil
}

func credentials(k config.Credentials, g *egress.Guard) request.Credentials {
	return request.Credentials{Guard: g, Bearer: k.Token(), Basic: k.Login(), Header: config.Values(k.Header)}
}

// post is post_external, where there is a place for it, and where a pack or a role
// may want to see what it would post.
func (f family) post() ([]agent.Tool, error) {
	p := f.o.Config.Tools.PostExternal
	place := request.Place{URL: p.URL, Field: p.Field, Credentials: credentials(p.Whole(), nil)}
	if p.URL != "" {
		named, err := hostOf(p.URL)
		if err != nil {
			return nil, fmt.Errorf("tools.post_external.url: %w", err)
		}
		if place.Guard, err = f.guard([]string{named}, false, request.MaxTime); err != nil {
			return nil, fmt.Errorf("tools.post_external.url: %w", err)
		}
	}
	return []agent.Tool{request.NewPost(place)}, nil
}

// git are the tools of git, where it is installed and a sandbox keeps it. With the
// internet switched off only hosts of one's own are cloned from.
func (f family) git() ([]agent.Tool, error) {
	c := f.o.Config
	if !c.Tools.Git.Enabled || !git.Present() || !f.box.CanIsolate() {
		return nil, nil
	}
	own := f.box.Config()
	own.AllowPrivate = c.Tools.Git.Hosts
	box, err := sandbox.New(own)
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(c.Workspace)
	if err != nil {
		return nil, fmt.Errorf("the workspace has no absolute path: %w", err)
	}
	g := git.Config{Sandbox: box, Workspace: f.space, Root: root, Hide: hidden(c), Name: c.Tools.Git.Name, Email: c.Tools.Git.Email}
	if c.Tools.Internet || len(c.Tools.Git.Hosts) > 0 {
		if g.Guard, err = f.guard(c.Tools.Git.Hosts, len(c.Tools.Git.Hosts) == 0, web.MaxTime); err != nil {
			return nil, fmt.Errorf("tools.git.hosts: %w", err)
		}
	}
	return git.New(g), nil
}

// images is generate_image, over the model's endpoint.
func (f family) images() ([]agent.Tool, error) {
	c := f.o.Config
	if c.Images.Model == "" {
		return nil, nil
	}
	endpoint := c.Model.BaseURL
	if endpoint == "" {
		endpoint = openAI
	}
	named, err := hostOf(endpoint)
	if err != nil {
		return nil, fmt.Errorf("model.base_url: %w", err)
	}
	g, err := egress.New(egress.Config{AllowPrivate: []string{named}, Off: !c.Tools.Internet, Bytes: image.MaxBytes, Time: image.MaxTime})
	if err != nil {
		return nil, fmt.Errorf("model.base_url: %w", err)
	}
	return []agent.Tool{image.New(image.Config{
		Workspace: f.space, Endpoint: endpoint, Key: c.Model.APIKey.Reveal(), Model: c.Images.Model, Size: c.Images.Size, Guard: g,
	})}, nil
}

// openAI is the endpoint where none is configured.
const openAI = "https://api.openai.com/v1"
