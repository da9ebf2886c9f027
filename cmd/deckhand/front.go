package main

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

	"github.com/deckhand-bot/deckhand/bot"
)

// front is the HTTP side of a server: health checks and the platforms' routes.
// Without a listener it answers nobody.
type front struct {
	listener net.Listener
	mux      *http.ServeMux

	mu     sync.Mutex
	opened bool                    // the store is open, and the platforms are known
	absent map[string]error        // platforms that are not connected yet, and why
	heard  map[string]bot.Platform // those that are
}

// front opens the HTTP address, where there is one to open.
func (c config) front(ctx context.Context, only string) (*front, error) {
	f := &front{mux: http.NewServeMux(), absent: map[string]error{}, heard: map[string]bot.Platform{}}
	f.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	f.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := f.ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	if c.HTTP == "off" || (only == onlyWorkers && !c.Given("http")) {
		return f, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.HTTP)
	if err != nil {
		return nil, usage("HTTP address %s: %w; set another with http: or DECKHAND_HTTP_ADDR, or off", c.HTTP, err)
	}
	f.listener = l
	return f, nil
}

// route adds a platform's routes.
func (f *front) route(routes map[string]http.Handler) {
	for path, h := range routes {
		f.mux.Handle(path, h)
	}
}

// errConnecting is why a platform is not there at first.
var errConnecting = errors.New("it is being connected")

// open says that the store is open and every platform was named.
func (f *front) open() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = true
}

// away notes why a platform is not connected yet.
func (f *front) away(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.absent[name] = err
}

// there notes that a platform is connected; nil: it is only posted to.
func (f *front) there(name string, p bot.Platform) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.absent, name)
	if p != nil {
		f.heard[name] = p
	}
}

// ready is nil once everything is connected, else it says what is not.
func (f *front) ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.opened {
		return errors.New("the server is starting")
	}
	for _, name := range slices.Sorted(maps.Keys(f.absent)) {
		return fmt.Errorf("%s: %w", name, f.absent[name])
	}
	for _, name := range slices.Sorted(maps.Keys(f.heard)) {
		if err := f.heard[name].Ready(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// connecting reports whether a platform has neither been reached nor failed yet.
func (f *front) connecting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.absent {
		if errors.Is(err, errConnecting) {
			return true
		}
	}
	return false
}

// readyEvery is how often a starting server looks whether it is ready.
const readyEvery = 10 * time.Millisecond

// wait returns when the server is ready or ctx ends.
func (f *front) wait(ctx context.Context) error {
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for f.ready() != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

func (f *front) address() string {
	if f.listener == nil {
		return "off"
	}
	return f.listener.Addr().String()
}

func (f *front) close() error {
	if f.listener == nil {
		return nil
	}
	return f.listener.Close()
}

// Bounds of an HTTP request, against clients that never finish one.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	drainTimeout  = 2 * time.Second
)

func (f *front) serve(ctx context.Context) error {
	server := &http.Server{Handler: f.mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		_ = server.Shutdown(drain)
	}()
	if err := server.Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}
