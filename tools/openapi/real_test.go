package openapi_test

// A real document, the one of GitHub's API, from the npm registry: fetched once
// into the cache of whoever runs the tests.

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/openapi"
)

const (
	realPackage = "@octokit/openapi@23.0.2"
	realFile    = "package/generated/api.github.com.json"
)

// realDocument is the path of the document.
func realDocument(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a document from the npm registry is left out in short mode")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm on this machine: the document cannot be fetched")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	dir := filepath.Join(cache, "deckhand-test", "openapi-23.0.2")
	file := filepath.Join(dir, "api.github.com.json")
	if _, err := os.Stat(file); err == nil {
		return file
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	pack := exec.CommandContext(ctx, npm, "pack", "--silent", "--pack-destination", dir, realPackage)
	out, err := pack.Output()
	if err != nil {
		t.Skipf("the npm registry cannot be reached: %v", err)
	}
	archive := filepath.Join(dir, string(bytes.TrimSpace(out)))
	defer os.Remove(archive)
	if err := unpack(archive, realFile, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// unpack takes one file out of an archive.
func unpack(archive, name, to string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s has no %s", archive, name)
		}
		if err != nil {
			return err
		}
		if h.Name != name {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(r, 64<<20))
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o600)
	}
}

// More than 500 operations of a real document are tools, and one is called.
func TestARealDocument(t *testing.T) {
	document := realDocument(t)
	var seen string
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Method + " " + r.URL.String()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"number":7,"title":"It leaks"}`)
	}))
	defer local.Close()
	s := openapi.New(openapi.Config{Name: "github", Document: document, Server: local.URL})
	defer s.Close()
	list, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var issue agent.Tool
	for _, tool := range list {
		if strings.HasSuffix(tool.Spec().Description, "(GET /repos/{owner}/{repo}/issues/{issue_number})") {
			issue = tool
		}
	}
	if len(list) < 500 || issue == nil {
		t.Fatalf("%d tools, and the one that reads an issue is %v", len(list), issue)
	}
	if d, says := issue.(agent.Documented); !says || !strings.Contains(d.Documentation(t.Context()), "issue_number") {
		t.Error("the operation has no documentation")
	}
	r := issue.Run(t.Context(), agent.Call{Tool: issue.Spec().Name, Repeat: agent.RepeatRead,
		Arguments: json.RawMessage(`{"owner":"o","repo":"r","issue_number":7}`)})
	if r.State != agent.OutcomeOK || !strings.Contains(r.Text, "It leaks") || seen != "GET /repos/o/r/issues/7" {
		t.Errorf("%s: %s; the server saw %q", r.State, r.Text, seen)
	}
	t.Logf("%d operations", len(list))
}
