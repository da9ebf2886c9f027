package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
)

// tail is a reply's body that remembers its last bytes and whether it was read
// to its end. go-openai's reader tells neither [DONE] from an end of the bytes
// nor finds an error event that follows a comment or an event line.
type tail struct {
	from  io.ReadCloser
	head  []byte // peeked and not yet read
	last  []byte
	ended bool
	err   error // held back until the bytes that came with it are used
}

// peek returns the first byte that is not white space, without using it.
func (t *tail) peek() (byte, error) {
	buf := make([]byte, 512)
	for {
		n, err := t.from.Read(buf)
		t.head = append(t.head, buf[:n]...)
		if s := bytes.TrimLeft(t.head, " \t\r\n\xef\xbb\xbf"); len(s) > 0 {
			t.err = err
			return s[0], nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (t *tail) Read(p []byte) (int, error) {
	if len(t.head) > 0 {
		n := copy(p, t.head)
		t.head = t.head[n:]
		t.keep(p[:n])
		return n, nil
	}
	if t.err != nil {
		t.ended = true
		return 0, t.err
	}
	n, err := t.from.Read(p)
	if n > 0 {
		t.keep(p[:n])
		t.err = err
		return n, nil
	}
	t.ended = t.ended || err != nil
	return n, err
}

func (t *tail) keep(p []byte) {
	if len(t.last)+len(p) > maxTail {
		t.last = append(t.last[:0], t.last[max(0, len(t.last)-maxTail/2):]...)
	}
	t.last = append(t.last, p[max(0, len(p)-maxTail/2):]...)
}

func (t *tail) Close() error { return t.from.Close() }

var errorEvent = regexp.MustCompile(`(?m)^(?:data:\s*)?(\{\s*"error"\s*:)`)

// failure returns the last error event of the stream, nil where there is none.
func (t *tail) failure() []byte {
	all := errorEvent.FindAllSubmatchIndex(t.last, -1)
	if len(all) == 0 {
		return nil
	}
	var body json.RawMessage
	if json.NewDecoder(bytes.NewReader(t.last[all[len(all)-1][2]:])).Decode(&body) != nil {
		return nil
	}
	return body
}
