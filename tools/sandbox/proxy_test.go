package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// A command reaches the hosts of its list through the proxy, and no others.
func TestNetwork(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("this machine has no /usr/bin/python3 to ask the network with")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("reached")) }))
	defer server.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("reached")) }))
	defer secure.Close()
	allowed := strings.TrimPrefix(server.URL, "http://")
	tunnel := strings.TrimPrefix(secure.URL, "https://")
	s, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], selfWord}, Driver: sandbox.Bubblewrap, AllowPrivate: []string{allowed, tunnel}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Driver(t.Context()); err != nil {
		t.Skip("this machine has no bubblewrap that works: ", err)
	}
	script := fmt.Sprintf(`
import os, socket, ssl, urllib.request, urllib.error
os.environ.pop("no_proxy"); os.environ.pop("NO_PROXY")
loose = ssl.create_default_context(); loose.check_hostname = False; loose.verify_mode = ssl.CERT_NONE
def ask(url):
    try:
        print(url, urllib.request.urlopen(url, timeout=10, context=loose if url.startswith("https") else None).read().decode())
    except urllib.error.HTTPError as e:
        print(url, e.code, e.read().decode().strip())
    except OSError as e:
        print(url, "failed", e)
for url in ["%s/", "%s/", "http://169.254.169.254/latest/", "http://127.0.0.1:1/", "https://example.org/", "http://[::ffff:127.0.0.1]:80/"]:
    ask(url)
try:
    socket.create_connection(("%s", %s), 2); print("straight")
except OSError as e:
    print("no way round")
`, server.URL, secure.URL, "127.0.0.1", strings.TrimPrefix(allowed, "127.0.0.1:"))
	spec := sandbox.Spec{Command: []string{"/usr/bin/python3", "-c", script}, Network: []string{allowed, tunnel}, Memory: 1 << 30}
	r := run(t, s, spec)
	out := string(r.Stdout)
	if strings.Count(out, "/ reached\n") != 2 || !strings.Contains(out, "no way round") || r.Code != 0 {
		t.Errorf("%d %q %q %q", r.Code, r.Limit, out, r.Stderr)
	}
	if strings.Count(out, "403")+strings.Count(out, "Forbidden") < 4 {
		t.Errorf("not all others were refused: %s", out)
	}
	spec.Command = []string{"/bin/sh", "-c", "exit 9"}
	if r := run(t, s, spec); r.Code != 9 {
		t.Errorf("the exit code is %d", r.Code)
	}
}
