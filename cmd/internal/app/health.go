package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// health is the HTTP side of a process: health checks and the platforms'
// routes. Without a listener it answers nobody.
type health struct {
	listener net.Listener
	mux      *http.ServeMux

	mu     sync.Mutex
	opened bool                    // the store is open, and the platforms are known
	states map[string]func() error // of each platform: nil while it is connected
}

func newHealth() *health {
	h := &health{mux: http.NewServeMux(), states: map[string]func() error{}}
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	h.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := h.ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return h
}

// listen opens the address, where there is one to open.
func (h *health) listen(ctx context.Context, address string) (err error) {
	if address == "off" {
		return nil
	}
	if h.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err != nil {
		return config.Refuse("HTTP address %s: %w; set another with http: or DECKHAND_HTTP_ADDR, or off", address, err)
	}
	return nil
}

// route adds a platform's routes.
func (h *health) route(routes map[string]http.Handler) {
	for path, handler := range routes {
		h.mux.Handle(path, handler)
	}
}

// errConnecting is why a platform is not there at first.
var errConnecting = errors.New("it is being connected")

// open says that the store is open and every platform was named.
func (h *health) open() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = true
}

// away notes why a platform is not connected yet.
func (h *health) away(name string, err error) { h.state(name, func() error { return err }) }

// state notes how to learn whether a platform is connected.
func (h *health) state(name string, ready func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states[name] = ready
}

// ready is nil once everything is connected, else it says what is not.
func (h *health) ready() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.opened {
		return errors.New("the server is starting")
	}
	for _, name := range slices.Sorted(maps.Keys(h.states)) {
		if err := h.states[name](); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// connecting reports whether a platform has neither been reached nor failed yet.
func (h *health) connecting() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ready := range h.states {
		if errors.Is(ready(), errConnecting) {
			return true
		}
	}
	return false
}

// readyEvery is how often a starting server looks whether it is ready.
const readyEvery = 10 * time.Millisecond

// wait reports whether it is ready; it waits for that until ctx ends.
func (h *health) wait(ctx context.Context) bool {
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for h.ready() != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

func (h *health) address() string {
	if h.listener == nil {
		return "off"
	}
	return h.listener.Addr().String()
}

// close closes the address, where nobody served it.
func (h *health) close() error {
	if h.listener == nil {
		return nil
	}
	if err := h.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Bounds of an HTTP request, against clients that never finish one.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	drainTimeout  = 2 * time.Second
	maxHeader     = 16 << 10
)

func (h *health) serve(ctx context.Context) error {
	server := &http.Server{Handler: h.mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, MaxHeaderBytes: maxHeader}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		_ = server.Shutdown(drain)
	}()
	if err := server.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}
