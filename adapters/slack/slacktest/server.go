package slacktest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Server is one workspace. Its methods may be called from any goroutine.
type Server struct {
	*workspace
	*outbox
	*sockets
	*web
	People
	Screen
}

// New opens a workspace with #general, Ann, Ben, a guest, a stranger and the
// bot. It listens at once; Close ends it.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	if cfg.Scopes == nil {
		cfg.Scopes = AllScopes()
	}
	w := &workspace{
		BotToken: "xoxb-1-slacktest", AppToken: "xapp-1-A1-slacktest", SigningSecret: "8f742231b10e8888abcd99yyyzzz85a5",
		cfg: cfg, triggers: map[string]*trigger{}, hooks: map[string]*hook{}, rejected: map[string]bool{},
	}
	w.events = &outbox{workspace: w, pending: map[string]*delivery{}}
	w.sockets = &sockets{workspace: w, tickets: map[string]time.Time{}}
	w.api = &web{workspace: w, methods: methods(), limits: cfg.Limits, buckets: map[string]*bucket{}}
	w.Init("slacktest", cfg.Chaos, func() {
		w.sockets.cutAll()
		if w.Closed() {
			w.events.giveUp()
		}
	})
	w.settle()
	s := &Server{workspace: w, outbox: w.events, sockets: w.sockets, web: w.api, People: People{w}, Screen: Screen{w}}
	w.Open(cfg.Addr, s.routes())
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveAPI)
	mux.HandleFunc("/link", s.serveLink)
	mux.HandleFunc("POST /upload/{id}", s.serveUpload)
	mux.HandleFunc("GET /files/{id}/{name}", s.serveFile)
	mux.HandleFunc("POST /hooks/{id}", s.serveHook)
	mux.HandleFunc("GET /{$}", serveSignIn)
	return mux
}

// Fail lets the next n calls of a method (or of "*") meet a fault.
func (s *Server) Fail(method string, n int, f Fault) { s.Plan(method, n, f) }

// Heal forgets every planned fault and stops the random ones.
func (s *Server) Heal() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Forget()
	s.mute = 0
}

// RejectBlocks makes the workspace an older one that does not know these types
// of blocks and answers invalid_blocks. Each call replaces the list.
func (s *Server) RejectBlocks(types ...string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.rejected = map[string]bool{}
	for _, t := range types {
		s.rejected[t] = true
	}
}

// AllScopes is every scope that a method of this server asks for.
func AllScopes() []string {
	var out []string
	for _, m := range methods() {
		if rest, ok := strings.CutPrefix(m.scope, "*:"); ok {
			for _, kind := range scopeOf {
				out = append(out, kind+":"+rest)
			}
		} else if m.scope != "" {
			out = append(out, m.scope)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
