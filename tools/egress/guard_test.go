package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/deckhand-bot/deckhand/tools/egress"
)

// names answers look-ups from a list: one answer each time, the last one for good.
type names map[string]*answers

type answers struct {
	list [][]netip.Addr
	next atomic.Int32
}

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a, known := n[host]
	if !known {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	i := min(int(a.next.Add(1))-1, len(a.list)-1)
	return a.list[i], nil
}

// answering gives one list of addresses after the other.
func answering(lists ...string) *answers {
	a := &answers{}
	for _, l := range lists {
		var addrs []netip.Addr
		for s := range strings.FieldsSeq(l) {
			addrs = append(addrs, netip.MustParseAddr(s))
		}
		a.list = append(a.list, addrs)
	}
	return a
}

func guard(t *testing.T, c egress.Config) *egress.Guard {
	t.Helper()
	g, err := egress.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every kind of address that is not simply somewhere in the internet, as it is
// written and as a name resolves to it.
func TestAddresses(t *testing.T) {
	for addr, open := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1:248:1893:25c8:1946": true, "8.8.8.8": true, "64:ff9b::8.8.8.8": true, "2002:808:808::1": true,
		"127.0.0.1": false, "127.8.9.1": false, "10.1.2.3": false, "172.16.0.1": false, "172.32.0.1": true, "192.168.1.1": false,
		"100.64.0.1": false, "169.254.169.254": false, "169.254.1.1": false, "0.0.0.0": false, "0.1.2.3": false, "224.0.0.1": false,
		"255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false, "192.0.2.1": false, "100.100.100.200": false, "168.63.129.16": false,
		"::": false, "::1": false, "fe80::1": false, "fec0::1": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "::ffff:8.8.8.8": true,
		"64:ff9b::127.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false, "2002:7f00:1::1": false, "2002:a9fe:a9fe::": false,
		"::127.0.0.1": false, "2001:0:4136:e378:8000:63bf:3fff:fdd2": false, "2001:db8::1": false,
		"2606:4700::5efe:7f00:1": false, "2606:4700::200:5efe:10.0.0.1": false, "2606:4700::5efe:808:808": true,
	} {
		g := guard(t, egress.Config{Resolver: names{"site.example": answering(addr), "mixed.example": answering("93.184.216.34 " + addr)}})
		for _, host := range []string{addr, "site.example", "mixed.example", "SITE.example."} {
			_, err := g.Resolve(t.Context(), host, "443")
			if (err == nil) != open {
				t.Errorf("%s (%s): %v", host, addr, err)
			}
			if err != nil && !errors.Is(err, egress.ErrRefused) {
				t.Errorf("%s (%s): %v is no refusal", host, addr, err)
			}
		}
		if got := egress.Private(netip.MustParseAddr(addr)); got == open {
			t.Errorf("%s: private %v", addr, got)
		}
	}
}

// What a configuration allows for a host of its own never opens a cloud's
// credentials.
func TestAllowPrivate(t *testing.T) {
	g := guard(t, egress.Config{AllowPrivate: []string{"*"}})
	for addr, open := range map[string]bool{
		"127.0.0.1": true, "10.0.0.1": true, "::1": true, "fd12::1": true, "192.168.0.9": true,
		"169.254.169.254": false, "169.254.0.1": false, "0.0.0.0": false, "fd00:ec2::254": false, "100.100.100.200": false, "2002:7f00:1::1": false, "224.0.0.1": false,
	} {
		if _, err := g.Resolve(t.Context(), addr, "9999"); (err == nil) != open {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestHosts(t *testing.T) {
	to := answering("93.184.216.34")
	resolver := names{"example.com": to, "api.example.com": to, "a.b.example.org": to, "example.org": to, "evil.example": to, "notexample.org": to}
	g := guard(t, egress.Config{Resolver: resolver, Hosts: []string{"Example.com", "*.example.org", "api.example.com:9000"}})
	for at, open := range map[string]bool{
		"example.com:443": true, "example.com:80": true, "example.com:22": false, "EXAMPLE.com.:443": true, "a.b.example.org:443": true, "example.org:443": false,
		"notexample.org:443": false, "evil.example:443": false, "api.example.com:9000": true, "api.example.com:443": false,
	} {
		host, port, _ := net.SplitHostPort(at)
		if _, err := g.Resolve(t.Context(), host, port); (err == nil) != open {
			t.Errorf("%s: %v", at, err)
		}
	}
	g = guard(t, egress.Config{Resolver: resolver})
	for port, open := range map[string]bool{"80": true, "443": true, "8443": true, "22": false, "25": false, "6379": false, "0": false, "70000": false, "x": false} {
		if _, err := g.Resolve(t.Context(), "example.com", port); (err == nil) != open {
			t.Errorf("port %s: %v", port, err)
		}
	}
	for _, bad := range []string{"https://x", "", "a b", "x:0", "x:99999", "*."} {
		if _, err := egress.New(egress.Config{Hosts: []string{bad}}); err == nil {
			t.Errorf("%q is taken for a host", bad)
		}
	}
}

// One switch cuts off everything but what the configuration itself runs here.
func TestOff(t *testing.T) {
	g := guard(t, egress.Config{Off: true, AllowPrivate: []string{"127.0.0.1:9000", "10.0.0.1", "example.com"}, Resolver: names{"example.com": answering("93.184.216.34")}})
	for at, open := range map[string]bool{"127.0.0.1:9000": true, "127.0.0.1:80": false, "10.0.0.1:80": false, "93.184.216.34:443": false, "example.com:443": false} {
		host, port, _ := net.SplitHostPort(at)
		_, err := g.Resolve(t.Context(), host, port)
		if (err == nil) != open {
			t.Errorf("%s: %v", at, err)
		}
		if err != nil && !strings.Contains(err.Error(), "127.0.0.1") && !strings.Contains(err.Error(), "tools.internet") {
			t.Errorf("%s: %v does not say which switch", at, err)
		}
	}
}

// A name that is public when it is looked at and private when it is dialled
// reaches nothing: what is dialled is what was checked.
func TestRebinding(t *testing.T) {
	var reached atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	port := s.URL[strings.LastIndex(s.URL, ":")+1:]
	g := guard(t, egress.Config{Hosts: []string{"rebind.example:" + port}, Resolver: names{"rebind.example": answering("93.184.216.34", "127.0.0.1")}})
	if _, err := g.Resolve(t.Context(), "rebind.example", port); err != nil {
		t.Fatal(err)
	}
	_, err := get(t, g, "http://rebind.example:"+port)
	if !errors.Is(err, egress.ErrRefused) || reached.Load() != 0 {
		t.Errorf("%v, reached %d times", err, reached.Load())
	}
}

func get(t *testing.T, g *egress.Guard, at string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := g.Client().Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

// Redirects go where a first request may go, and are counted.
func TestRedirects(t *testing.T) {
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	defer secret.Close()
	var target atomic.Pointer[string]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			_, _ = io.WriteString(w, "the end")
			return
		}
		http.Redirect(w, r, *target.Load(), http.StatusFound)
	}))
	defer s.Close()
	g := guard(t, egress.Config{AllowPrivate: []string{strings.TrimPrefix(s.URL, "http://")}, Redirects: 3})
	for to, why := range map[string]string{
		s.URL + "/end": "", secret.URL: "port", "http://169.254.169.254/latest/": "metadata", "http://[::1]:80/": "loopback",
		"file:///etc/passwd": "scheme", "gopher://x/": "scheme", s.URL + "/again": "more than 3", "http://me:pw@example.com/": "password",
	} {
		target.Store(&to)
		text, err := get(t, g, s.URL)
		switch {
		case why == "" && (err != nil || text != "the end"):
			t.Errorf("%s: %q, %v", to, text, err)
		case why != "" && (err == nil || !strings.Contains(err.Error(), why) || strings.Contains(text, "secret")):
			t.Errorf("%s: %q, %v", to, text, err)
		}
	}
}

func TestBytes(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := strings.Repeat("x", len(r.URL.Path)-1)
		if r.URL.RawQuery == "stream" {
			if err := http.NewResponseController(w).Flush(); err != nil { // without a length
				t.Error(err)
			}
		}
		_, _ = io.WriteString(w, text)
	}))
	defer s.Close()
	g := guard(t, egress.Config{AllowPrivate: []string{"127.0.0.1"}, Bytes: 10})
	for path, fits := range map[string]bool{"/1234567890": true, "/12345678901": false, "/1234567890?stream": true, "/12345678901?stream": false} {
		text, err := get(t, g, s.URL+path)
		if (err == nil) != fits || err != nil && !errors.Is(err, egress.ErrTooLong) || len(text) > 10 {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
}

func TestCheck(t *testing.T) {
	g := guard(t, egress.Config{})
	for at, open := range map[string]bool{
		"https://example.com/a?b": true, "http://example.com:8080": true, "ftp://example.com": false, "https://": false, "http://10.0.0.1": false,
		"https://user@example.com": false, "http://[::ffff:127.0.0.1]": false, "http://example.com:22": false, "//example.com": false, "http://[fe80::1%25eth0]/": false,
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(at, err)
		}
		if err := g.Check(u); (err == nil) != open {
			t.Errorf("%s: %v", at, err)
		}
	}
}
