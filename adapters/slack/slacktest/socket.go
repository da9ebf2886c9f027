package slacktest

// This file is the server's end of Socket Mode: it greets connections and
// reads acknowledgements, and lets a test disconnect them, leave them
// ungreeted or send garbage.

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const (
	maxLinks    = 10
	maxResponse = 20 << 10 // larger acknowledgements are not seen
)

// sockets are the connections of the app.
type sockets struct {
	*workspace
	links    []*link
	linkSeq  int
	nextLink int
	tickets  map[string]time.Time
	mute     int // of the next connections: they are never greeted
}

// link is one Socket Mode connection.
type link struct {
	*platformtest.Socket
	id      int
	ready   bool // said hello
	leaving bool // told to go
}

func (l *link) write(b []byte) { l.Send(platformtest.Frame{Text: b}) }

// pick takes the links in turn.
func (s *sockets) pick() *link {
	var ready []*link
	for _, l := range s.links {
		if l.ready && !l.leaving && l.Alive() {
			ready = append(ready, l)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	s.nextLink++
	return ready[s.nextLink%len(ready)]
}

func (s *sockets) serveLink(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.Mu.Lock()
	until, ok := s.tickets[ticket]
	delete(s.tickets, ticket)
	refuse := s.Refuses()
	s.Mu.Unlock()
	if !ok || time.Now().After(until) || refuse {
		http.Error(w, "invalid ticket", http.StatusUnauthorized)
		return
	}
	ws, ok := platformtest.Upgrade(w, r)
	if !ok {
		return
	}
	l := &link{Socket: ws}
	if !s.join(l) {
		l.Refuse(platformtest.Encode(obj{"type": "disconnect", "reason": "too_many_websockets"}))
		return
	}
	s.WG.Go(func() { l.Pump(s.cfg.PingEvery, "Ping from applink-slacktest") })
	s.listen(l)
	s.leave(l)
}

// join adds a connection and says hello.
func (s *sockets) join(l *link) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if len(s.links) >= maxLinks || s.Closed() {
		return false
	}
	s.linkSeq++
	l.id = s.linkSeq
	s.links = append(s.links, l)
	if s.mute > 0 {
		s.mute--
	} else {
		l.ready = true
		l.write(platformtest.Encode(obj{
			"type": "hello", "num_connections": len(s.links), "connection_info": obj{"app_id": App},
			"debug_info": obj{"host": "applink-slacktest", "build_number": 1, "approximate_connection_time": 18060},
		}))
	}
	s.Change()
	return true
}

// leave fails what the connection still owed.
func (s *sockets) leave(l *link) {
	l.Cut()
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.links = slices.DeleteFunc(s.links, func(o *link) bool { return o == l })
	s.Change()
	if s.Closed() {
		return
	}
	var owed []*delivery
	for _, d := range s.events.pending {
		if d.link == l {
			owed = append(owed, d)
		}
	}
	slices.SortFunc(owed, func(a, b *delivery) int { return a.record.Sent.Compare(b.record.Sent) })
	for _, d := range owed {
		s.events.failed(d, d.envelope, "connection_closed")
	}
}

// listen reads acknowledgements until the connection ends.
func (s *sockets) listen(l *link) {
	for {
		b, err := l.Read()
		if err != nil {
			return
		}
		var ack struct {
			EnvelopeID string          `json:"envelope_id"`
			Payload    json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(b, &ack) != nil || len(b) >= maxResponse {
			continue
		}
		s.Mu.Lock()
		s.events.acknowledge(ack.EnvelopeID, ack.Payload)
		s.Mu.Unlock()
	}
}

// cutAll ends every connection.
func (s *sockets) cutAll() {
	for _, l := range s.links {
		l.Cut()
	}
}

// Connections is how many sockets have been greeted and are open.
func (s *sockets) Connections() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := 0
	for _, l := range s.links {
		if l.ready && l.Alive() {
			n++
		}
	}
	return n
}

// Disconnect tells every socket to go, with a reason as Slack gives it:
// warning (a little before), refresh_requested or link_disabled (the socket is
// cut soon after).
func (s *sockets) Disconnect(reason string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, l := range s.links {
		l.write(platformtest.Encode(obj{"type": "disconnect", "reason": reason, "debug_info": obj{"host": "applink-slacktest"}}))
		if reason != "warning" {
			l.leaving = true
			s.Later(s.cfg.Refresh, l.Cut)
		}
	}
}

// Mute lets the next n sockets connect and never says hello on them.
func (s *sockets) Mute(n int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.mute = n
}

// Garbage sends a frame that need not be JSON over every socket.
func (s *sockets) Garbage(frame string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, l := range s.links {
		l.write([]byte(frame))
	}
}
