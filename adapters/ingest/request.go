package ingest

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	maxRequest   = 1 << 20
	smallRequest = 32 << 10 // most requests are smaller
	maxLarge     = 16
	readWithin   = 5 * time.Second
	freshFor     = 5 * time.Minute
	maxProofs    = 25_000 // per half: Slack sends an app at most 30,000 events an hour
)

// Door is where the signed requests of one platform come in. Nobody has proved
// anything when a body is read, so little is read, and not for long.
type Door struct {
	stamp, signature string        // the headers that prove a request
	large            chan struct{} // a place for each large body that is read
}

// NewDoor opens a door for requests that carry a stamp (seconds since 1970) and a
// signature in the headers.
func NewDoor(stamp, signature string) *Door {
	return &Door{stamp: stamp, signature: signature, large: make(chan struct{}, maxLarge)}
}

// Read reads the body of a request. It reports false, and has answered, where
// there is none to read: one without a fresh stamp and a signature is refused
// before that.
func (d *Door) Read(w http.ResponseWriter, r *http.Request, now time.Time) (body []byte, ok bool) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return nil, false
	}
	sec, err := strconv.ParseInt(r.Header.Get(d.stamp), 10, 64)
	if err != nil || !fresh(time.Unix(sec, 0), now) || r.Header.Get(d.signature) == "" {
		http.Error(w, "not signed, or not just now", http.StatusUnauthorized)
		return nil, false
	}
	if r.ContentLength > maxRequest {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return nil, false
	}
	// A recorder in a test has no deadlines; a server that has none bounds the
	// whole request.
	_ = http.NewResponseController(w).SetReadDeadline(now.Add(readWithin))
	body, err = d.read(http.MaxBytesReader(w, r.Body, maxRequest))
	switch _, large := errors.AsType[*http.MaxBytesError](err); {
	case large:
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
	case errors.Is(err, errCrowded):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many large requests at once", http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, "the body broke off", http.StatusBadRequest)
	}
	return body, err == nil
}

// errCrowded refuses a large body where others are being read.
var errCrowded = errors.New("too many large requests at once")

// read reads a body. What is small needs no place, so that large ones which never
// end keep nobody else out.
func (d *Door) read(in io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(in, smallRequest))
	if err != nil || len(body) < smallRequest {
		return body, err
	}
	select {
	case d.large <- struct{}{}:
		defer func() { <-d.large }()
	default:
		return nil, errCrowded
	}
	rest, err := io.ReadAll(in)
	return append(body, rest...), err
}

// fresh reports whether a request was signed just now.
func fresh(signed, now time.Time) bool {
	age := now.Sub(signed)
	return age <= freshFor && age >= -freshFor
}

// ErrStale and ErrReplayed say why a signed request is not taken.
var (
	ErrStale    = errors.New("the request is too old, or from the future")
	ErrReplayed = errors.New("the request was taken before")
)

// Proofs remembers which signed requests were taken: whoever overhears one may
// send it again. Its zero value is ready for use.
type Proofs struct {
	mu       sync.Mutex
	now, old map[string]struct{} // what was used; old falls away with the next half
	since    time.Time
}

// Use uses a proof up that was signed at a time. It is remembered for at least
// twice the time in which it is fresh, unless there are more requests than a
// platform ever sends.
func (p *Proofs) Use(proof string, signed, now time.Time) error {
	if !fresh(signed, now) {
		return ErrStale
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) > 2*freshFor || len(p.now) >= maxProofs {
		p.old, p.now, p.since = p.now, map[string]struct{}{}, now
	}
	_, used := p.now[proof]
	_, before := p.old[proof]
	if used || before {
		return ErrReplayed
	}
	p.now[proof] = struct{}{}
	return nil
}

// Release gives a proof back: the request could not be dealt with, and whoever
// stands between may send the very same bytes again.
func (p *Proofs) Release(proof string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.now, proof)
	delete(p.old, proof)
}
