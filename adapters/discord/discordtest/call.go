package discordtest

// This file takes REST calls from parsing to answer: it checks the token,
// applies rate limits and faults, and words refusals as Discord does, for all
// routes alike.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const (
	maxUpload = 10 << 20 // of all files of a call together
	maxBody   = maxUpload + 1<<20
)

// call is one call of the REST API.
type call struct {
	r      *http.Request
	token  string
	body   json.RawMessage // JSON, or payload_json of a multipart form
	files  map[string]Upload
	tooBig bool
}

func (c *call) path(name string) string  { return c.r.PathValue(name) }
func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// read decodes the body; an absent one is an empty object.
func (c *call) read(v any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	var typ *json.UnmarshalTypeError
	err := json.Unmarshal(c.body, v)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typ):
		return invalid("BASE_TYPE_BAD_TYPE", "Could not interpret \""+typ.Value+"\" as "+typ.Type.String()+".", steps(typ.Field)...)
	default:
		return no(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
}

func steps(field string) []any {
	var out []any
	for part := range strings.SplitSeq(field, ".") {
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

// parse reads JSON or a multipart form.
func parse(r *http.Request) (*call, error) {
	c := &call{r: r, files: map[string]Upload{}}
	c.token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bot ")
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("reading the call: %w", err)
	}
	if len(body) > maxBody {
		c.tooBig = true
		return c, nil
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // none is JSON
	if kind != "multipart/form-data" {
		c.body = body
		return c, nil
	}
	return c, c.readForm(multipart.NewReader(bytes.NewReader(body), params["boundary"]))
}

func (c *call) readForm(form *multipart.Reader) error {
	total := 0
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			c.tooBig = total > maxUpload
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the form: %w", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return fmt.Errorf("reading the form: %w", err)
		}
		name := part.FormName()
		if name == "payload_json" {
			c.body = data
			continue
		}
		total += len(data)
		id := strings.TrimSuffix(strings.TrimPrefix(name, "files["), "]")
		c.files[id] = Upload{Name: part.FileName(), Mimetype: part.Header.Get("Content-Type"), Data: data}
	}
}

// web answers calls of the REST API, and downloads.
type web struct {
	*world
	mux      *http.ServeMux
	requests []*Request
	limits   Limits
	buckets  map[string]*bucket
}

// serveAPI is the way of every call: written down, struck by a fault, done, answered.
func (s *web) serveAPI(w http.ResponseWriter, r *http.Request) {
	_, pattern := s.mux.Handler(r)
	if pattern == "" {
		s.serve(w, r, route{})
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *web) serve(w http.ResponseWriter, r *http.Request, rt route) {
	c, parseErr := parse(r)
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	name := r.Pattern
	platformtest.Default(&name, r.Method+" "+r.URL.Path)
	s.Mu.Lock()
	req := &Request{Route: name, Path: r.URL.RequestURI(), At: time.Now(), Body: c.body, Known: rt.fn != nil}
	s.requests = append(s.requests, req)
	s.Made(name, req.Known)
	f := s.OfCall(name)
	s.Change()
	s.Mu.Unlock()

	if f.LostRequest {
		s.note(req, 0, 0, "lost_request")
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 || f.Code != 0 {
		s.refuse(w, req, f)
		return
	}
	s.Pause(f.AcceptAfter, f.AcceptWhen)
	s.Mu.Lock()
	out, err := s.do(w.Header(), rt, c, parseErr)
	s.Mu.Unlock()
	if f.LostAnswer {
		s.note(req, 0, 0, "lost_answer")
		panic(http.ErrAbortHandler)
	}
	s.Pause(f.AnswerAfter, f.AnswerWhen)
	s.answer(w, req, out, err)
}

// do checks who calls and how often, and does it; the lock is held.
func (s *web) do(h http.Header, rt route, c *call, parseErr error) (any, error) {
	switch {
	case rt.fn == nil:
		return nil, no(http.StatusNotFound, 0, "404: Not Found")
	case !rt.open && (c.token != s.Token || s.revoked):
		return nil, unauthorized()
	}
	if err := s.limit(h, rt, c); err != nil {
		return nil, err
	}
	if c.tooBig {
		return nil, no(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	}
	if parseErr != nil {
		return nil, no(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	return rt.fn(s.world, c)
}

// created is an answer with status 201, nothing one with 204.
type (
	created struct{ body any }
	nothing struct{}
)

func (s *web) answer(w http.ResponseWriter, req *Request, out any, err error) {
	if err != nil {
		var ae *apiError
		if !errors.As(err, &ae) {
			ae = &apiError{status: http.StatusInternalServerError, message: err.Error()}
		}
		s.reject(w, req, ae)
		return
	}
	status := http.StatusOK
	if made, ok := out.(created); ok {
		status, out = http.StatusCreated, made.body
	}
	if _, none := out.(nothing); none {
		s.note(req, http.StatusNoContent, 0, "")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.note(req, status, 0, "")
	reply(w, status, out)
}

func (s *web) reject(w http.ResponseWriter, req *Request, e *apiError) {
	s.note(req, e.status, e.code, e.message)
	if e.status == http.StatusTooManyRequests {
		s.slow(w, req, e.wait, e.code != 0)
		return
	}
	out := obj{"code": e.code, "message": e.message}
	if e.errors != nil {
		out["errors"] = e.errors
	}
	reply(w, e.status, out)
}

// slow answers 429.
func (s *web) slow(w http.ResponseWriter, req *Request, wait time.Duration, global bool) {
	s.Mu.Lock()
	s.TooMany(req.Route)
	s.Mu.Unlock()
	w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	w.Header().Set("X-Ratelimit-Scope", "user")
	if global {
		w.Header().Set("X-Ratelimit-Scope", "global")
		w.Header().Set("X-Ratelimit-Global", "true")
	}
	reply(w, http.StatusTooManyRequests, obj{
		"message": "You are being rate limited.", "retry_after": float64(wait.Milliseconds()+1) / 1000, "global": global,
	})
}

// refuse answers a call that nothing came of.
func (s *web) refuse(w http.ResponseWriter, req *Request, f Fault) {
	platformtest.Default(&f.Status, http.StatusBadRequest)
	switch {
	case f.Status == http.StatusTooManyRequests:
		s.note(req, f.Status, 0, "rate limited by a fault")
		s.slow(w, req, f.RetryAfter, f.Global)
	case f.Code == 0 && f.Status >= http.StatusInternalServerError:
		s.note(req, f.Status, 0, "unavailable by a fault")
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, "<html><body>"+http.StatusText(f.Status)+"</body></html>") // as its proxy says it
	default:
		s.reject(w, req, &apiError{status: f.Status, code: f.Code, message: messages[f.Code]})
	}
}

func (s *web) note(req *Request, status, code int, message string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	req.Status, req.Code, req.Error = status, code, message
	s.Change()
}

func reply(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(platformtest.Encode(out)) // a client that went away needs no answer
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

func (l Limits) withDefaults() Limits {
	platformtest.Default(&l.Global, 50)
	return l
}
