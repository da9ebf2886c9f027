package discordtest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Close codes of the gateway.
const (
	closeOpcode   = 4001
	closeDecode   = 4002
	closeNotYet   = 4003
	closeAuth     = 4004
	closeAlready  = 4005
	closeSeq      = 4007
	closeRate     = 4008
	closeTimeout  = 4009
	closeIntents  = 4013
	closeDenied   = 4014
	maxFrames     = 120 // that a client may send a minute
	maxClientSize = 4096
)

// Opcodes of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opVoice     = 4
	opResume    = 6
	opReconnect = 7
	opMembers   = 8
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// link is one connection of the gateway.
type link struct {
	ws      *websocket.Conn
	out     chan frame
	gone    chan struct{}
	cutOnce sync.Once
	session *session // nil until it identified or resumed
	bye     int      // the code that the server closed with
	beat    *time.Timer
	frames  []time.Time // that the client sent within a minute
}

// frame is a text, or a close code.
type frame struct {
	text  []byte
	code  int
	words string
}

func (l *link) queue(f frame) {
	if f.code != 0 {
		l.bye = f.code
	}
	select {
	case l.out <- f:
	default:
		l.cut() // a client that does not read
	}
}

func (l *link) op(op int, data any) {
	l.queue(frame{text: encode(obj{"op": op, "d": data, "s": nil, "t": nil})})
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

func (s *Server) serveLink(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	refuse := s.outage || s.closed
	s.mu.Unlock()
	if refuse {
		panic(http.ErrAbortHandler)
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	l := &link{ws: ws, out: make(chan frame, 4096), gone: make(chan struct{})}
	s.greet(l)
	s.wg.Go(func() { s.pump(l) })
	code := s.listen(l)
	s.leave(l, code)
}

// greet adds a connection and says hello.
func (s *Server) greet(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		l.cut()
		return
	}
	s.links = append(s.links, l)
	s.change()
	if s.mute > 0 {
		s.mute--
		return
	}
	l.op(opHello, obj{"heartbeat_interval": s.cfg.Heartbeat.Milliseconds(), "_trace": []string{"discordtest"}})
	l.beat = s.later(2*s.cfg.Heartbeat+time.Second, func() { l.queue(frame{code: closeTimeout, words: "Session timed out."}) })
}

// leave keeps the session for a while, unless the client said goodbye.
func (s *Server) leave(l *link, code int) {
	l.cut()
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.beat != nil {
		l.beat.Stop()
	}
	s.links = slices.DeleteFunc(s.links, func(o *link) bool { return o == l })
	if se := l.session; se != nil && se.link == l {
		se.link, se.lost = nil, time.Now()
		if ends(l.bye, code) {
			s.forget(se)
		}
	}
	s.change()
}

// ends says whether a session ends with its connection. Whoever closes first decides.
func ends(server, client int) bool {
	switch {
	case server != 0:
		return server == closeSeq || server == closeTimeout
	default:
		return client == websocket.CloseNormalClosure || client == websocket.CloseGoingAway
	}
}

// pump writes frames.
func (s *Server) pump(l *link) {
	for {
		select {
		case <-l.gone:
			return
		case f := <-l.out:
			until := time.Now().Add(10 * time.Second)
			_ = l.ws.SetWriteDeadline(until) // cannot fail
			if f.code != 0 {
				_ = l.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(f.code, f.words), until) // it is cut next anyway
				l.cut()
				return
			}
			if l.ws.WriteMessage(websocket.TextMessage, f.text) != nil {
				l.cut()
				return
			}
		}
	}
}

// listen reads until the connection ends and says with which code.
func (s *Server) listen(l *link) int {
	for {
		_, b, err := l.ws.ReadMessage()
		if err != nil {
			if ce, ok := errors.AsType[*websocket.CloseError](err); ok {
				return ce.Code
			}
			return websocket.CloseAbnormalClosure
		}
		var f struct {
			Op *int            `json:"op"`
			D  json.RawMessage `json:"d"`
		}
		s.mu.Lock()
		switch {
		case len(b) > maxClientSize || json.Unmarshal(b, &f) != nil || f.Op == nil:
			l.queue(frame{code: closeDecode, words: "Error while decoding payload."})
		case l.tooFast(time.Now()):
			l.queue(frame{code: closeRate, words: "Rate limited."})
		default:
			s.heard(l, *f.Op, f.D)
		}
		s.mu.Unlock()
	}
}

func (l *link) tooFast(now time.Time) bool {
	l.frames = slices.DeleteFunc(l.frames, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	l.frames = append(l.frames, now)
	return len(l.frames) > maxFrames
}

// Connections is how many sockets are identified or resumed, and open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.links {
		if l.session != nil && l.open() {
			n++
		}
	}
	return n
}

// DropSockets cuts every socket without a word; the sessions may be resumed.
func (s *Server) DropSockets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropAll()
}

func (s *Server) dropAll() {
	for _, l := range s.links {
		l.cut()
	}
}

// CloseSockets closes every socket with a code, such as 4000 or 4009.
func (s *Server) CloseSockets(code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeAll(code, reason)
}

func (s *Server) closeAll(code int, reason string) {
	for _, l := range s.links {
		l.queue(frame{code: code, words: reason})
	}
}

// Reconnect asks every client to come again (op 7).
func (s *Server) Reconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.op(opReconnect, nil)
	}
}

// Invalidate tells every client that its session is invalid (op 9); one that
// is not resumable is forgotten.
func (s *Server) Invalidate(resumable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.op(opInvalid, resumable)
		if se := l.session; se != nil {
			se.link, se.lost, l.session = nil, time.Now(), nil
			if !resumable {
				s.forget(se)
			}
		}
	}
	s.change()
}

// Mute lets the next n sockets connect and never says hello on them.
func (s *Server) Mute(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = n
}

// Zombie stops acknowledging heartbeats, or ends that.
func (s *Server) Zombie(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zombie = on
}

// Garbage sends a frame that need not be JSON over every socket.
func (s *Server) Garbage(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.queue(frame{text: []byte(text)})
	}
}
