package openai

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// payload is an encoded body whose memory is used again: a long conversation
// is tens of kilobytes with each call, which is most of what a call allocates.
// The transport may read a body after its call has returned, so the memory is
// free only when the caller and every reader are done.
type payload struct {
	bytes []byte
	users atomic.Int32
}

var payloads = sync.Pool{New: func() any { return new(payload) }}

// borrow returns an empty payload with one user, the caller.
func borrow() *payload {
	p, _ := payloads.Get().(*payload) // the pool holds nothing else
	p.bytes = p.bytes[:0]
	p.users.Store(1)
	return p
}

// done takes one user away.
func (p *payload) done() {
	if p.users.Add(-1) == 0 {
		payloads.Put(p)
	}
}

// reader reads the payload from its beginning and is a user until it is closed.
func (p *payload) reader() io.ReadCloser {
	p.users.Add(1)
	return &payloadReader{Reader: bytes.NewReader(p.bytes), done: sync.OnceFunc(p.done)}
}

type payloadReader struct {
	*bytes.Reader
	done func()
}

func (r *payloadReader) Close() error {
	r.done()
	return nil
}
