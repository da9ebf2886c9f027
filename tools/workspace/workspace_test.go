package workspace_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// The test binary is also a worker that holds a lock, and one that writes.
const (
	holdWord  = "hold-lock"
	writeWord = "write-for-ever"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case holdWord:
			os.Exit(hold(os.Args[2]))
		case writeWord:
			os.Exit(writeForEver(os.Args[2]))
		}
	}
	goleak.VerifyTestMain(m)
}

func open(dir string, wait time.Duration) (*workspace.Folder, error) {
	w, err := workspace.New(workspace.Config{Dir: dir, Wait: wait})
	if err != nil {
		return nil, err
	}
	return w.Open("")
}

func folder(t *testing.T, dir string) *workspace.Folder {
	t.Helper()
	f, err := open(dir, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// hold takes the lock of "f", says so, and gives it back when stdin ends.
func hold(dir string) int {
	f, err := open(dir, 0)
	if err != nil {
		return 1
	}
	l, err := f.Lock(context.Background(), "f")
	if err != nil {
		return 1
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	l.Release()
	return 0
}

// content is a whole file of a letter, large enough to be met half-written.
func content(letter byte) []byte { return bytes.Repeat([]byte{letter}, 4<<20) }

func writeForEver(dir string) int {
	f, err := open(dir, 0)
	if err != nil {
		return 1
	}
	for i := 0; ; i++ {
		c := content('a' + byte(i%2))
		l, err := f.Lock(context.Background(), "deep/f")
		if err != nil {
			return 1
		}
		if err := f.Replace(context.Background(), "deep/f", bytes.NewReader(c), workspace.StateOf(c)); err != nil {
			fmt.Println(err)
			return 1
		}
		l.Release()
		if i == 0 {
			fmt.Println("written")
		}
	}
}

// worker starts the test binary as a worker and waits for its first line.
func worker(t *testing.T, word, dir string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], word, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" && line != "written\n" {
		t.Fatalf("the worker said %q, %v", line, err)
	}
	return cmd, in
}

func TestLockOfAFrozenWorker(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir)
	cmd, in := worker(t, holdWord, dir)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Lock(t.Context(), "f"); !errors.Is(err, workspace.ErrBusy) {
		t.Fatalf("the lock of a frozen worker: %v", err)
	}
	if _, err := f.Lock(t.Context(), "F"); !errors.Is(err, workspace.ErrBusy) {
		t.Errorf("another case of the name has another lock: %v", err)
	}
	other, err := f.Lock(t.Context(), "g")
	if err != nil {
		t.Fatalf("another file is blocked too: %v", err)
	}
	other.Release()
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	l, err := f.Lock(t.Context(), "f")
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	l.Release()
}

func TestLockDiesWithItsWorker(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir)
	cmd, _ := worker(t, holdWord, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l, err := f.Lock(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// Killed at any moment, a worker leaves the old or the new content, whole.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir)
	for range 6 {
		cmd, _ := worker(t, writeWord, dir)
		halfway(t, filepath.Join(dir, "deep"))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		got, err := os.ReadFile(filepath.Join(dir, "deep", "f"))
		if err != nil || !bytes.Equal(got, content('a')) && !bytes.Equal(got, content('b')) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	c := content('c')
	if err := f.Replace(t.Context(), "deep/f", bytes.NewReader(c), workspace.StateOf(c)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "deep"))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// halfway returns when a write is going on in the folder.
func halfway(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if found, err := filepath.Glob(filepath.Join(dir, ".deckhand-*")); err == nil && len(found) > 0 {
			return
		}
	}
	t.Fatal("nothing is being written")
}

func TestRecord(t *testing.T) {
	f := folder(t, t.TempDir())
	l, err := f.Lock(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	done := func(key string) bool {
		t.Helper()
		d, err := l.Done(key)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if done("a") {
		t.Error("a is done already")
	}
	for i := range 1500 {
		key := fmt.Sprintf("run\x00%d\n", i)
		if err := l.Record(key); err != nil {
			t.Fatal(err)
		}
		if !done(key) {
			t.Fatalf("%d is not recorded", i)
		}
	}
	if !done("run\x001300\n") || done("run\x000\n") || done("run\x001") {
		t.Error("the record does not hold the newest entries")
	}
}

func TestLockFileRemoved(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir)
	l, err := f.Lock(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
	if err := os.RemoveAll(filepath.Join(dir, ".deckhand")); err != nil {
		t.Fatal(err)
	}
	l, err = f.Lock(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
	ctx, cancel := context.WithCancel(t.Context())
	l, err = f.Lock(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	cancel()
	if _, err := f.Lock(ctx, "f"); !errors.Is(err, context.Canceled) || !errors.Is(err, workspace.ErrBusy) {
		t.Errorf("waiting with an ended context: %v", err)
	}
}

func TestReplaceRefusesOtherContent(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir)
	err := f.Replace(t.Context(), "new/deep/f", strings.NewReader("x"), workspace.StateOf([]byte("y")))
	if !errors.Is(err, workspace.ErrChanged) {
		t.Errorf("%v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	w, err := workspace.New(workspace.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.Open("slack-C1")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if info, err := os.Stat(filepath.Join(dir, "slack-C1")); err != nil || !info.IsDir() {
		t.Errorf("the folder was not made: %v", err)
	}
	for _, name := range []string{"..", "/etc", "a/../..", ".deckhand"} {
		if _, err := w.Open(name); !errors.Is(err, workspace.ErrPath) {
			t.Errorf("Open(%q): %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Open("file"); err == nil {
		t.Error("a file was opened as a folder")
	}
	if _, err := workspace.New(workspace.Config{}); err == nil {
		t.Error("a workspace without a folder")
	}
}

func TestState(t *testing.T) {
	f := folder(t, t.TempDir())
	s, err := f.State(t.Context(), "none")
	if err != nil || !s.Absent || s.String() != "absent" {
		t.Errorf("%v %v", s, err)
	}
	if err := f.Replace(t.Context(), "f", strings.NewReader("x"), workspace.StateOf([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	if s, err = f.State(t.Context(), "f"); err != nil || s != workspace.StateOf([]byte("x")) || s.Size != 1 {
		t.Errorf("%v %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.State(ctx, "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("reading with an ended context: %v", err)
	}
	if err := f.Remove("f"); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove("f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removing twice: %v", err)
	}
}

// A clean path never leaves the folder, and cleaning it again changes nothing.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "/x", "a/../../b", ".", "a//b/./c", ".Deckhand-x", "a\x00", "..a", "a/.."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		c, err := workspace.Clean(p)
		if err != nil {
			if !errors.Is(err, workspace.ErrPath) {
				t.Fatalf("%q: %v", p, err)
			}
			return
		}
		if !filepath.IsLocal(c) || !fs.ValidPath(strings.ToValidUTF8(c, "x")) || strings.Contains(strings.ToLower(c), "/.deckhand-") {
			t.Fatalf("%q became %q", p, c)
		}
		if again, err := workspace.Clean(c); err != nil || again != c {
			t.Fatalf("%q became %q and then %q, %v", p, c, again, err)
		}
	})
}

// What decides about the next start, and what Deckhand keeps, is nobody's target
// under any name, and is not read through a link.
func TestOwnFilesAreOutOfReach(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"settings/agent.yaml": "the configuration", "store/deckhand.db": "journals", ".deckhand/jobs/x/stdout": "output", "plain.md": "text"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out.txt": ".deckhand/jobs/x/stdout", "db": "store/deckhand.db", "a": "b", "b": "a", "fine": "plain.md", "up": "settings/../.deckhand/jobs"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "settings/agent.yaml"), filepath.Join(dir, "other-name.yaml")); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.New(workspace.Config{Dir: dir, Locks: t.TempDir(), Private: []string{filepath.Join(dir, "store")}, Protected: []string{filepath.Join(dir, "settings/agent.yaml")}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range []string{"deckhand.yaml", "sub/Deckhand.YML", "deck\u200bhand.yaml", "deckhand.yaml.", ".git/config", ".GIT/hooks/x", ".g\u200dit/config",
		".deckhand/x", "store/x", "STORE/x", "settings/agent.yaml", "other-name.yaml"} {
		if got, err := f.Target(p); !errors.Is(err, workspace.ErrPath) {
			t.Errorf("%q may be written as %q: %v", p, got, err)
		}
	}
	for _, p := range []string{"out.txt", "db", "up/x/stdout", "store/deckhand.db", "a"} {
		if file, _, err := f.Read(p); err == nil {
			_ = file.Close()
			t.Errorf("%q is read", p)
		}
	}
	for _, p := range []string{"plain.md", "fine", "settings/agent.yaml"} {
		file, _, err := f.Read(p)
		if err != nil {
			t.Errorf("%q is not read: %v", p, err)
			continue
		}
		_ = file.Close()
	}
	if _, err := f.Target("deckhand.yaml.md"); err != nil {
		t.Errorf("another name is refused: %v", err)
	}
	if !f.Hides("store") || f.Hides("storehouse") {
		t.Error("hidden is the data directory, and nothing else")
	}
}
