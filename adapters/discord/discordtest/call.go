package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"
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

// serveAPI is the way of every call: written down, struck by a fault, done, answered.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	_, pattern := s.api.Handler(r)
	if pattern == "" {
		s.serve(w, r, route{})
		return
	}
	s.api.ServeHTTP(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, rt route) {
	c, parseErr := parse(r)
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	name := r.Pattern
	def(&name, r.Method+" "+r.URL.Path)
	s.mu.Lock()
	req := &Request{Route: name, Path: r.URL.RequestURI(), At: time.Now(), Body: c.body, Known: rt.fn != nil}
	s.requests = append(s.requests, req)
	f := s.fault(name)
	if s.outage {
		f = LostRequest()
	}
	s.change()
	s.mu.Unlock()

	if f.LostRequest {
		s.note(req, 0, 0, "lost_request")
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 || f.Code != 0 {
		s.refuse(w, req, f)
		return
	}
	s.pause(f.AcceptAfter, f.AcceptWhen)
	s.mu.Lock()
	out, err := s.do(w.Header(), rt, c, parseErr)
	s.mu.Unlock()
	if f.LostAnswer {
		s.note(req, 0, 0, "lost_answer")
		panic(http.ErrAbortHandler)
	}
	s.pause(f.AnswerAfter, f.AnswerWhen)
	s.answer(w, req, out, err)
}

// do checks who calls and how often, and does it; the lock is held.
func (s *Server) do(h http.Header, rt route, c *call, parseErr error) (any, error) {
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
	return rt.fn(s, c)
}

// created is an answer with status 201, nothing one with 204.
type (
	created struct{ body any }
	nothing struct{}
)

func (s *Server) answer(w http.ResponseWriter, req *Request, out any, err error) {
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

func (s *Server) reject(w http.ResponseWriter, req *Request, e *apiError) {
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
func (s *Server) slow(w http.ResponseWriter, req *Request, wait time.Duration, global bool) {
	s.mu.Lock()
	s.limited[req.Route]++
	s.mu.Unlock()
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
func (s *Server) refuse(w http.ResponseWriter, req *Request, f Fault) {
	def(&f.Status, http.StatusBadRequest)
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

// pause waits for a time or a signal, however long the client does.
func (s *Server) pause(after time.Duration, when <-chan struct{}) {
	if after > 0 {
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.done.Done():
		}
	}
	if when != nil {
		select {
		case <-when:
		case <-s.done.Done():
		}
	}
}

func (s *Server) note(req *Request, status, code int, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Status, req.Code, req.Error = status, code, message
	s.change()
}

func reply(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(out)) // a client that went away needs no answer
}
