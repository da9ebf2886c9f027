package platformtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// Core is a server on loopback. A platform's server embeds it, opens it when its
// state is ready, and guards that state with Mu.
type Core struct {
	Faults
	Calls

	Mu   sync.Mutex
	WG   sync.WaitGroup  // of everything that runs
	Out  *http.Client    // for deliveries to the app
	Done context.Context //nolint:containedctx // the life of the server: deliveries end with it

	name    string // of the platform's package, for errors
	base    string
	http    *http.Server
	stop    context.CancelFunc
	cut     func() // ends every connection
	closed  bool
	changed chan struct{} // closed and replaced with every change
}

// Init makes a core of its zero value. The name is that of the platform's
// package; cut ends every connection with the lock held.
func (c *Core) Init(name string, chaos Chaos, cut func()) {
	c.name, c.cut = name, cut
	c.Done, c.stop = context.WithCancel(context.Background())
	c.Out = &http.Client{Transport: &http.Transport{}}
	c.changed = make(chan struct{})
	c.Faults = Faults{core: c, chaos: chaos, dice: rand.New(rand.NewPCG(chaos.Seed, 1))}
	c.Calls = Calls{core: c, made: map[string]int{}, limited: map[string]int{}}
}

// Open listens at the address and answers with h until Close.
func (c *Core) Open(addr string, h http.Handler) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		panic(fmt.Sprintf("%s: cannot listen on %s: %v", c.name, addr, err))
	}
	c.base = "http://" + l.Addr().String()
	c.http = &http.Server{Handler: c.counted(h), ReadHeaderTimeout: 10 * time.Second}
	c.WG.Go(func() { _ = c.http.Serve(l) }) // ends with Close
}

// counted lets Close wait for every request, and cuts those that come later.
func (c *Core) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Mu.Lock()
		if c.closed {
			c.Mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		c.WG.Add(1)
		c.Mu.Unlock()
		defer c.WG.Done()
		h.ServeHTTP(w, r)
	})
}

// URL is the address of the server without a trailing slash.
func (c *Core) URL() string { return c.base }

// Close cuts every connection and ends the server.
func (c *Core) Close() {
	c.Mu.Lock()
	if c.closed {
		c.Mu.Unlock()
		return
	}
	c.closed = true
	c.cut()
	c.stop()
	c.Mu.Unlock()
	_ = c.http.Close() // the listener is ours alone
	c.WG.Wait()
	c.Out.CloseIdleConnections()
}

// Closed says whether the server was closed; the lock is held.
func (c *Core) Closed() bool { return c.closed }

// Refuses says whether nobody may connect: the server is closed, or out of
// order; the lock is held.
func (c *Core) Refuses() bool { return c.closed || c.outage }

// DropSockets cuts every connection without a word.
func (c *Core) DropSockets() {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.cut()
}

// Change wakes everyone who waits; the lock is held.
func (c *Core) Change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// lookEvery is how often a wait looks again of itself: what it waits for may
// happen in the app, and the server does not learn of that.
const lookEvery = 20 * time.Millisecond

// Wait returns as soon as cond holds, be it of the server or of the app. Cond is
// asked again after every change of the server, and now and then without one; it
// may use every method of the server.
func (c *Core) Wait(ctx context.Context, cond func() bool) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		c.Mu.Lock()
		changed := c.changed
		c.Mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: what was waited for never came to be: %w", c.name, ctx.Err())
		case <-c.Done.Done():
			return fmt.Errorf("%s: the server was closed while somebody waited: %w", c.name, net.ErrClosed)
		}
	}
}

// Later runs f with the lock held, unless the server was closed by then.
func (c *Core) Later(after time.Duration, f func()) *time.Timer {
	return time.AfterFunc(after, func() {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		if !c.closed {
			f()
		}
	})
}

// Pause waits for a time and then for a signal, however long the client does.
func (c *Core) Pause(after time.Duration, when <-chan struct{}) {
	if after > 0 {
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.Done.Done():
		}
	}
	if when != nil {
		select {
		case <-when:
		case <-c.Done.Done():
		}
	}
}

// Default gives a value to what has none.
func Default[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
