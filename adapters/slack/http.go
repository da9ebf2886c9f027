package slack

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

const maxRequest = 1 << 20

// Routes are the places where Slack sends to when a signing secret is set, by
// their paths; without one there are none.
func (s *Slack) Routes() map[string]http.Handler {
	if s.cfg.SigningSecret == "" {
		return nil
	}
	proofs := newVerifier(s.cfg.SigningSecret)
	route := func(open func([]byte) (parcel, error)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, proofs, open) })
	}
	return map[string]http.Handler{
		"/slack/events": route(func(body []byte) (parcel, error) {
			return parcel{kind: kindEvent, payload: body}, nil
		}),
		"/slack/interactive": route(openInteraction),
		"/slack/commands":    route(openCommand),
	}
}

// serve takes one request: 200 means that it is written down.
func (s *Slack) serve(w http.ResponseWriter, r *http.Request, proofs *verifier, open func([]byte) (parcel, error)) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "the body broke off", http.StatusBadRequest)
		return
	}
	proof, err := proofs.check(r.Header, body, time.Now())
	if err != nil {
		s.in.quiet.Warn(s.log, "a request was refused that claims to be Slack's", "path", r.URL.Path, "why", err)
		http.Error(w, "not proved to be Slack's", http.StatusUnauthorized)
		return
	}
	p, err := open(body)
	if err != nil {
		s.in.quiet.Warn(s.log, "a payload of Slack's cannot be read and is ignored", "path", r.URL.Path, "why", err)
		return
	}
	if challenge, is := challengeOf(p); is {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, challenge) // Slack asks again
		return
	}
	p.again = r.Header.Get("X-Slack-Retry-Num") != ""
	result := make(chan error, 1)
	s.take(p, func(err error) { result <- err })
	if err := <-result; err != nil {
		proofs.release(proof)
		http.Error(w, "not written down: send it again", http.StatusServiceUnavailable)
	}
}

// challengeOf is Slack's question whether the address is the app's.
func challengeOf(p parcel) (string, bool) {
	var outer struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
	}
	if p.kind != kindEvent || json.Unmarshal(p.payload, &outer) != nil {
		return "", false
	}
	return outer.Challenge, outer.Type == "url_verification"
}

func openInteraction(body []byte) (parcel, error) {
	form, err := url.ParseQuery(string(body))
	return parcel{kind: kindInteraction, payload: []byte(form.Get("payload"))}, err
}

// openCommand makes the form of a command what comes through a socket.
func openCommand(body []byte) (parcel, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return parcel{}, err
	}
	flat := map[string]string{}
	for name := range form {
		flat[name] = form.Get(name)
	}
	payload, err := json.Marshal(flat)
	return parcel{kind: kindCommand, payload: payload}, err
}
