package discordtest

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Server is one Discord. Its methods may be called from any goroutine.
type Server struct {
	*world
	*outbox
	*sockets
	*web
	People
	Screen
}

// New opens a Discord with two guilds, their people and the bot. It listens at
// once; Close ends it.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	private := ed25519.NewKeyFromSeed([]byte("the seed of discordtest's key, 32"[:ed25519.SeedSize]))
	public, _ := private.Public().(ed25519.PublicKey) // that is its type
	w := &world{
		Token: "MTQwMDAw.discordtest.token", PublicKey: hex.EncodeToString(public), private: private,
		cfg: cfg, typed: map[string]int{},
	}
	w.events = &outbox{w}
	w.sockets = &sockets{world: w}
	w.api = &web{world: w, limits: cfg.Limits, buckets: map[string]*bucket{}}
	w.Init("discordtest", cfg.Chaos, w.sockets.cutAll)
	w.settle()
	w.api.mux = w.api.apiRoutes()
	s := &Server{world: w, outbox: w.events, sockets: w.sockets, web: w.api, People: People{w}, Screen: Screen{w}}
	w.Open(cfg.Addr, s.routes())
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, version := range []string{"/api/v9", "/api/v10", "/api"} {
		mux.Handle(version+"/", http.StripPrefix(version, http.HandlerFunc(s.serveAPI)))
	}
	mux.HandleFunc("/gw/", s.serveLink)
	mux.HandleFunc("/gw", s.serveLink)
	mux.HandleFunc("GET /attachments/{channel}/{file}/{name}", s.serveFile)
	return mux
}

// Fail lets the next n calls of a route (or of "*") meet a fault. A route is
// written as in Request.Route; PostMessage and its neighbours are the frequent ones.
func (s *Server) Fail(route string, n int, f Fault) { s.Plan(route, n, f) }

// Heal forgets every planned fault and stops the random ones.
func (s *Server) Heal() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Forget()
	s.mute, s.zombie = 0, false
}

// RejectV2 switches whether components v2 are refused.
func (s *Server) RejectV2(on bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.cfg.RejectV2 = on
}

// Revoke makes the bot's token worthless: calls are answered 401 and the
// sockets closed with 4004.
func (s *Server) Revoke() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.revoked = true
	s.closeAll(closeAuth, "Authentication failed.")
}

// Config says what kind of Discord New opens. The zero value is one with
// Discord's own limits, reached through the gateway, that grants no privileged
// intent.
type Config struct {
	Addr       string        // where to listen; default 127.0.0.1:0
	Deliver    string        // base URL of signed HTTP interactions; empty: over the gateway
	Privileged int           // the privileged intents that are granted; default none
	Limits     Limits        // the zero value enforces Discord's own
	AckWithin  time.Duration // how long the answer to an interaction may take; default 3 s
	TokenLife  time.Duration // of an interaction's token; default 15 min
	NonceLife  time.Duration // how long a nonce is remembered; default 5 min
	Heartbeat  time.Duration // interval of the gateway; default 41.25 s
	ResumeLife time.Duration // how long a lost session may be resumed; default 3 min
	RejectV2   bool          // components v2 are refused, as in older places
	Chaos      Chaos
}

// Rate is so many calls in each window.
type Rate struct {
	N   int
	Per time.Duration
}

// Limits are the rate limits. The zero value means Discord's own.
type Limits struct {
	Off    bool
	Global int             // calls a second; default 50
	Routes map[string]Rate // by route; instead of Discord's own
}

// What goes wrong, on request and at random.
type (
	Fault      = platformtest.Fault
	EventFault = platformtest.EventFault
	Chaos      = platformtest.Chaos
)

// The faults of every platform.
var (
	RateLimited = platformtest.RateLimited
	Unavailable = platformtest.Unavailable
	LostAnswer  = platformtest.LostAnswer
	LostRequest = platformtest.LostRequest
)

// BadGateway answers 502, which libraries like to try again by themselves.
func BadGateway() Fault { return Fault{Status: http.StatusBadGateway} }

// APIError answers with an error of Discord's.
func APIError(status, code int) Fault { return Fault{Status: status, Code: code} }

func (c Config) withDefaults() Config {
	platformtest.Default(&c.Addr, "127.0.0.1:0")
	platformtest.Default(&c.AckWithin, 3*time.Second)
	platformtest.Default(&c.TokenLife, 15*time.Minute)
	platformtest.Default(&c.NonceLife, 5*time.Minute)
	platformtest.Default(&c.Heartbeat, 41250*time.Millisecond)
	platformtest.Default(&c.ResumeLife, 3*time.Minute)
	c.Chaos = c.Chaos.WithDefaults()
	c.Limits = c.Limits.withDefaults()
	return c
}

func (l Limits) withDefaults() Limits {
	platformtest.Default(&l.Global, 50)
	return l
}

// apiError is an answer that refuses.
type apiError struct {
	status  int
	code    int
	message string
	errors  obj           // of an invalid form body
	wait    time.Duration // of a limit within a route
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.code, e.message) }

func no(status, code int, message string) error {
	return &apiError{status: status, code: code, message: message}
}

func unknownChannel() error { return no(http.StatusNotFound, 10003, "Unknown Channel") }
func unknownMessage() error { return no(http.StatusNotFound, 10008, "Unknown Message") }
func unknownMember() error  { return no(http.StatusNotFound, 10007, "Unknown Member") }
func unknownHook() error    { return no(http.StatusNotFound, 10015, "Unknown Webhook") }
func missingAccess() error  { return no(http.StatusForbidden, 50001, "Missing Access") }
func missingPerms() error   { return no(http.StatusForbidden, 50013, "Missing Permissions") }

func unauthorized() error { return no(http.StatusUnauthorized, 0, "401: Unauthorized") }

// names of the codes that APIError may be asked for.
var messages = map[int]string{
	0: "500: Internal Server Error", 10003: "Unknown Channel", 10004: "Unknown Guild", 10007: "Unknown Member", 10008: "Unknown Message",
	10015: "Unknown Webhook", 10062: "Unknown interaction", 40005: "Request entity too large", 40060: "Interaction has already been acknowledged.",
	50001: "Missing Access", 50006: "Cannot send an empty message", 50007: "Cannot send messages to this user", 50013: "Missing Permissions",
	50027: "Invalid Webhook Token", 50035: "Invalid Form Body", 50083: "Thread is archived",
	130000: "API resource is currently overloaded. Try again a little later.", 160004: "A thread has already been created for this message",
}

// form gathers what is wrong with a body, by the path of the field.
type form struct{ errors obj }

// wrong notes an error at a path such as components, 0, label.
func (f *form) wrong(code, message string, path ...any) {
	if f.errors == nil {
		f.errors = obj{}
	}
	at := f.errors
	for _, p := range path {
		key := fmt.Sprint(p)
		next, ok := at[key].(obj)
		if !ok {
			next = obj{}
			at[key] = next
		}
		at = next
	}
	list, _ := at["_errors"].([]obj) // nothing yet is an empty list
	at["_errors"] = append(list, obj{"code": code, "message": message})
}

// long notes a text that is too long, or shorter than least.
func (f *form) long(text string, least, most int, path ...any) {
	n := length(text)
	switch {
	case n == 0 && least > 0:
		f.wrong("BASE_TYPE_REQUIRED", "This field is required", path...)
	case n < least:
		f.wrong("BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most), path...)
	case n > most && least > 0:
		f.wrong("BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most), path...)
	case n > most:
		f.wrong("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most), path...)
	}
}

// err is the answer to the body, nil when nothing is wrong.
func (f *form) err() error {
	if f.errors == nil {
		return nil
	}
	return &apiError{status: http.StatusBadRequest, code: 50035, message: messages[50035], errors: f.errors}
}

// invalid is a form with one error.
func invalid(code, message string, path ...any) error {
	var f form
	f.wrong(code, message, path...)
	return f.err()
}

// length counts as Discord does, in code points.
func length(text string) int { return len([]rune(text)) }

// bucket is a window with so many calls in it.
type bucket struct {
	until time.Time
	used  int
}

// take takes one of n calls, or says how long to wait.
func (b *bucket) take(now time.Time, rate Rate) time.Duration {
	if !now.Before(b.until) {
		b.until, b.used = now.Add(rate.Per), 0
	}
	if b.used >= rate.N {
		return b.until.Sub(now)
	}
	b.used++
	return 0
}

// limit refuses a call that comes too soon and sets the headers that say how
// soon the next may come; the lock is held.
func (s *web) limit(h http.Header, rt route, c *call) error {
	if s.limits.Off {
		return nil
	}
	now := time.Now()
	if !rt.open {
		if wait := s.bucket("global").take(now, Rate{s.limits.Global, time.Second}); wait > 0 {
			return tooMany(wait, true)
		}
	}
	rate := rt.rate
	if own, ok := s.limits.Routes[rt.name]; ok {
		rate = own
	}
	if rate.N == 0 {
		return nil
	}
	major := c.path("guild") + "/" + c.path("channel") + "/" + c.path("token")
	b := s.bucket(rt.name + " " + major)
	wait := b.take(now, rate)
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(rt.name)) // a hash takes everything
	h.Set("X-Ratelimit-Limit", strconv.Itoa(rate.N))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(rate.N-b.used))
	h.Set("X-Ratelimit-Reset", fmt.Sprintf("%.3f", float64(b.until.UnixMilli())/1000))
	h.Set("X-Ratelimit-Reset-After", fmt.Sprintf("%.3f", math.Ceil(b.until.Sub(now).Seconds()*1000)/1000))
	h.Set("X-Ratelimit-Bucket", fmt.Sprintf("%016x", sum.Sum64()))
	if wait > 0 {
		return tooMany(wait, false)
	}
	return nil
}

// within is a limit inside a route, which has no headers of its own.
func (s *web) within(name, major string, rate Rate) error {
	if s.limits.Off {
		return nil
	}
	if own, ok := s.limits.Routes[name]; ok {
		rate = own
	}
	if wait := s.bucket(name+" "+major).take(time.Now(), rate); wait > 0 {
		return tooMany(wait, false)
	}
	return nil
}

func tooMany(wait time.Duration, global bool) error {
	e := &apiError{status: http.StatusTooManyRequests, message: "You are being rate limited.", wait: wait}
	if global {
		e.code = 1
	}
	return e
}

func (s *web) bucket(key string) *bucket {
	b := s.buckets[key]
	if b == nil {
		b = &bucket{}
		s.buckets[key] = b
	}
	return b
}

// SetLimits changes the rate limits and empties what was counted.
func (s *web) SetLimits(l Limits) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.limits = l.withDefaults()
	s.buckets = map[string]*bucket{}
}
