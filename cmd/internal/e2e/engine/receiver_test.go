package engine

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// parcel is what the receiver gets.
type parcel struct {
	Run    agent.RunID
	Effect agent.EffectID
	Text   string
}

// key names the effect, for looking it up.
func (p parcel) key() string { return string(p.Run) + "/" + string(p.Effect) }

// treatment is what happens to one request.
type treatment struct {
	late time.Duration // before it is counted
	hold time.Duration // after that, before the answer
	lose bool          // the connection is closed instead of an answer
	deaf bool          // it is not even counted
}

// receiver is whom effects are sent to. It counts each request that arrived whole,
// whether the sender still lives or not.
type receiver struct {
	addr      string
	treatment func(p parcel, nth int) treatment

	mu     sync.Mutex
	asked  map[string]int // requests by key, the unheard too
	counts map[string]int // by run and text
	seen   map[string]bool
	grown  chan struct{} // closed when something was counted
}

func startReceiver(t *testing.T, m func(p parcel, nth int) treatment) *receiver {
	t.Helper()
	g := &receiver{treatment: m, asked: map[string]int{}, counts: map[string]int{}, seen: map[string]bool{}, grown: make(chan struct{})}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	g.addr = strings.TrimPrefix(server.URL, "http://")
	return g
}

// ServeHTTP takes a parcel by POST and says by GET whether one was seen.
func (g *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		if g.has(r.URL.Query().Get("key")) {
			_, _ = io.WriteString(w, "seen")
		}
		return
	}
	body, err := io.ReadAll(r.Body)
	var p parcel
	if err != nil || json.Unmarshal(body, &p) != nil {
		panic(http.ErrAbortHandler) // the sender died in the middle of it
	}
	g.mu.Lock()
	g.asked[p.key()]++
	m := g.treatment(p, g.asked[p.key()])
	g.mu.Unlock()
	pass(m.late)
	if m.deaf {
		panic(http.ErrAbortHandler)
	}
	g.mu.Lock()
	g.counts[string(p.Run)+" "+p.Text]++
	g.seen[p.key()] = true
	close(g.grown)
	g.grown = make(chan struct{})
	g.mu.Unlock()
	pass(m.hold)
	if m.lose {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusNoContent)
}

// pass lets time pass: being slow has no other sign.
func pass(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

func (g *receiver) has(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen[key]
}

// count is how often a text of a run was received.
func (g *receiver) count(run agent.RunID, text string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts[string(run)+" "+text]
}

// await reports whether the key was seen, looking for a while.
func (g *receiver) await(ctx context.Context, key string, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		g.mu.Lock()
		seen, grown := g.seen[key], g.grown
		g.mu.Unlock()
		if seen {
			return true
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return false
		}
	}
}
