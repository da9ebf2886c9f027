package slacktest

// This file takes every Web API call the same way, whatever the method:
// arguments, token and scopes, rate limit, injected fault, answer, and a
// record for tests to look at.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const maxBody = 4 << 20

// call is one call of the Web API.
type call struct {
	args  map[string]string // strings as they are, everything else as JSON
	token string
}

// slackError is an answer with ok false.
type slackError struct {
	code   string
	extra  obj
	status int // of HTTP, when it is not 200
}

func (e *slackError) Error() string { return e.code }

func no(code string) error { return &slackError{code: code} }

func (c *call) str(name string) string { return c.args[name] }

func (c *call) flag(name string) bool {
	v := c.args[name]
	return v == "1" || v == "true"
}

func (c *call) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(c.args[name]); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// json is an argument that is JSON itself; absent and empty are nil.
func (c *call) json(name string) json.RawMessage {
	v := strings.TrimSpace(c.args[name])
	if v == "" || v == "null" {
		return nil
	}
	return json.RawMessage(v)
}

// parse reads form or JSON, wherever the arguments stand.
func parse(r *http.Request) (*call, error) {
	c := &call{args: map[string]string{}}
	for k, v := range r.URL.Query() {
		c.args[k] = v[0]
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("reading the call: %w", err)
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // none is a form
	if kind == "application/json" {
		err = c.readJSON(body)
	} else {
		var form url.Values
		form, err = url.ParseQuery(string(body))
		for k, v := range form {
			c.args[k] = v[0]
		}
	}
	c.token = c.args["token"]
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		c.token = bearer
	}
	delete(c.args, "token")
	return c, err
}

func (c *call) readJSON(body []byte) error {
	if len(strings.TrimSpace(string(body))) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return no("invalid_json")
	}
	for k, v := range fields {
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		c.args[k] = text
	}
	return nil
}

// callOf is a call with the fields of a JSON object, as an acknowledgement carries it.
func callOf(payload json.RawMessage) *call {
	c := &call{args: map[string]string{}}
	if c.readJSON(payload) != nil {
		return &call{args: map[string]string{}}
	}
	return c
}

// method is one method of the Web API.
type method struct {
	scope     string // "*:x" is channels:x, groups:x, im:x or mpim:x, after the channel
	perMinute int    // 0: not limited
	app       bool   // called with the app token
	open      bool   // called without a token
	fn        func(*workspace, *call) (obj, error)
}

var scopeOf = map[string]string{"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}

// web answers calls of the Web API, uploads and downloads.
type web struct {
	*workspace
	requests []*Request
	methods  map[string]method
	limits   Limits
	buckets  map[string]*bucket
}

// serveAPI is the way of every call: written down, struck by a fault, done, answered.
func (s *web) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	c, err := parse(r)
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	s.serve(w, name, s.methods[name], c, err)
}

func (s *web) serve(w http.ResponseWriter, name string, m method, c *call, err error) {
	s.Mu.Lock()
	req := &Request{Method: name, At: time.Now(), Args: c.args, Known: m.fn != nil}
	s.requests = append(s.requests, req)
	s.Made(name, req.Known)
	f := s.OfCall(name)
	s.Change()
	s.Mu.Unlock()

	if f.LostRequest {
		s.note(req, 0, "lost_request")
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 || f.Error != "" {
		s.refuse(w, req, f)
		return
	}
	s.Pause(f.AcceptAfter, f.AcceptWhen)
	var out obj
	s.Mu.Lock()
	var wait time.Duration
	if err == nil {
		out, wait, err = s.do(name, m, c)
	}
	s.Mu.Unlock()
	if wait > 0 {
		s.refuse(w, req, RateLimited(wait))
		return
	}
	out, status := answered(out, err)
	code, _ := out["error"].(string)
	if f.LostAnswer {
		s.note(req, 0, "lost_answer")
		panic(http.ErrAbortHandler)
	}
	s.note(req, status, code)
	s.Pause(f.AnswerAfter, f.AnswerWhen)
	w.Header().Set("X-Oauth-Scopes", strings.Join(s.cfg.Scopes, ","))
	if m.scope != "" {
		w.Header().Set("X-Accepted-Oauth-Scopes", m.scope)
	}
	reply(w, status, out)
}

func answered(out obj, err error) (obj, int) {
	if err == nil {
		if out == nil {
			out = obj{}
		}
		out["ok"] = true
		return out, http.StatusOK
	}
	var se *slackError
	if !errors.As(err, &se) {
		se = &slackError{code: "invalid_form_data"}
	}
	out = obj{"ok": false, "error": se.code}
	maps.Copy(out, se.extra)
	platformtest.Default(&se.status, http.StatusOK)
	return out, se.status
}

// do checks who calls and how often, and does it; the lock is held.
func (s *web) do(name string, m method, c *call) (obj, time.Duration, error) {
	if m.fn == nil {
		return nil, 0, no("unknown_method")
	}
	if err := s.allow(m, c); err != nil {
		return nil, 0, err
	}
	if wait := s.limit(name, m, c); wait > 0 {
		return nil, wait, nil
	}
	out, err := m.fn(s.workspace, c)
	return out, 0, err
}

// allow checks the token and its scopes.
func (s *web) allow(m method, c *call) error {
	switch {
	case m.open:
		return nil
	case c.token == "":
		return no("not_authed")
	case c.token != s.BotToken && c.token != s.AppToken:
		return no("invalid_auth")
	case m.app != (c.token == s.AppToken):
		return no("not_allowed_token_type")
	case m.app:
		return nil
	}
	scope := m.scope
	if rest, ok := strings.CutPrefix(scope, "*:"); ok {
		kind := "channel"
		if ch := s.channel(c.str("channel")); ch != nil {
			kind = ch.kind()
		}
		scope = scopeOf[kind] + ":" + rest
	}
	if scope != "" && !slices.Contains(s.cfg.Scopes, scope) {
		return &slackError{code: "missing_scope", extra: obj{"needed": scope, "provided": strings.Join(s.cfg.Scopes, ",")}}
	}
	return nil
}

func (s *web) note(req *Request, status int, code string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	req.Status, req.Error = status, code
	s.Change()
}

// refuse answers a call that nothing came of.
func (s *web) refuse(w http.ResponseWriter, req *Request, f Fault) {
	out := obj{"ok": false, "error": f.Error}
	status := f.Status
	switch status {
	case 0:
		status = http.StatusOK
	case http.StatusTooManyRequests:
		out["error"] = "ratelimited"
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter(f.RetryAfter)))
		s.Mu.Lock()
		s.TooMany(req.Method)
		s.Mu.Unlock()
	default:
		out["error"] = "service_unavailable"
	}
	s.note(req, status, fmt.Sprint(out["error"]))
	reply(w, status, out)
}

func reply(w http.ResponseWriter, status int, out obj) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(platformtest.Encode(out)) // a client that went away needs no answer
}

// bucket is a leaky bucket: so many at once, then one each so often.
type bucket struct {
	tokens float64
	at     time.Time
}

// take takes one, or says how long to wait.
func (b *bucket) take(now time.Time, burst int, every time.Duration) time.Duration {
	if b.at.IsZero() {
		b.tokens = float64(burst)
	} else {
		b.tokens = min(float64(burst), b.tokens+float64(now.Sub(b.at))/float64(every))
	}
	b.at = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) * float64(every))
}

// limit says how long the call has to wait; the lock is held.
func (s *web) limit(name string, m method, c *call) time.Duration {
	if s.limits.Off {
		return 0
	}
	now := time.Now()
	if name == "chat.postMessage" {
		return s.bucket(name+" "+c.str("channel")).take(now, s.limits.PostBurst, s.limits.PostEvery)
	}
	perMinute := m.perMinute
	if n, ok := s.limits.PerMinute[name]; ok {
		perMinute = n
	}
	if perMinute == 0 {
		return 0
	}
	return s.bucket(name).take(now, perMinute, time.Minute/time.Duration(perMinute))
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

func retryAfter(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
