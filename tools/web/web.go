package web

// This file says what the tools are made from.

import (
	"net/http"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/page"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// Config is what the tools need.
type Config struct {
	// Guard is the way out of browse_website.
	Guard *egress.Guard
	// Reader reads what was fetched.
	Reader *page.Reader
	// Save keeps what has no text in a run's folder, and returns its path there.
	// Nil: it is not kept.
	Save func(folder, name string, data []byte) (path string, err error)
	// Browser runs pages that programs write. Its zero value finds none.
	Browser Browser
	Version string
}

// Browser is a headless browser in a sandbox.
type Browser struct {
	Sandbox *sandbox.Sandbox
	// Program is its path; empty: the usual names are looked for.
	Program string
	// Hosts are those that it may reach.
	Hosts []string
}

// Bounds of what is fetched.
const (
	MaxBytes  = 10 << 20 // of a page or a document, unpacked
	MaxTime   = 30 * time.Second
	Redirects = 5
)

// fetchTime bounds a call with all of its attempts, and readTime what follows.
const (
	fetchTime = 90 * time.Second
	readTime  = 60 * time.Second
)

// NewBrowse is browse_website.
func NewBrowse(c Config) agent.Tool {
	return browse{c, c.Guard.Client()}
}

// agentName is what servers are told of who asks.
func agentName(version string) string {
	if version == "" {
		version = "dev"
	}
	return "Mozilla/5.0 (compatible; Deckhand/" + version + "; +https://github.com/deckhand-bot/deckhand)"
}

// searching is what web_search is made from.
type searching struct {
	engine Engine
	client *http.Client
	name   string
}

// NewSearch is web_search, over an engine that is reached through the guard.
func NewSearch(e Engine, g *egress.Guard, version string) agent.Tool {
	return search{searching{e, g.Client(), agentName(version)}}
}
