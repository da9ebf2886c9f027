package adaptertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// boundary is a point at which a child dies: before or after its N-th commit to
// a run that was not there when it took up work, or before or after its N-th
// post since then. N counts from 1; 0 is none.
type boundary struct {
	What string `json:"what"`
	When string `json:"when"`
	N    int    `json:"n"`
}

func (b boundary) String() string { return fmt.Sprintf("%s %s %d", b.When, b.What, b.N) }

// death is the end of a child by its own hand.
type death struct {
	Boundary boundary  `json:"boundary"`
	About    string    `json:"about"` // what was committed or sent
	At       time.Time `json:"at"`
}

// reaper kills its own process at a boundary.
type reaper struct {
	o     orders
	old   map[agent.RunID]bool
	dying sync.Once

	mu      sync.Mutex
	begun   bool
	counted map[string]int
}

func newReaper(o orders, old []agent.RunInfo) *reaper {
	r := &reaper{o: o, old: map[agent.RunID]bool{}, counted: map[string]int{}}
	for _, info := range old {
		r.old[info.Run] = true
	}
	return r
}

// commit numbers a commit to a new run, 0 for any other: what is about to be
// committed and what was committed are counted apart, since some are refused.
func (r *reaper) commit(when string, c agent.Commit) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range c.Events {
		if b, is := e.Body.(agent.RunStarted); is && number(b.Goal) < r.o.From {
			r.old[c.Run] = true // it is what the child before this one left
		}
	}
	if c.Run == "" || r.old[c.Run] {
		return 0
	}
	r.begun = true
	r.counted[when]++
	return r.counted[when]
}

// post numbers a post, 0 while no new run has begun.
func (r *reaper) post() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		return 0
	}
	r.counted["post"]++
	return r.counted["post"]
}

// pass dies where this is the boundary: by SIGKILL, so that nothing is flushed,
// closed, released or said.
func (r *reaper) pass(what, when string, n int, about string) {
	if n == 0 || r.o.At != (boundary{What: what, When: when, N: n}) {
		return
	}
	r.dying.Do(func() {
		line, err := json.Marshal(death{r.o.At, about, time.Now()})
		var f *os.File
		if err == nil {
			f, err = os.OpenFile(r.o.deaths(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		}
		if err == nil {
			_, err = f.Write(append(line, '\n'))
		}
		if err != nil {
			panic(fmt.Sprintf("the record cannot be written, so nothing can be proved: %v", err))
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			_ = self.Kill() // cannot fail for one's own process
		}
		select {}
	})
	select {} // another goroutine is dying
}

// witness is a store at whose commits the child may die.
type witness struct {
	storetest.Store
	reaper *reaper
}

// Commit passes the boundaries before and after the store's own.
func (w *witness) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	about := fmt.Sprintf("%d events", len(c.Events))
	if len(c.Events) > 0 {
		about = string(c.Events[0].Body.Kind())
	}
	w.reaper.pass("commit", "before", w.reaper.commit("before", c), about)
	r, err := w.Store.Commit(ctx, c)
	if err == nil {
		w.reaper.pass("commit", "after", w.reaper.commit("after", c), about)
	}
	return r, err
}

// wire is a connection at whose posts the child may die.
type wire struct {
	http.RoundTripper
	sends  func(*http.Request) bool
	reaper *reaper
}

// RoundTrip passes the boundaries before the request is sent, and after the
// server has accepted it and before anybody reads its answer.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if !w.sends(req) {
		return w.RoundTripper.RoundTrip(req)
	}
	n := w.reaper.post()
	w.reaper.pass("post", "before", n, req.URL.Path)
	resp, err := w.RoundTripper.RoundTrip(req)
	w.reaper.pass("post", "after", n, req.URL.Path)
	return resp, err
}
