package mcp

// This file keeps one server connected: it is started when it is first needed,
// and again after it died, each time after a longer pause.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// Config says what a server is and what it may use. Either Command or URL is set.
type Config struct {
	Name string
	// Command, Args, Env and Dir start a server that speaks over its standard
	// input and output. Env comes beside PATH, HOME, LANG and the like; nothing
	// else of this process's environment reaches the server.
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	// URL and Headers are of a server that speaks streamable HTTP.
	URL     string
	Headers map[string]string
	// Secrets are values that are shown to nobody, wherever the server repeats
	// them.
	Secrets []string
	// Timeout bounds one call; 0 is 2 minutes.
	Timeout time.Duration
	// Transport carries the requests to URL; nil: http.DefaultTransport.
	Transport http.RoundTripper
	// Sandbox, when set, makes the command that is started: inside a sandbox.
	Sandbox func(ctx context.Context, command *exec.Cmd) (*exec.Cmd, error)
	// Save keeps a picture or another file of a result in a run's folder and
	// returns its path there. One that is there already stays. Nil: files are only
	// told of.
	Save func(folder, name string, data []byte) (path string, err error)
	// Version of this program, for the server.
	Version string
	Log     *slog.Logger
}

// Bounds of a server, and of the patience with it.
const (
	defaultTimeout = 2 * time.Minute
	connectTimeout = 90 * time.Second // a package runner may load the server first
	discoverWait   = 20 * time.Second // for an answer to the newest way to begin
	pingWait       = 5 * time.Second
	listWait       = 30 * time.Second

	firstPause  = time.Second // before the second start in a row
	longest     = time.Minute
	steadyAfter = time.Minute // a server that lived so long begins anew

	maxTools = 2000 // of one server
	maxPages = 200
)

// Server is one MCP server as a source of tools. It may be used from many
// goroutines.
type Server struct {
	c       Config
	hidden  secrets
	changed chan struct{}

	turn chan struct{} // held while the server is started

	mu      sync.Mutex
	now     *session
	old     bool // it only knows the older way to begin
	failed  error
	retryAt time.Time
	pause   time.Duration
	closed  bool
	running sync.WaitGroup
}

// session is one connection, from its start to its end.
type session struct {
	*mcp.ClientSession
	child *child // nil: not a process of ours
	began time.Time
	// asked are the questions of the server that were not passed on, by the call.
	asked chan string
	calls callsUnderWay
}

// ErrAway is returned while a server is not to be had.
var ErrAway = errors.New("the MCP server is not to be had")

// New is a source for the server. Nothing is started yet.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	return &Server{c: c, hidden: newSecrets(c), changed: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// Name is the server's name in the configuration.
func (s *Server) Name() string { return s.c.Name }

// Changed receives when the server's tools may have changed.
func (s *Server) Changed() <-chan struct{} { return s.changed }

func (s *Server) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Close ends the connection, and the server where it is a process of ours, with
// all that it started.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	now := s.now
	s.now = nil
	s.mu.Unlock()
	if now != nil {
		end(now)
	}
	s.running.Wait()
	return nil
}

// end closes a connection. A peer that does not answer is not waited for.
func end(now *session) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = now.Close() // that the other side is gone is no failure here
	}()
	if now.child != nil {
		now.child.end()
	}
	select {
	case <-over:
	case <-time.After(pingWait):
	}
}

// connected is the live connection. Where there is none, the server is started,
// unless it failed so lately that it is to be left alone.
func (s *Server) connected(ctx context.Context) (*session, error) {
	if now, err := s.current(); now != nil || err != nil {
		return now, err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %s is being started: %w", ErrAway, s.c.Name, ctx.Err())
	}
	if now, err := s.current(); now != nil || err != nil {
		return now, err
	}
	now, err := s.start(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("%w: %s: %s", ErrAway, s.c.Name, s.hidden.hide(err.Error()))
		s.fail(err)
		return nil, err
	}
	if s.closed {
		go end(now)
		return nil, fmt.Errorf("%w: %s is closed", ErrAway, s.c.Name)
	}
	s.now, s.failed = now, nil
	s.running.Add(1)
	go s.watch(now)
	return now, nil
}

// current is the live connection, nil where the server may be started, or why it
// may not.
func (s *Server) current() (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch left := time.Until(s.retryAt); {
	case s.closed:
		return nil, fmt.Errorf("%w: %s is closed", ErrAway, s.c.Name)
	case s.now != nil:
		return s.now, nil
	case s.failed != nil && left > 0:
		return nil, fmt.Errorf("%w. It is started again in %s at the earliest", s.failed, left.Round(100*time.Millisecond))
	}
	return nil, nil //nolint:nilnil // it may be started
}

// fail notes that the server is not to be had, and for how long it is left alone.
// The lock is held.
func (s *Server) fail(err error) {
	s.failed, s.retryAt = err, time.Now().Add(s.pause)
	s.pause = min(max(2*s.pause, firstPause), longest)
}

// watch waits for the end of a connection.
func (s *Server) watch(now *session) {
	defer s.running.Done()
	guard.Run(s.c.Log, "the watch over an MCP server", func() {
		_ = now.Wait() // why it ended is asked of the process
		s.ended(now)
	})
}

// ended notes that a connection ended, with what the server's process said last.
func (s *Server) ended(now *session) {
	end(now)
	why := fmt.Errorf("%w: %s ended", ErrAway, s.c.Name)
	if now.child != nil {
		if err := now.child.failure(); err != nil {
			why = fmt.Errorf("%w: %s", why, s.hidden.hide(err.Error()))
		}
	}
	s.mu.Lock()
	if s.now != now { // it was closed, given up, or noted already
		s.mu.Unlock()
		return
	}
	s.now = nil
	if time.Since(now.began) > steadyAfter {
		s.pause = 0
	}
	s.fail(why)
	s.mu.Unlock()
	s.c.Log.Warn("an MCP server ended", "server", s.c.Name, "err", why)
	s.signal()
}

// written counts what was written to the server's process.
func (n *session) written() int64 {
	if n.child == nil {
		return 0
	}
	return n.child.writes.Load()
}

// giveUp ends a connection that does not answer any more.
func (s *Server) giveUp(now *session, why error) {
	s.mu.Lock()
	if s.now != now {
		s.mu.Unlock()
		return
	}
	s.now = nil
	s.fail(fmt.Errorf("%w: %s: %w", ErrAway, s.c.Name, why))
	s.mu.Unlock()
	s.c.Log.Warn("an MCP server is started anew", "server", s.c.Name, "err", why)
	end(now)
}

// start begins a connection: in the newest way, and in the older one where that
// is not understood.
func (s *Server) start(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	s.mu.Lock()
	old := s.old
	s.mu.Unlock()
	if !old {
		brief, stop := context.WithTimeout(ctx, discoverWait)
		now, err := s.connect(brief, "")
		stop()
		var missing *exec.Error
		if err == nil || errors.As(err, &missing) || ctx.Err() != nil {
			return now, err
		}
	}
	now, err := s.connect(ctx, olderProtocol)
	if err == nil {
		s.mu.Lock()
		s.old = true
		s.mu.Unlock()
	}
	return now, err
}

// olderProtocol is the newest version that begins with a handshake.
const olderProtocol = "2025-11-25"

// connect begins a connection by the version of the protocol, empty: the newest.
func (s *Server) connect(ctx context.Context, version string) (*session, error) {
	now := &session{began: time.Now(), asked: make(chan string, 8)}
	client := mcp.NewClient(&mcp.Implementation{Name: "deckhand", Version: s.c.Version}, &mcp.ClientOptions{
		Capabilities:               &mcp.ClientCapabilities{},
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { s.signal() },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { s.signal() },
		ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return s.elicit(ctx, now, r.Params)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			now.progressed(r.Params, s.hidden.hide)
		},
	})
	transport, err := s.transport(ctx, now)
	if err != nil {
		return nil, err
	}
	now.ClientSession, err = begin(ctx, client, transport, version)
	if err == nil {
		return now, nil
	}
	if now.child != nil {
		now.child.end()
		err = errors.Join(err, now.child.failure())
	}
	return nil, err
}

// begin connects within ctx, which ends nothing afterwards.
func begin(ctx context.Context, client *mcp.Client, t mcp.Transport, version string) (*mcp.ClientSession, error) {
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cut)
	opened, err := client.Connect(life, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if !stop() && err == nil { // too late
		_ = opened.Close()
		err = ctx.Err()
	}
	if err != nil {
		cut()
		if ctx.Err() != nil {
			err = fmt.Errorf("it did not answer in time: %w", err)
		}
		return nil, err
	}
	return opened, nil
}

// transport is the way to the server.
func (s *Server) transport(ctx context.Context, now *session) (mcp.Transport, error) {
	if s.c.URL != "" {
		return s.overHTTP(), nil
	}
	started, err := s.startChild(ctx)
	if err != nil {
		return nil, err
	}
	now.child = started
	return &mcp.IOTransport{Reader: started, Writer: started, MaxLineLength: maxMessage}, nil
}

// Tools lists what the server offers, and starts it where needed.
func (s *Server) Tools(ctx context.Context) ([]agent.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+listWait)
	defer cancel()
	now, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.list(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("%w: %s does not list its tools: %s", ErrAway, s.c.Name, s.hidden.hide(err.Error()))
	}
	return list, nil
}

// list asks a connected server for its tools.
func (s *Server) list(ctx context.Context, now *session) ([]agent.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	var tools []agent.Tool
	taken := map[string]bool{}
	capable := capabilities(now)
	if capable.Tools != nil {
		for page, cursor := 0, ""; ; page++ {
			r, err := now.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, err
			}
			for _, t := range r.Tools {
				if t == nil || t.Name == "" || taken[t.Name] {
					continue
				}
				taken[t.Name] = true
				tools = append(tools, s.tool(t))
			}
			if len(tools) > maxTools || page >= maxPages {
				return nil, fmt.Errorf("it lists more than %d tools", maxTools)
			}
			if cursor = r.NextCursor; cursor == "" {
				break
			}
		}
	}
	if capable.Resources != nil {
		tools = append(tools, s.resourceTools(taken)...)
	}
	return tools, nil
}

// Describe is the server in words, for people who check the configuration.
func (s *Server) Describe() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || s.now.InitializeResult() == nil {
		return "not connected"
	}
	r := s.now.InitializeResult()
	text := "MCP " + r.ProtocolVersion
	if r.ServerInfo != nil {
		text = strings.TrimSpace(r.ServerInfo.Name+" "+r.ServerInfo.Version) + ", " + text
	}
	return format.Line(format.Visible(text), 200)
}

// capabilities are what the server said it can do.
func capabilities(now *session) mcp.ServerCapabilities {
	if r := now.InitializeResult(); r != nil && r.Capabilities != nil {
		return *r.Capabilities
	}
	return mcp.ServerCapabilities{}
}
