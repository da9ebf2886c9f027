package discordtest

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// obj is a JSON object.
type obj = map[string]any

// Server is one Discord. Its methods may be called from any goroutine.
type Server struct {
	Token     string // of the bot, without "Bot "
	PublicKey string // hex, of signed interactions

	cfg     Config
	private ed25519.PrivateKey
	base    string
	http    *http.Server
	api     *http.ServeMux
	out     *http.Client
	wg      sync.WaitGroup
	stop    context.CancelFunc
	done    context.Context //nolint:containedctx // the life of the server: deliveries end with it

	mu      sync.Mutex
	closed  bool
	changed chan struct{} // closed and replaced with every change
	dice    *rand.Rand
	lastID  int64

	users        []*User
	guilds       []*guild
	channels     []*Channel
	messages     []*message
	loose        []*message // hold the attachments of commands
	commands     []*Command
	modals       []*modal
	interactions []*interaction
	typed        map[string]int
	revoked      bool
	outage       bool

	requests []*Request
	faults   []*planned
	limits   Limits
	buckets  map[string]*bucket
	limited  map[string]int

	links       []*link
	sessions    []*session
	mute        int
	zombie      bool
	beats       int
	eventFaults []*plannedEvent
	held        []*event
	holding     bool
}

// New opens a Discord with two guilds, their people and the bot. It listens at
// once; Close ends it.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	done, stop := context.WithCancel(context.Background())
	private := ed25519.NewKeyFromSeed([]byte("the seed of discordtest's key, 32"[:ed25519.SeedSize]))
	public, _ := private.Public().(ed25519.PublicKey) // that is its type
	s := &Server{
		Token: "MTQwMDAw.discordtest.token", PublicKey: hex.EncodeToString(public), private: private,
		cfg: cfg, done: done, stop: stop,
		out:     &http.Client{Transport: &http.Transport{}},
		changed: make(chan struct{}),
		dice:    rand.New(rand.NewPCG(cfg.Chaos.Seed, 1)),
		limits:  cfg.Limits, buckets: map[string]*bucket{}, limited: map[string]int{}, typed: map[string]int{},
	}
	s.settle()
	s.api = s.apiRoutes()
	l, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		panic(fmt.Sprintf("discordtest: cannot listen on %s: %v", cfg.Addr, err))
	}
	s.base = "http://" + l.Addr().String()
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	s.wg.Go(func() { _ = s.http.Serve(l) }) // ends with Close
	return s
}

// URL is the address of the server without a trailing slash; the API's base is
// URL()+"/api".
func (s *Server) URL() string { return s.base }

// Close cuts every connection and ends the world.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	s.dropAll()
	s.stop()
	s.mu.Unlock()
	_ = s.http.Close() // the listener is ours alone
	s.wg.Wait()
	s.out.CloseIdleConnections()
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, version := range []string{"/api/v9", "/api/v10", "/api"} {
		mux.Handle(version+"/", http.StripPrefix(version, http.HandlerFunc(s.serveAPI)))
	}
	mux.HandleFunc("/gw/", s.serveLink)
	mux.HandleFunc("/gw", s.serveLink)
	mux.HandleFunc("GET /attachments/{channel}/{file}/{name}", s.serveFile)
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

// change wakes everyone who waits; the lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait returns as soon as cond holds. It is asked again after every change of
// the world and may use every method of the server.
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
			return fmt.Errorf("discordtest: the world never became what was waited for: %w", ctx.Err())
		case <-s.done.Done():
			return fmt.Errorf("discordtest: the server was closed while somebody waited: %w", net.ErrClosed)
		}
	}
}

// epoch is the first millisecond of Discord's time.
const epoch = 1420070400000

// id is the next snowflake: it grows with time and never comes twice; the lock is held.
func (s *Server) id() string {
	n := (time.Now().UnixMilli() - epoch) << 22
	if n <= s.lastID {
		n = s.lastID + 1
	}
	s.lastID = n
	return strconv.FormatInt(n, 10)
}

// later runs f with the lock held, unless the server was closed by then.
func (s *Server) later(after time.Duration, f func()) *time.Timer {
	return time.AfterFunc(after, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed {
			f()
		}
	})
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("discordtest: cannot encode %T: %v", v, err)) // all of it came from JSON
	}
	return b
}
