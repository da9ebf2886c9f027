package program_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/program"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// wheel is a package of one module.
func wheel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"answer.py":                      "value = 42\n",
		"answer-1.0.dist-info/METADATA":  "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n",
		"answer-1.0.dist-info/WHEEL":     "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"answer-1.0.dist-info/RECORD":    "answer.py,,\nanswer-1.0.dist-info/METADATA,,\nanswer-1.0.dist-info/WHEEL,,\nanswer-1.0.dist-info/RECORD,,\n",
		"answer-1.0.dist-info/top_level": "answer\n",
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packaged is a runner whose packages come from an index on this machine; asked
// counts how often the wheel was loaded.
func packaged(t *testing.T, driver sandbox.Driver, network bool) (call func(env agent.Env) agent.Result, asked func() int) {
	t.Helper()
	data, n := wheel(t), 0
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, ".whl"):
			n++
			_, _ = w.Write(data)
		case r.URL.Path == "/simple/answer/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!DOCTYPE html><a href="/answer-1.0-py3-none-any.whl">answer-1.0-py3-none-any.whl</a>`))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(index.Close)
	host := strings.TrimPrefix(index.URL, "http://")
	c := sandbox.Config{Self: []string{os.Args[0], selfWord}, Driver: driver, AllowPrivate: []string{host}}
	if network {
		c.Network = []string{host}
	}
	s, err := sandbox.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Driver(t.Context()); err != nil {
		t.Skip("this machine has no such driver: ", err)
	}
	w, err := workspace.New(workspace.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := program.New(program.Config{Sandbox: s, Workspace: w, Root: t.TempDir(), Cache: t.TempDir(), Index: index.URL + "/simple"})
	python := r.Tools()[0]
	return func(env agent.Env) agent.Result {
		args, err := json.Marshal(map[string]string{"code": "import answer; print(answer.value)"})
		if err != nil {
			t.Fatal(err)
		}
		return python.Run(t.Context(), agent.Call{Run: "r1", Tool: "run_python", Arguments: args, Env: &env})
	}, func() int { return n }
}

// What a task says it needs is installed once, and there from then on.
func TestPackages(t *testing.T) {
	if out, err := exec.Command("/usr/bin/python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
		t.Skipf("/usr/bin/python3 of this machine has no pip: %s", out)
	}
	call, asked := packaged(t, sandbox.Bubblewrap, true)
	if r := call(agent.Env{}); r.State != agent.OutcomeError || !strings.Contains(r.Text, "No module named 'answer'") {
		t.Errorf("without the package: %+v", r)
	}
	for range 2 {
		if r := call(agent.Env{Packages: []string{"answer==1.0"}}); r.State != agent.OutcomeOK || r.Text != "42" {
			t.Fatalf("%+v", r)
		}
	}
	if asked() != 1 {
		t.Errorf("it was loaded %d times", asked())
	}
	if r := call(agent.Env{Packages: []string{"no-such-package"}}); r.State != agent.OutcomeError || !strings.Contains(r.Text, "packages could not be installed (no-such-package)") {
		t.Errorf("%+v", r)
	}
}

func TestPackagesAreRefused(t *testing.T) {
	call, _ := packaged(t, sandbox.Child, true)
	if r := call(agent.Env{Packages: []string{"answer"}}); !strings.Contains(r.Text, "the driver child has no network to install them by") {
		t.Errorf("%+v", r)
	}
	if r := call(agent.Env{Packages: []string{"answer"}, Runtime: "shell"}); !strings.Contains(r.Text, "only Python's are installed") {
		t.Errorf("%+v", r)
	}
	call, _ = packaged(t, sandbox.Bubblewrap, false)
	if r := call(agent.Env{Packages: []string{"answer"}}); !strings.Contains(r.Text, "sandbox.network does not list 127.0.0.1") {
		t.Errorf("%+v", r)
	}
}
