package web

// This file has a headless browser run a page's scripts: a child process in the
// sandbox, whose only way out is the sandbox's proxy.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// Bounds of the browser.
const (
	renderTime      = 45 * time.Second
	renderMemory    = 2 << 30
	renderProcesses = 200
)

// browsers are the usual paths of a browser that runs without a screen.
var browsers = []string{
	"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/chromium-headless-shell", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable",
	"/usr/local/bin/chromium", "/usr/lib/chromium/chromium", "/opt/google/chrome/chrome",
}

// errNoBrowser says what is missing.
var errNoBrowser = errors.New("there is no headless browser here: install chromium, or set web.browser to its path; without render the page is read as it is sent")

// program is the browser's path.
func (b Browser) program() (string, error) {
	if b.Sandbox == nil {
		return "", errNoBrowser
	}
	if b.Program != "" {
		if _, err := os.Stat(b.Program); err != nil {
			return "", fmt.Errorf("web.browser: %w", err)
		}
		return b.Program, nil
	}
	for _, p := range browsers {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p, nil
		}
	}
	return "", errNoBrowser
}

// render is a page as a browser has it once its scripts ran.
func (b browse) render(ctx context.Context, u *url.URL) (fetched, error) {
	program, err := b.c.Browser.program()
	if err != nil {
		return fetched{}, err
	}
	if err := b.c.Guard.Check(u); err != nil {
		return fetched{}, inWords(u, err)
	}
	host := u.Hostname()
	if _, err := b.c.Guard.Resolve(ctx, host, portOf(u)); err != nil { // its proxy looks again at each address
		return fetched{}, inWords(u, err)
	}
	r, err := b.c.Browser.Sandbox.Run(ctx, sandbox.Spec{
		Command: []string{
			program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
			"--disable-background-networking", "--user-data-dir=" + sandbox.Work + "/profile", "--proxy-server=http://" + sandbox.ProxyAddress,
			"--virtual-time-budget=8000", "--timeout=20000", "--dump-dom", u.String(),
		},
		Read: []string{filepath.Dir(program)}, Network: b.c.Browser.Hosts, Memory: renderMemory, Wall: renderTime, Processes: renderProcesses, Processor: 2,
		Disk: 512 << 20, Output: MaxBytes,
	})
	switch {
	case err != nil:
		return fetched{}, fmt.Errorf("the headless browser could not be started: %w", err)
	case r.Limit != "":
		return fetched{}, fmt.Errorf("the headless browser was stopped: %s", r.Limit)
	case r.Code != 0 || strings.TrimSpace(string(r.Stdout)) == "":
		return fetched{}, fmt.Errorf("the headless browser ended with exit code %d and no page: %s", r.Code, format.LineStart(string(r.Stderr), 300))
	}
	return fetched{url: u, status: http.StatusOK, kind: "text/html; charset=utf-8", data: r.Stdout}, nil
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
