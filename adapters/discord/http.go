package discord

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
)

// answerBefore is when a request is given up: Discord waits for three seconds.
const answerBefore = 2800 * time.Millisecond

// Routes are the places where Discord sends to when a public key is set, by
// their paths; without one there are none.
func (d *Discord) Routes() map[string]http.Handler {
	if d.proofs == nil {
		return nil
	}
	return map[string]http.Handler{"/discord/interactions": http.HandlerFunc(d.serve)}
}

// serve takes one interaction: the body of the answer is the first response to it.
func (d *Discord) serve(w http.ResponseWriter, r *http.Request) {
	body, ok := d.proofs.Read(w, r, time.Now())
	if !ok {
		return
	}
	if err := d.proofs.Check(r.Header, body, time.Now()); err != nil {
		d.in.Log.Warn(d.log, "a request was refused that claims to be Discord's", "path", r.URL.Path, "why", err)
		http.Error(w, "not proved to be Discord's", http.StatusUnauthorized)
		return
	}
	if isPing(body) {
		d.write(w, []byte(`{"type":1}`)) // PONG
		return
	}
	first := make(chan []byte, 1)
	if err := d.in.Take(envelope{kind: eventInteraction, payload: body, body: first}); err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, ingest.ErrNotListening) {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, "not understood", status)
		return
	}
	t := time.NewTimer(answerBefore)
	defer t.Stop()
	select {
	case reply := <-first:
		d.write(w, reply)
	case <-t.C:
		http.Error(w, "no answer in time", http.StatusServiceUnavailable)
	case <-r.Context().Done():
	}
}

func (d *Discord) write(w http.ResponseWriter, reply []byte) {
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(reply); err != nil {
		d.in.Log.Warn(d.log, "an interaction's answer could not be sent", "error", err)
	}
}

// isPing is Discord's question whether the address is the application's.
func isPing(body []byte) bool {
	var outer struct {
		Type discordgo.InteractionType `json:"type"`
	}
	return json.Unmarshal(body, &outer) == nil && outer.Type == discordgo.InteractionPing
}
