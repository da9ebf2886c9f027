package kit

// This file makes the families of tools that reach out: the web. Each
// is there where the configuration gives it what it needs, and each goes out
// through tools/egress.

import (
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/page"
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
	for _, of := range []func() ([]agent.Tool, error){f.browse, f.search} {
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
