package sandbox

// This file is the only way from a sandbox to the network: a proxy beside the
// supervisor, which looks at each address after its name was resolved, and a
// forwarder in the sandbox, whose own network has nothing but itself.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/deckhand-bot/deckhand/tools/egress"
)

// ProxyAddress is where a command finds the proxy to the hosts of its
// specification; its environment names it as well.
const ProxyAddress = "127.0.0.1:3128"

// Where a command finds the proxy: a forwarder listens in its own network and
// hands everything to a socket that is a file.
const (
	forwardWord   = "forward"
	proxyAddress  = ProxyAddress
	proxyFolder   = "/run/deckhand"
	proxySocket   = "proxy.sock"
	proxyPatience = 15 * time.Second
)

// addProxy opens the proxy and changes the specification so that the command
// reaches it, and nothing else.
func addProxy(o order, r *running) (Spec, error) {
	s := o.Spec
	guard, err := egress.New(egress.Config{Hosts: s.Network, AllowPrivate: o.AllowPrivate, Off: o.Offline})
	if err != nil {
		return s, fmt.Errorf("the hosts that it may reach: %w", err)
	}
	dir, err := os.MkdirTemp("", "deckhand-proxy-")
	if err != nil {
		return s, fmt.Errorf("no folder could be made for the proxy: %w", err)
	}
	r.clean = append(r.clean, func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, proxySocket)) //nolint:noctx // it lives as long as this process
	if err != nil {
		return s, fmt.Errorf("the proxy could not be opened: %w", err)
	}
	server := &http.Server{Handler: newProxy(guard), ReadHeaderTimeout: proxyPatience}
	go func() { _ = server.Serve(l) }()
	r.clean = append(r.clean, func() { _ = server.Close() })
	r.proxyDir = dir
	r.overhead++
	s.Command = slices.Concat(o.Self, []string{forwardWord}, s.Command)
	s.Read = append(slices.Clone(s.Read), o.Self[0])
	env := map[string]string{"no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}
	maps.Copy(env, s.Env)
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		env[name] = "http://" + proxyAddress
	}
	s.Env = env
	return s, nil
}

// proxy is a forward proxy for HTTP and, by CONNECT, for everything else.
type proxy struct {
	guard *egress.Guard
	plain *httputil.ReverseProxy
}

func newProxy(g *egress.Guard) *proxy {
	return &proxy{guard: g, plain: &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		Transport: g.Transport(),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, err)
		},
	}}
}

// refuse says why a host is not reached.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusBadGateway
	if errors.Is(err, egress.ErrRefused) {
		code = http.StatusForbidden
	}
	http.Error(w, err.Error(), code)
}

// ServeHTTP serves one request of the command.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.plain.ServeHTTP(w, r)
	default:
		http.Error(w, "this is the sandbox's proxy: ask it for a whole address", http.StatusBadRequest)
	}
}

func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	far, err := p.guard.DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		refuse(w, err)
		return
	}
	defer func() { _ = far.Close() }()
	hijacker, is := w.(http.Hijacker)
	if !is {
		http.Error(w, "no tunnel can be made here", http.StatusInternalServerError)
		return
	}
	near, rest, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer func() { _ = near.Close() }()
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	both(buffered{near, rest}, far)
}

// buffered is a connection of which something was read ahead.
type buffered struct {
	net.Conn
	ahead io.Reader
}

// Read reads what was read ahead first.
func (b buffered) Read(p []byte) (int, error) { return b.ahead.Read(p) }

// both copies both ways until one of them ends.
func both(a, b net.Conn) {
	done := make(chan struct{}, 2)
	way := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // its end is the end of the connection, whatever the cause
		done <- struct{}{}
	}
	go way(a, b)
	go way(b, a)
	<-done
	_ = a.Close()
	_ = b.Close()
	<-done
}

// forward runs in the sandbox: it carries connections to the proxy's socket
// while the command runs, and ends with the command's exit code.
func forward(command []string) int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // the command gets them as well, and decides
	CloseInherited()
	l, err := net.Listen("tcp", proxyAddress) //nolint:noctx // it lives as long as this process
	if err != nil {
		fmt.Fprintln(os.Stderr, "the way to the proxy could not be opened:", err)
		return codeUnavailable
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go carry(near)
		}
	}()
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // what it runs is what it is for
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, strings.TrimPrefix(err.Error(), "exec: "))
		return 127
	}
	return exitCode(cmd.ProcessState)
}

func carry(near net.Conn) {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(context.Background(), proxyPatience)
	defer cancel()
	far, err := d.DialContext(ctx, "unix", proxyFolder+"/"+proxySocket)
	if err != nil {
		_ = near.Close()
		return
	}
	both(near, far)
}
