package git_test

import (
	"encoding/json"
	"net"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/git"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

const selfWord = "sandbox-of-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == selfWord {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// shell runs git as a person would, outside of any sandbox.
func shell(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// server serves a repository as git's own program does, at an address that no
// proxy is skipped for.
func server(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	shell(t, dir, "init", "-q", "-b", "main", work)
	if err := os.WriteFile(filepath.Join(work, "README"), []byte("boats\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(work, "leak")); err != nil {
		t.Fatal(err)
	}
	shell(t, work, "add", "-A")
	shell(t, work, "commit", "-qm", "all about boats")
	shell(t, dir, "clone", "-q", "--bare", work, filepath.Join(dir, "boats.git"))
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("this machine has no second loopback address: ", err)
	}
	s := httptest.NewUnstartedServer(&cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"}})
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

func TestGit(t *testing.T) {
	if !git.Present() {
		t.Fatal("git is not installed: make setup")
	}
	at := server(t)
	host := strings.TrimPrefix(at, "http://")
	box, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], selfWord}, AllowPrivate: []string{host}})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := box.Driver(t.Context()); err != nil || d != sandbox.Bubblewrap {
		t.Skip("there is no bubblewrap here, without which git reaches nothing: ", d, err)
	}
	guard, err := egress.New(egress.Config{AllowPrivate: []string{host}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	space, err := workspace.New(workspace.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]agent.Tool{}
	for _, tool := range git.New(git.Config{Sandbox: box, Workspace: space, Root: dir, Guard: guard, Name: "Deckhand", Email: "bot@example.com"}) {
		list[tool.Spec().Name] = tool
	}
	call := func(name, arguments string, failed bool, want ...string) {
		t.Helper()
		c := agent.Call{Run: "r1", Effect: "e1", Tool: name, Arguments: json.RawMessage(arguments)}
		r := agent.Result{}
		if p, is := list[name].(agent.Preparer); is {
			prepared, err := p.Prepare(t.Context(), c)
			if err != nil {
				r = agent.Failed(err.Error())
			}
			c.Mark = prepared.Mark
		}
		if r.State == "" {
			r = list[name].Run(t.Context(), c)
			prober, is := list[name].(agent.Prober)
			if done, _, err := probe(t, prober, c, is); r.State == agent.OutcomeOK && is && (err != nil || !done) {
				t.Errorf("%s %s: it was made, and the probe says %v, %v", name, arguments, done, err)
			}
		}
		for _, w := range want {
			if (r.State == agent.OutcomeError) != failed || !strings.Contains(r.Text, w) {
				t.Errorf("%s %s: %s %q, want %q", name, arguments, r.State, r.Text, w)
			}
		}
	}
	call("clone_repository", `{"url":"`+at+`/boats.git","path":"src/boats"}`, false, "cloned "+at+"/boats.git into src/boats", "Ann: all about boats")
	if info, err := os.Lstat(filepath.Join(dir, "src/boats/leak")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("a link that leads out came along: %v, %v", info, err)
	}
	if list, err := os.ReadDir(filepath.Join(dir, "src/boats/.git/hooks")); err == nil && len(list) > 0 {
		t.Errorf("hooks came along: %v", list)
	}
	call("clone_repository", `{"url":"`+at+`/boats.git","path":"src/boats"}`, true, "is there already")
	call("clone_repository", `{"url":"`+at+`/none.git","path":"none"}`, true, "not found")
	call("clone_repository", `{"url":"`+at+`/boats.git","path":"../out"}`, true, "leads out")
	call("clone_repository", `{"url":"file:///etc","path":"a"}`, true, "no address")
	call("clone_repository", `{"url":"ssh://git@example.com/x","path":"a"}`, true, "scheme")
	call("clone_repository", `{"url":"http://10.0.0.1/x.git","path":"a"}`, true, "private")
	call("clone_repository", `{"url":"`+at+`/boats.git","path":"b","branch":"--upload-pack=id"}`, true, "no revision")
	call("git_log", `{"path":"src/boats"}`, false, "Ann: all about boats")
	call("git_log", `{"path":"src"}`, true, "not a git repository")

	// what a repository would have git start does not start
	repo := filepath.Join(dir, "src/boats")
	proof := filepath.Join(repo, "proof")
	hook := filepath.Join(repo, ".git/hooks/pre-commit")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+proof+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"core.fsmonitor", "diff.external", "core.editor"} {
		shell(t, repo, "config", name, "touch "+proof)
	}
	if err := os.WriteFile(filepath.Join(repo, "README"), []byte("boats and ships\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, "new"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	call("git_diff", `{"path":"src/boats"}`, false, "?? new", "+boats and ships")
	call("git_commit", `{"path":"src/boats","message":"README: ships","files":["README"]}`, false, "as Deckhand: README: ships", "1 file changed")
	call("git_commit", `{"path":"src/boats","message":"the rest"}`, false, "as Deckhand: the rest")
	call("git_commit", `{"path":"src/boats","message":"nothing"}`, true, "nothing to commit")
	call("git_diff", `{"path":"src/boats","from":"HEAD~2","to":"HEAD~1"}`, false, "+boats and ships")
	call("git_diff", `{"path":"src/boats","from":"--output=x"}`, true, "no revision")
	if _, err := os.Stat(proof); err == nil {
		t.Error("a hook or a setting of the repository was run")
	}
}

func probe(t *testing.T, p agent.Prober, c agent.Call, is bool) (bool, agent.Result, error) {
	t.Helper()
	if !is {
		return false, agent.Result{}, nil
	}
	return p.Probe(t.Context(), c)
}
