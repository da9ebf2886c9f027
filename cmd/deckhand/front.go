package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// front is the HTTP side of a server: health checks and the platforms' routes.
// Without a listener it answers nobody.
type front struct {
	listener net.Listener
	mux      *http.ServeMux

	mu        sync.Mutex
	platforms []bot.Platform
	listens   bool
	opened    bool  // the store is open, and the platforms are known
	trouble   error // why they are not
}

// front opens the HTTP address, where there is one to open.
func (c config) front(ctx context.Context, only string) (*front, error) {
	f := &front{mux: http.NewServeMux()}
	f.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	f.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := f.ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	if c.HTTP == "off" || (only == onlyWorkers && !c.given("http")) {
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

// open says that the store is open and which platforms have to be connected.
func (f *front) open(platforms []bot.Platform, listens bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.platforms, f.listens, f.opened = platforms, listens, true
}

// troubled notes why a platform cannot be connected; it is asked again.
func (f *front) troubled(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble = err
}

// ready is nil once everything is connected, else it says what is not.
func (f *front) ready() error {
	f.mu.Lock()
	platforms, listens, opened, trouble := f.platforms, f.listens, f.opened, f.trouble
	f.mu.Unlock()
	switch {
	case !opened && trouble != nil:
		return trouble
	case !opened:
		return errors.New("the store is open; the platforms are being connected")
	}
	for _, p := range platforms {
		if err := p.Ready(); listens && err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
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
