package chat

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Front is where a platform's signed deliveries arrive: it hands them to the
// replicas that listen, in turn, as a load balancer does.
type Front struct {
	server  *httptest.Server
	mu      sync.Mutex
	behind  []http.Handler
	turn    int
	changed chan struct{}
}

// OpenFront opens a front, which ends with the test.
func OpenFront(t *testing.T) *Front {
	t.Helper()
	f := &Front{changed: make(chan struct{})}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

// URL is where to deliver.
func (f *Front) URL() string { return f.server.URL }

// ServeHTTP answers 503 while nobody listens.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	var h http.Handler
	if n := len(f.behind); n > 0 {
		f.turn++
		h = f.behind[f.turn%n]
	}
	f.mu.Unlock()
	if h == nil {
		http.Error(w, "nobody listens", http.StatusServiceUnavailable)
		return
	}
	h.ServeHTTP(w, r)
}

// Add puts a replica behind the front.
func (f *Front) Add(h http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind = append(f.behind, h)
	close(f.changed)
	f.changed = make(chan struct{})
}

// Remove takes a replica away.
func (f *Front) Remove(h http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, o := range f.behind {
		if o == h {
			f.behind = append(f.behind[:i:i], f.behind[i+1:]...)
			break
		}
	}
}

// Await returns when so many replicas listen.
func (f *Front) Await(ctx context.Context, n int) error {
	for {
		f.mu.Lock()
		have, changed := len(f.behind), f.changed
		f.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
