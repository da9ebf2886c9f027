package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
)

// Routes are the places where Slack sends to when a signing secret is set, by
// their paths; without one there are none.
func (s *Slack) Routes() map[string]http.Handler {
	if s.cfg.SigningSecret == "" {
		return nil
	}
	proofs, door := newVerifier(s.cfg.SigningSecret), ingest.NewDoor(stampHeader, signatureHeader)
	route := func(open func([]byte) (envelope, error)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, ok := door.Read(w, r, time.Now()); ok {
				s.serve(w, r, body, proofs, open)
			}
		})
	}
	return map[string]http.Handler{
		"/slack/events": route(func(body []byte) (envelope, error) {
			return envelope{kind: wire.KindEvent, payload: body}, nil
		}),
		"/slack/interactive": route(openInteraction),
		"/slack/commands":    route(openCommand),
	}
}

// serve takes one request: 200 means that it is written down.
func (s *Slack) serve(w http.ResponseWriter, r *http.Request, body []byte, proofs *verifier, open func([]byte) (envelope, error)) {
	proof, err := proofs.check(r.Header, body, time.Now())
	if err != nil {
		s.in.Log.Warn(s.log, "a request was refused that claims to be Slack's", "path", r.URL.Path, "why", err)
		http.Error(w, "not proved to be Slack's", http.StatusUnauthorized)
		return
	}
	e, err := open(body)
	if err != nil {
		s.in.Log.Warn(s.log, "a payload of Slack's cannot be read and is ignored", "path", r.URL.Path, "why", err)
		return
	}
	if challenge, is := challengeOf(e); is {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, challenge) // Slack asks again
		return
	}
	var now json.RawMessage
	result := make(chan error, 1)
	e.again, e.done = r.Header.Get("X-Slack-Retry-Num") != "", func(what json.RawMessage, err error) { now = what; result <- err }
	s.in.take(e)
	if err := <-result; err != nil {
		proofs.used.Release(proof)
		http.Error(w, "not written down: send it again", http.StatusServiceUnavailable)
		return
	}
	if len(now) > 0 {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(now) // whoever does not get it sends the form in again
	}
}

// challengeOf is Slack's question whether the address is the app's.
func challengeOf(e envelope) (string, bool) {
	var outer struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
	}
	if e.kind != wire.KindEvent || json.Unmarshal(e.payload, &outer) != nil {
		return "", false
	}
	return outer.Challenge, outer.Type == "url_verification"
}

func openInteraction(body []byte) (envelope, error) {
	form, err := url.ParseQuery(string(body))
	return envelope{kind: wire.KindInteraction, payload: []byte(form.Get("payload"))}, err
}

// openCommand makes the form of a command what comes through a socket.
func openCommand(body []byte) (envelope, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return envelope{}, err
	}
	flat := map[string]string{}
	for name := range form {
		flat[name] = form.Get(name)
	}
	payload, err := json.Marshal(flat)
	return envelope{kind: wire.KindCommand, payload: payload}, err
}
