package slacktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is one workspace. Its methods may be called from any goroutine.
type Server struct {
	BotToken, AppToken, SigningSecret string

	cfg  Config
	base string
	http *http.Server
	out  *http.Client
	wg   sync.WaitGroup
	stop context.CancelFunc
	done context.Context //nolint:containedctx // the life of the server: deliveries end with it

	mu      sync.Mutex
	closed  bool
	changed chan struct{} // closed and replaced with every change
	dice    *rand.Rand
	seq     int
	lastTS  int64

	users     []*User
	channels  []*Channel
	groups    []*UserGroup
	messages  []*message
	files     []*file
	ephemeral []Ephemeral
	views     []*view
	statuses  []Status
	threads   []*Thread
	triggers  map[string]*trigger
	hooks     map[string]*hook
	rejected  map[string]bool
	outage    bool

	requests []*Request
	faults   []*planned
	limits   Limits
	buckets  map[string]*bucket
	limited  map[string]int

	links       []*link
	linkSeq     int
	nextLink    int
	tickets     map[string]time.Time
	mute        int
	pending     map[string]*delivery
	deliveries  []*Delivery
	eventFaults []*plannedEvent
	held        []*delivery
	holding     bool
}

// New opens a workspace with #general, Ann, Ben, a guest, a stranger and the
// bot. It listens at once; Close ends it.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	done, stop := context.WithCancel(context.Background())
	s := &Server{
		BotToken: "xoxb-1-slacktest", AppToken: "xapp-1-A1-slacktest", SigningSecret: "8f742231b10e8888abcd99yyyzzz85a5",
		cfg: cfg, done: done, stop: stop,
		out:      &http.Client{Transport: &http.Transport{}},
		changed:  make(chan struct{}),
		dice:     rand.New(rand.NewPCG(cfg.Chaos.Seed, 1)),
		triggers: map[string]*trigger{}, hooks: map[string]*hook{},
		rejected: map[string]bool{},
		limits:   cfg.Limits, buckets: map[string]*bucket{}, limited: map[string]int{},
		tickets: map[string]time.Time{}, pending: map[string]*delivery{},
	}
	s.settle()
	l, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		panic(fmt.Sprintf("slacktest: cannot listen on %s: %v", cfg.Addr, err))
	}
	s.base = "http://" + l.Addr().String()
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	s.wg.Go(func() { _ = s.http.Serve(l) }) // ends with Close
	return s
}

// URL is the address of the server without a trailing slash.
func (s *Server) URL() string { return s.base }

// Close cuts every connection and ends the workspace.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	for _, d := range s.pending {
		d.timer.Stop()
	}
	for _, l := range s.links {
		l.cut()
	}
	s.stop()
	s.mu.Unlock()
	_ = s.http.Close() // the listener is ours alone
	s.wg.Wait()
	s.out.CloseIdleConnections()
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveAPI)
	mux.HandleFunc("/link", s.serveLink)
	mux.HandleFunc("POST /upload/{id}", s.serveUpload)
	mux.HandleFunc("GET /files/{id}/{name}", s.serveFile)
	mux.HandleFunc("POST /hooks/{id}", s.serveHook)
	mux.HandleFunc("GET /{$}", serveSignIn)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		s.wg.Add(1)
		s.mu.Unlock()
		defer s.wg.Done()
		mux.ServeHTTP(w, r)
	})
}

func (s *Server) settle() {
	s.users = []*User{
		{ID: Ann, Name: "ann", RealName: "Ann"},
		{ID: Ben, Name: "ben", RealName: "Ben"},
		{ID: Guest, Name: "gus", RealName: "Gus (guest)", Restricted: true},
		{ID: Gone, Name: "gone", RealName: "Gone", Deleted: true},
		{ID: Stranger, Name: "stella", RealName: "Stella (elsewhere)", TeamID: OtherTeam, Stranger: true},
		{ID: BotUser, Name: "deckhand", RealName: "Deckhand", Bot: true, BotID: Bot},
	}
	for _, u := range s.users {
		u.complete()
	}
	s.channels = []*Channel{{ID: General, Name: "general", Members: []string{Ann, Ben, Guest, Stranger, BotUser}}}
}

// change wakes everyone who waits; the lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait returns as soon as cond holds. It is asked again after every change of
// the workspace and may use every method of the server.
func (s *Server) Wait(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("slacktest: the workspace never became what was waited for: %w", ctx.Err())
		case <-s.done.Done():
			return fmt.Errorf("slacktest: the server was closed while somebody waited: %w", net.ErrClosed)
		}
	}
}

// ts is the next timestamp: the time in microseconds, never twice; the lock is held.
func (s *Server) ts() (string, time.Time) {
	now := time.Now()
	us := now.UnixMicro()
	if us <= s.lastTS {
		us = s.lastTS + 1
	}
	s.lastTS = us
	return fmt.Sprintf("%d.%06d", us/1e6, us%1e6), time.UnixMicro(us)
}

// id is a fresh id with a prefix; the lock is held.
func (s *Server) id(prefix string) string {
	s.seq++
	return prefix + strings.ToUpper(fmt.Sprintf("%06s", strconv.FormatInt(int64(s.seq), 36)))
}
