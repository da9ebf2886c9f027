package discordtest

// This file runs the gateway's WebSocket connections, from hello and
// heartbeats to close codes, and disturbs them on request so that tests can
// see a client recover.

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
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

// sockets are the connections of the gateway and the sessions over them.
type sockets struct {
	*world
	links    []*link
	sessions []*session
	mute     int  // of the next connections: they are never greeted
	zombie   bool // heartbeats are not acknowledged
	beats    int
}

// link is one connection of the gateway.
type link struct {
	*platformtest.Socket
	session *session // nil until it identified or resumed
	bye     int      // the code that the server closed with
	beat    *time.Timer
	frames  []time.Time // that the client sent within a minute
}

func (l *link) write(text []byte) { l.Send(platformtest.Frame{Text: text}) }

// goodbye closes the connection with a code.
func (l *link) goodbye(code int, words string) {
	l.bye = code
	l.Send(platformtest.Frame{Code: code, Words: words})
}

func (l *link) op(op int, data any) {
	l.write(platformtest.Encode(obj{"op": op, "d": data, "s": nil, "t": nil}))
}

func (s *sockets) serveLink(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	refuse := s.Refuses()
	s.Mu.Unlock()
	if refuse {
		panic(http.ErrAbortHandler)
	}
	ws, ok := platformtest.Upgrade(w, r)
	if !ok {
		return
	}
	l := &link{Socket: ws}
	s.greet(l)
	s.WG.Go(func() { l.Pump(0, "") })
	code := s.listen(l)
	s.leave(l, code)
}

// greet adds a connection and says hello.
func (s *sockets) greet(l *link) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Closed() {
		l.Cut()
		return
	}
	s.links = append(s.links, l)
	s.Change()
	if s.mute > 0 {
		s.mute--
		return
	}
	l.op(opHello, obj{"heartbeat_interval": s.cfg.Heartbeat.Milliseconds(), "_trace": []string{"discordtest"}})
	l.beat = s.Later(2*s.cfg.Heartbeat+time.Second, func() { l.goodbye(closeTimeout, "Session timed out.") })
}

// leave keeps the session for a while, unless the client said goodbye.
func (s *sockets) leave(l *link, code int) {
	l.Cut()
	s.Mu.Lock()
	defer s.Mu.Unlock()
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
	s.Change()
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

// listen reads until the connection ends and says with which code.
func (s *sockets) listen(l *link) int {
	for {
		b, err := l.Read()
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
		s.Mu.Lock()
		switch {
		case len(b) > maxClientSize || json.Unmarshal(b, &f) != nil || f.Op == nil:
			l.goodbye(closeDecode, "Error while decoding payload.")
		case l.tooFast(time.Now()):
			l.goodbye(closeRate, "Rate limited.")
		default:
			s.heard(l, *f.Op, f.D)
		}
		s.Mu.Unlock()
	}
}

func (l *link) tooFast(now time.Time) bool {
	l.frames = slices.DeleteFunc(l.frames, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	l.frames = append(l.frames, now)
	return len(l.frames) > maxFrames
}

// Connections is how many sockets are identified or resumed, and open.
func (s *sockets) Connections() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := 0
	for _, l := range s.links {
		if l.session != nil && l.Alive() {
			n++
		}
	}
	return n
}

// cutAll cuts every connection; the lock is held.
func (s *sockets) cutAll() {
	for _, l := range s.links {
		l.Cut()
	}
}

// CloseSockets closes every socket with a code, such as 4000 or 4009.
func (s *sockets) CloseSockets(code int, reason string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.closeAll(code, reason)
}

func (s *sockets) closeAll(code int, reason string) {
	for _, l := range s.links {
		l.goodbye(code, reason)
	}
}

// Reconnect asks every client to come again (op 7).
func (s *sockets) Reconnect() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, l := range s.links {
		l.op(opReconnect, nil)
	}
}

// Invalidate tells every client that its session is invalid (op 9); one that
// is not resumable is forgotten.
func (s *sockets) Invalidate(resumable bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, l := range s.links {
		l.op(opInvalid, resumable)
		if se := l.session; se != nil {
			se.link, se.lost, l.session = nil, time.Now(), nil
			if !resumable {
				s.forget(se)
			}
		}
	}
	s.Change()
}

// Mute lets the next n sockets connect and never says hello on them.
func (s *sockets) Mute(n int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.mute = n
}

// Zombie stops acknowledging heartbeats, or ends that.
func (s *sockets) Zombie(on bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.zombie = on
}

// Garbage sends a frame that need not be JSON over every socket.
func (s *sockets) Garbage(text string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, l := range s.links {
		l.write([]byte(text))
	}
}
