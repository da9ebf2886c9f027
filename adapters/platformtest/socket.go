package platformtest

import (
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Frame is a text to send, or a code to close with.
type Frame struct {
	Text  []byte
	Code  int
	Words string
}

// Socket is one connection of a client.
type Socket struct {
	ws   *websocket.Conn
	out  chan Frame
	gone chan struct{}
	once sync.Once
}

// Upgrade makes a connection of a request; false: it was answered already.
func Upgrade(w http.ResponseWriter, r *http.Request) (*Socket, bool) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return nil, false
	}
	return &Socket{ws: ws, out: make(chan Frame, 4096), gone: make(chan struct{})}, true
}

// Send queues a frame; a client that does not read is cut.
func (s *Socket) Send(f Frame) {
	select {
	case s.out <- f:
	default:
		s.Cut()
	}
}

// Cut ends the connection without a word, as a cable that is pulled.
func (s *Socket) Cut() {
	s.once.Do(func() {
		close(s.gone)
		_ = s.ws.NetConn().Close() // it is gone then
	})
}

// Alive reports whether the connection was not cut yet.
func (s *Socket) Alive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// Read is the next message of the client.
func (s *Socket) Read() ([]byte, error) {
	_, b, err := s.ws.ReadMessage()
	return b, err
}

// Pump writes what was queued until the connection ends, and a ping with words
// every so often unless that is 0.
func (s *Socket) Pump(ping time.Duration, words string) {
	var tick <-chan time.Time
	if ping > 0 {
		ticker := time.NewTicker(ping)
		defer ticker.Stop()
		tick = ticker.C
	}
	for s.Alive() {
		var err error
		select {
		case <-s.gone:
		case f := <-s.out:
			err = s.write(f)
		case <-tick:
			err = s.ws.WriteControl(websocket.PingMessage, []byte(words), time.Now().Add(10*time.Second))
		}
		if err != nil {
			s.Cut()
		}
	}
}

func (s *Socket) write(f Frame) error {
	until := time.Now().Add(10 * time.Second)
	_ = s.ws.SetWriteDeadline(until) // cannot fail
	if f.Code == 0 {
		return s.ws.WriteMessage(websocket.TextMessage, f.Text)
	}
	_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(f.Code, f.Words), until) // it is cut next anyway
	s.Cut()
	return nil
}

// Refuse says something and ends the connection, which nobody pumps.
func (s *Socket) Refuse(text []byte) {
	_ = s.ws.WriteMessage(websocket.TextMessage, text) // it is closed next anyway
	s.Cut()
}
