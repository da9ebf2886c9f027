package slack_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// front is where signed deliveries arrive: it hands them to the replicas that
// listen, in turn, as a load balancer does.
type front struct {
	*httptest.Server
	mu      sync.Mutex
	behind  []http.Handler
	turn    int
	changed chan struct{}
}

func openFront(t *testing.T) *front {
	t.Helper()
	f := &front{changed: make(chan struct{})}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// ServeHTTP answers 503 while nobody listens.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func (f *front) add(h http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind = append(f.behind, h)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *front) remove(h http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, o := range f.behind {
		if o == h {
			f.behind = append(f.behind[:i:i], f.behind[i+1:]...)
			break
		}
	}
}

// await returns when so many replicas listen.
func (f *front) await(ctx context.Context, n int) error {
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
