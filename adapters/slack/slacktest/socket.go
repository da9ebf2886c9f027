package slacktest

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxLinks    = 10
	maxResponse = 20 << 10 // larger acknowledgements are not seen
)

// link is one Socket Mode connection.
type link struct {
	id      int
	ws      *websocket.Conn
	out     chan []byte
	gone    chan struct{}
	cutOnce sync.Once
	ready   bool // said hello
	leaving bool // told to go
}

// write queues a frame; a client that does not read is cut.
func (l *link) write(b []byte) {
	select {
	case l.out <- b:
	default:
		l.cut()
	}
}

// cut ends the connection without a word.
func (l *link) cut() {
	l.cutOnce.Do(func() {
		close(l.gone)
		_ = l.ws.NetConn().Close() // as a cable that is pulled
	})
}

// open reports whether the connection was not cut yet.
func (l *link) open() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

// pick takes the links in turn.
func (s *Server) pick() *link {
	var ready []*link
	for _, l := range s.links {
		if l.ready && !l.leaving && l.open() {
			ready = append(ready, l)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	s.nextLink++
	return ready[s.nextLink%len(ready)]
}

func (s *Server) serveLink(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	until, ok := s.tickets[ticket]
	delete(s.tickets, ticket)
	refuse := s.outage || s.closed
	s.mu.Unlock()
	if !ok || time.Now().After(until) || refuse {
		http.Error(w, "invalid ticket", http.StatusUnauthorized)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	l := &link{ws: ws, out: make(chan []byte, 4096), gone: make(chan struct{})}
	if !s.join(l) {
		_ = ws.WriteJSON(obj{"type": "disconnect", "reason": "too_many_websockets"}) // it is closed next anyway
		l.cut()
		return
	}
	s.wg.Go(func() { s.pump(l) })
	s.listen(l)
	s.leave(l)
}

// join adds a connection and says hello.
func (s *Server) join(l *link) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) >= maxLinks || s.closed {
		return false
	}
	s.linkSeq++
	l.id = s.linkSeq
	s.links = append(s.links, l)
	if s.mute > 0 {
		s.mute--
	} else {
		l.ready = true
		l.write(encode(obj{
			"type": "hello", "num_connections": len(s.links), "connection_info": obj{"app_id": App},
			"debug_info": obj{"host": "applink-slacktest", "build_number": 1, "approximate_connection_time": 18060},
		}))
	}
	s.change()
	return true
}

// leave fails what the connection still owed.
func (s *Server) leave(l *link) {
	l.cut()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = slices.DeleteFunc(s.links, func(o *link) bool { return o == l })
	s.change()
	if s.closed {
		return
	}
	var owed []*delivery
	for _, d := range s.pending {
		if d.link == l {
			owed = append(owed, d)
		}
	}
	slices.SortFunc(owed, func(a, b *delivery) int { return a.record.Sent.Compare(b.record.Sent) })
	for _, d := range owed {
		s.failed(d, d.envelope, "connection_closed")
	}
}

// pump writes frames and pings.
func (s *Server) pump(l *link) {
	tick := time.NewTicker(s.cfg.PingEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-l.gone:
			return
		case b := <-l.out:
			_ = l.ws.SetWriteDeadline(time.Now().Add(10 * time.Second)) // cannot fail
			err = l.ws.WriteMessage(websocket.TextMessage, b)
		case <-tick.C:
			err = l.ws.WriteControl(websocket.PingMessage, []byte("Ping from applink-slacktest"), time.Now().Add(10*time.Second))
		}
		if err != nil {
			l.cut()
			return
		}
	}
}

// listen reads acknowledgements until the connection ends.
func (s *Server) listen(l *link) {
	for {
		_, b, err := l.ws.ReadMessage()
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
		s.mu.Lock()
		s.acknowledge(ack.EnvelopeID, ack.Payload)
		s.mu.Unlock()
	}
}

// Connections is how many sockets have been greeted and are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.links {
		if l.ready && l.open() {
			n++
		}
	}
	return n
}

// Disconnect tells every socket to go, with a reason as Slack gives it:
// warning (a little before), refresh_requested or link_disabled (the socket is
// cut soon after).
func (s *Server) Disconnect(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.write(encode(obj{"type": "disconnect", "reason": reason, "debug_info": obj{"host": "applink-slacktest"}}))
		if reason != "warning" {
			l.leaving = true
			s.later(s.cfg.Refresh, l.cut)
		}
	}
}

// DropSockets cuts every socket without a word.
func (s *Server) DropSockets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.cut()
	}
}

// Mute lets the next n sockets connect and never says hello on them.
func (s *Server) Mute(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = n
}

// Garbage sends a frame that need not be JSON over every socket.
func (s *Server) Garbage(frame string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.write([]byte(frame))
	}
}
