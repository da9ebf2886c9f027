package web_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/page"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/web"
)

const (
	superviseWord = "sandbox-of-test"
	readWord      = "read-of-test"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == superviseWord:
		os.Exit(sandbox.Main(os.Args[2:]))
	case len(os.Args) > 1 && os.Args[1] == readWord:
		os.Exit(page.Main(os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"))
}

// site is a server with pages of every kind.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	var tries atomic.Int32
	mux := http.NewServeMux()
	page := func(path, kind, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		})
	}
	page("/", "text/html; charset=utf-8", `<title>Harbour</title><p>Open from <b>9</b> to 5.</p><a href="/tides">Tides</a>`)
	page("/latin", "text/html; charset=iso-8859-1", "<p>Gr\xfc\xdfe</p>")
	page("/odd", "text/html; charset=klingon", "<p>\x81\x8d\x8f\x90\x9d</p>")
	page("/picture.png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00")
	var long strings.Builder
	for i := range 200 {
		fmt.Fprintf(&long, "<h2>Chapter %d</h2><p>%s</p>", i, strings.Repeat("Nothing of interest is said here about boats. ", 8))
		if i == 150 {
			long.WriteString("<p>The lighthouse keeper of Kiel feeds seven seagulls each morning.</p>")
		}
	}
	page("/long", "text/html", long.String())
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 200 {
			if _, err := z.Write([]byte(strings.Repeat("bomb", 1<<18))); err != nil {
				return
			}
		}
		_ = z.Close()
	})
	mux.HandleFunc("/brotli", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, "\x8b\x02")
	})
	mux.HandleFunc("/once", func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "there now")
	})
	for path, to := range map[string]string{"/to-metadata": "http://169.254.169.254/latest/meta-data/", "/to-file": "file:///etc/passwd", "/to-private": "http://10.0.0.1/", "/round": "/round"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
	}
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such boat", http.StatusNotFound) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func guard(t *testing.T, private ...string) *egress.Guard {
	t.Helper()
	g, err := egress.New(egress.Config{AllowPrivate: private, Bytes: 1 << 20, Redirects: web.Redirects})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func call(t *testing.T, tool agent.Tool, args map[string]any) agent.Result {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r := tool.Run(t.Context(), agent.Call{Run: "r1", Effect: "e1", Arguments: text})
	if r.State == agent.OutcomeOK && r.Trust != agent.Untrusted {
		t.Errorf("%s is labelled %s", text, r.Trust)
	}
	return r
}

func newBrowse(t *testing.T, s *httptest.Server, browser web.Browser) (agent.Tool, string) {
	t.Helper()
	plain, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], superviseWord}, Driver: sandbox.Child})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return web.NewBrowse(web.Config{
		Guard: guard(t, strings.TrimPrefix(s.URL, "http://")), Reader: page.NewReader(plain, []string{os.Args[0], readWord}), Browser: browser,
		Save: func(_, name string, data []byte) (string, error) {
			return "received/" + name, os.WriteFile(filepath.Join(dir, name), data, 0o600)
		},
	}), dir
}

func TestBrowse(t *testing.T) {
	s := site(t)
	browse, dir := newBrowse(t, s, web.Browser{})
	for path, c := range map[string]struct {
		args   map[string]any
		want   []string
		not    string
		failed bool
	}{
		"/":            {want: []string{"# Harbour", "Open from **9** to 5.", "1. Tides <" + s.URL + "/tides>"}},
		"/latin":       {want: []string{"Grüße"}},
		"/odd":         {want: []string{"encoding that is not known"}, failed: true},
		"/picture.png": {want: []string{"image/png", "saved as received/picture-"}},
		"/long": {args: map[string]any{"question": "Who feeds the seagulls?"}, want: []string{"nearest to the question", "The lighthouse keeper of Kiel", "## Chapter 150"},
			not: "Chapter 3\n"},
		"/bomb":        {want: []string{"longer than what was read"}},
		"/brotli":      {want: []string{"packed as br"}, failed: true},
		"/once":        {want: []string{"there now"}},
		"/to-metadata": {want: []string{"metadata", "configuration's word"}, failed: true},
		"/to-file":     {want: []string{"not a scheme of the web"}, failed: true},
		"/to-private":  {want: []string{"private address"}, failed: true},
		"/round":       {want: []string{"more than 5 redirects"}, failed: true},
		"/missing":     {want: []string{"404 Not Found", "no such boat"}, failed: true},
	} {
		args := map[string]any{"url": s.URL + path}
		maps.Copy(args, c.args)
		r := call(t, browse, args)
		if (r.State == agent.OutcomeError) != c.failed {
			t.Errorf("%s: %s", path, r.State)
		}
		for _, w := range c.want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%s: %q is missing in %.600q", path, w, r.Text)
			}
		}
		if c.not != "" && strings.Contains(r.Text, c.not) || len(r.Text) > 2<<20 {
			t.Errorf("%s: %q is in it, or it is too long (%d bytes)", path, c.not, len(r.Text))
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("kept: %v, %v", list, err)
	}
	for address, want := range map[string]string{
		"example.com/a": "write it with https://", "file:///etc/passwd": "whole address", "http://169.254.169.254/": "metadata", "http://127.0.0.1:1/": "not one of the web's",
	} {
		if r := call(t, browse, map[string]any{"url": address}); r.State != agent.OutcomeError || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s %q", address, r.State, r.Text)
		}
	}
}

// A browser is a program in the sandbox, whose word is the page. Where there is
// none, that is said.
func TestRender(t *testing.T) {
	s := site(t)
	browse, _ := newBrowse(t, s, web.Browser{})
	if r := call(t, browse, map[string]any{"url": s.URL, "render": true}); r.State != agent.OutcomeError || !strings.Contains(r.Text, "install chromium") {
		t.Errorf("without a browser: %s %q", r.State, r.Text)
	}
	box, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], superviseWord}, Driver: sandbox.Bubblewrap, AllowPrivate: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Driver(t.Context()); err != nil {
		t.Skip("there is no bubblewrap here, without which no browser has a way out: ", err)
	}
	program := filepath.Join(t.TempDir(), "chromium")
	script := "#!/bin/sh\nfor last; do :; done\necho \"<title>Rendered</title><p>$last through $http_proxy $(cat /etc/shadow 2>&1 | wc -c)</p>\"\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	browse, _ = newBrowse(t, s, web.Browser{Sandbox: box, Program: program, Hosts: []string{"*"}})
	r := call(t, browse, map[string]any{"url": s.URL + "/app", "render": true})
	if r.State != agent.OutcomeOK || !strings.Contains(r.Text, "# Rendered") || !strings.Contains(r.Text, s.URL+"/app through http://127.0.0.1:3128") {
		t.Errorf("%s %q", r.State, r.Text)
	}
	if r = call(t, browse, map[string]any{"url": "http://10.0.0.1/", "render": true}); r.State != agent.OutcomeError || !strings.Contains(r.Text, "private address") {
		t.Errorf("a private address: %s %q", r.State, r.Text)
	}
}

func TestSearch(t *testing.T) {
	var asked []*http.Request
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked, bodies = append(asked, r), append(bodies, string(body))
		switch {
		case strings.Contains(r.URL.RawQuery, "forbidden"):
			http.Error(w, "format not allowed", http.StatusForbidden)
		case strings.HasPrefix(r.URL.Path, "/brave"):
			_, _ = io.WriteString(w, `{"type":"search","web":{"results":[{"title":"A <strong>boat</strong>","url":"https://a.example","description":"x &amp; y"}]}}`)
		case strings.HasPrefix(r.URL.Path, "/own"):
			_, _ = io.WriteString(w, `[{"name":"Own","link":"https://own.example","snippet":"s"}]`)
		case strings.HasPrefix(r.URL.Path, "/html"):
			_, _ = io.WriteString(w, `<html>`)
		default:
			_, _ = io.WriteString(w, `{"results":[{"title":"One","url":"https://1.example","content":"first"},{"title":"Two","url":"https://2.example"},{"title":"no address"}]}`)
		}
	}))
	defer s.Close()
	g := guard(t, strings.TrimPrefix(s.URL, "http://"))
	for _, c := range []struct {
		engine web.Engine
		args   map[string]any
		want   string
		sent   func(r *http.Request, body string) bool
		failed bool
	}{
		{web.Engine{Kind: "searxng", URL: s.URL + "/sx/"}, map[string]any{"query": "boats & tides"}, "1. One\n   <https://1.example>\n   first\n2. Two\n   <https://2.example>",
			func(r *http.Request, _ string) bool {
				return r.URL.Path == "/sx/search" && r.URL.Query().Get("q") == "boats & tides" && r.URL.Query().Get("format") == "json"
			}, false},
		{web.Engine{Kind: "searxng", URL: s.URL}, map[string]any{"query": "x", "limit": 1}, "1. One\n   <https://1.example>\n   first", nil, false},
		{web.Engine{Kind: "searxng", URL: s.URL}, map[string]any{"query": "forbidden"}, "search.formats", nil, true},
		{web.Engine{Kind: "brave", URL: s.URL + "/brave", Key: "k1"}, map[string]any{"query": "boats", "limit": 3}, "1. A boat\n   <https://a.example>\n   x & y",
			func(r *http.Request, _ string) bool {
				return r.Header.Get("X-Subscription-Token") == "k1" && r.URL.Query().Get("count") == "3"
			}, false},
		{web.Engine{Kind: "tavily", URL: s.URL + "/tavily", Key: "k2"}, map[string]any{"query": "boats", "limit": 5}, "1. One",
			func(r *http.Request, body string) bool {
				return r.Method == http.MethodPost && r.Header.Get("Authorization") == "Bearer k2" && body == `{"max_results":5,"query":"boats"}`
			}, false},
		{web.Engine{Kind: "json", URL: s.URL + "/own?text={query}&n={limit}", Key: "k3"}, map[string]any{"query": "big boats"}, "1. Own\n   <https://own.example>\n   s",
			func(r *http.Request, _ string) bool {
				return r.URL.Query().Get("text") == "big boats" && r.URL.Query().Get("n") == "8" && r.Header.Get("Authorization") == "Bearer k3"
			}, false},
		{web.Engine{Kind: "json", URL: s.URL + "/html"}, map[string]any{"query": "x"}, "does not answer in JSON", nil, true},
	} {
		r := call(t, web.NewSearch(c.engine, g, "1.2"), c.args)
		if (r.State == agent.OutcomeError) != c.failed || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s %s: %s %q, want %q", c.engine.Kind, c.args, r.State, r.Text, c.want)
		}
		if last := len(asked) - 1; c.sent != nil && !c.sent(asked[last], bodies[last]) {
			u, _ := url.QueryUnescape(asked[last].URL.String())
			t.Errorf("%s: it was asked %s %s %v", c.engine.Kind, u, bodies[last], asked[last].Header)
		}
	}
	off, err := egress.New(egress.Config{Off: true})
	if err != nil {
		t.Fatal(err)
	}
	before := len(asked)
	if r := call(t, web.NewSearch(web.Engine{Kind: "brave", Key: "k"}, off, ""), map[string]any{"query": "x"}); r.State != agent.OutcomeError || !strings.Contains(r.Text, "tools.internet") || len(asked) != before {
		t.Errorf("switched off: %s %q", r.State, r.Text)
	}
}
