package ingest

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	maxRequest = 1 << 20
	freshFor   = 5 * time.Minute
	maxProofs  = 25_000 // per half: Slack sends an app at most 30,000 events an hour
)

// ReadRequest reads the body of a request that a platform sends. It reports
// false, and has answered, where there is none to read.
func ReadRequest(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "the body broke off", http.StatusBadRequest)
		return nil, false
	}
	return body, true
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
	if age := now.Sub(signed); age > freshFor || age < -freshFor {
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
