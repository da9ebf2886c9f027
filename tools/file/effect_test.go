package file_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

func TestEffects(t *testing.T) {
	d := newDesk(t)
	r := d.do("write_to_file", m{"path": "notes/a.md", "text": "one\n"})
	if d.content("notes/a.md") != "one\n" || r.Text != "created notes/a.md: 4 bytes, 1 line" || len(r.Files) != 1 || r.Files[0] != "notes/a.md" {
		t.Fatalf("%q, %+v", d.content("notes/a.md"), r)
	}
	if err := os.Chmod(filepath.Join(d.dir, "notes/a.md"), 0o750); err != nil {
		t.Fatal(err)
	}
	d.do("append_to_file", m{"path": "notes/a.md", "text": "two"})
	d.do("append_to_file", m{"path": "./notes//a.md", "text": " three\n"})
	if got := d.content("notes/a.md"); got != "one\ntwo three\n" {
		t.Fatalf("after appending: %q", got)
	}
	d.do("write_to_file", m{"path": "notes/a.md", "text": "new"})
	info, err := os.Stat(filepath.Join(d.dir, "notes/a.md"))
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode did not stay: %v %v", info.Mode(), err)
	}
	d.do("append_to_file", m{"path": "fresh.log", "text": "x"})
	if d.content("fresh.log") != "x" {
		t.Error("appending did not create the file")
	}
	d.do("delete_file", m{"path": "notes/a.md"})
	if d.content("notes/a.md") != "absent" {
		t.Error("the file is still there")
	}
	d.refused("delete_file", m{"path": "notes/a.md"}, "there is no notes/a.md to delete")
	left, err := filepath.Glob(filepath.Join(d.dir, "notes", ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("files were left behind: %v %v", left, err)
	}
}

// Each row is a history of the file between Prepare and the late Run of a
// worker that slept, and what the file must be after that.
func TestLateWorker(t *testing.T) {
	for _, c := range []struct {
		name, before, tool, text string
		between                  func(d *desk, slept agent.Call)
		after                    string
		state                    agent.OutcomeState
		probe                    bool
	}{
		{"nothing happened: it is done now", "a\n", "append_to_file", "b\n", func(*desk, agent.Call) {}, "a\nb\n", agent.OutcomeOK, false},
		{"another worker did it", "a\n", "append_to_file", "b\n", func(d *desk, c agent.Call) { d.run(c) }, "a\nb\n", agent.OutcomeOK, true},
		{"another worker did it and it was edited since", "a\n", "append_to_file", "b\n", func(d *desk, c agent.Call) { d.run(c); d.put("f", "mine") }, "mine", agent.OutcomeOK, true},
		{"another worker did it and it was put back since", "a\n", "append_to_file", "b\n", func(d *desk, c agent.Call) { d.run(c); d.put("f", "a\n") }, "a\n", agent.OutcomeOK, true},
		{"somebody else edited it", "a\n", "write_to_file", "b\n", func(d *desk, _ agent.Call) { d.put("f", "mine") }, "mine", agent.OutcomeError, false},
		{"somebody else added to it", "a\n", "append_to_file", "b\n", func(d *desk, _ agent.Call) { d.put("f", "a\nmine\n") }, "a\nmine\nb\n", agent.OutcomeOK, false},
		{"somebody else added the same", "a\n", "append_to_file", "b\n", func(d *desk, _ agent.Call) {
			d.do("append_to_file", m{"path": "f", "text": "b\n"})
		}, "a\nb\nb\n", agent.OutcomeOK, false},
		{"somebody else deleted it", "a\n", "write_to_file", "b\n", func(d *desk, _ agent.Call) { d.do("delete_file", m{"path": "f"}) }, "absent", agent.OutcomeError, false},
		{"the write died before its record", "a\n", "write_to_file", "b\n", func(d *desk, _ agent.Call) { d.put("f", "b\n") }, "b\n", agent.OutcomeOK, true},
		{"a created file was deleted since", "", "write_to_file", "b\n", func(d *desk, c agent.Call) { d.run(c); d.do("delete_file", m{"path": "f"}) }, "absent", agent.OutcomeOK, true},
		{"a deleted file was written anew", "a\n", "delete_file", "", func(d *desk, c agent.Call) {
			d.run(c)
			d.do("write_to_file", m{"path": "f", "text": "a\n"})
		}, "a\n", agent.OutcomeOK, true},
		{"it was deleted by somebody else", "a\n", "delete_file", "", func(d *desk, _ agent.Call) { _ = os.Remove(filepath.Join(d.dir, "f")) }, "absent", agent.OutcomeOK, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			if c.before != "" {
				d.put("f", c.before)
			}
			args := m{"path": "f"}
			if c.tool != "delete_file" {
				args["text"] = c.text
			}
			slept := d.prepared(c.tool, args)
			c.between(d, slept)
			done, r, err := d.probe(slept)
			if err != nil || done != c.probe || done && r.State != agent.OutcomeOK {
				t.Errorf("Probe = %v %+v %v, want %v", done, r, err, c.probe)
			}
			if r := d.run(slept); r.State != c.state {
				t.Errorf("Run = %+v, want %s", r, c.state)
			} else if c.state == agent.OutcomeError && !strings.Contains(r.Text, "changed meanwhile") {
				t.Errorf("the error does not say why: %s", r.Text)
			}
			if got := d.content("f"); got != c.after {
				t.Errorf("the file is %q, want %q", got, c.after)
			}
		})
	}
}

func TestManyWorkersOneEffect(t *testing.T) {
	d := newDesk(t)
	d.put("f", "a\n")
	c := d.prepared("append_to_file", m{"path": "f", "text": "b\n"})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if r := d.run(c); r.State != agent.OutcomeOK {
				t.Errorf("%s", r.Text)
			}
		})
	}
	wg.Wait()
	if got := d.content("f"); got != "a\nb\n" {
		t.Errorf("the file is %q", got)
	}
}

func TestHeldLock(t *testing.T) {
	locks := t.TempDir()
	d := deskAt(t, t.TempDir(), locks)
	w, err := workspace.New(workspace.Config{Dir: d.dir, Locks: locks})
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	c := d.prepared("write_to_file", m{"path": "f", "text": "x"})
	l, err := f.Lock(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	if r := d.run(c); r.State != agent.OutcomeError || !strings.Contains(r.Text, "busy") {
		t.Errorf("Run under a held lock: %+v", r)
	}
	if _, _, err := d.probe(c); err == nil {
		t.Error("Probe answered although the lock is held")
	}
	if d.content("f") != "absent" {
		t.Error("written under somebody else's lock")
	}
	l.Release()
	if r := d.run(c); r.State != agent.OutcomeOK {
		t.Errorf("after the release: %s", r.Text)
	}
}

func TestMarkBelongsToTheCall(t *testing.T) {
	d := newDesk(t)
	c := d.prepared("write_to_file", m{"path": "f", "text": "x"})
	other := d.call("write_to_file", m{"path": "g", "text": "x"})
	other.Mark = c.Mark
	if r := d.run(other); r.State != agent.OutcomeError || d.content("g") != "absent" {
		t.Errorf("the mark of another path was taken: %+v", r)
	}
	other.Mark = ""
	if r := d.run(other); r.State != agent.OutcomeError || !strings.Contains(r.Text, "not prepared") {
		t.Errorf("no mark was needed: %+v", r)
	}
	c.Arguments = []byte(`{"path":"f","text":"y"}`)
	if r := d.run(c); r.State != agent.OutcomeError || d.content("f") != "absent" {
		t.Errorf("other text than what was prepared was written: %+v", r)
	}
}

func TestCancelled(t *testing.T) {
	d := newDesk(t)
	d.put("f", "a")
	c := d.prepared("write_to_file", m{"path": "f", "text": "b"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tool, _ := d.tools.Tool("write_to_file")
	if r := tool.Run(ctx, c); r.State != agent.OutcomeError || d.content("f") != "a" {
		t.Errorf("%+v, %q", r, d.content("f"))
	}
}

func TestPreview(t *testing.T) {
	d := newDesk(t)
	d.put("f", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	for _, c := range []struct {
		tool string
		args m
		want []string
	}{
		{"write_to_file", m{"path": "new.md", "text": "# T\n```\ncode\n```\n"}, []string{"New file, 4 lines.", "````\n# T\n```\ncode\n```\n````"}},
		{"write_to_file", m{"path": "f", "text": "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\n"}, []string{"Changes the file: it has 7 lines then.", "```diff\n@@ -2 +2 @@\n two\n three\n-four\n+FOUR\n five\n six\n```"}},
		{"write_to_file", m{"path": "f", "text": "one\ntwo\nthree\nfour\nfive\nsix\nseven"}, []string{"-seven\n+seven ⟨no line feed at the end⟩"}},
		{"write_to_file", m{"path": "x", "text": "safe\u202Etxt.exe\u200B"}, []string{"safe⟨U+202E⟩txt.exe⟨U+200B⟩"}},
		{"write_to_file", m{"path": "x", "text": strings.Repeat("line\n", 500)}, []string{"Shortened: 40 of 500 lines shown."}},
		{"write_to_file", m{"path": "x", "text": strings.Repeat("ä", 9000)}, []string{"Shortened: the last line shown goes on."}},
		{"append_to_file", m{"path": "f", "text": "eight\n"}, []string{"Adds 1 line at the end of the file.", "eight"}},
		{"delete_file", m{"path": "f"}, []string{"The file has 34 bytes and is gone for good then.", "one\ntwo"}},
	} {
		p, err := d.prepare(d.call(c.tool, c.args))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(p.Preview, w) {
				t.Errorf("%s: the preview has no %q:\n%s", c.tool, w, p.Preview)
			}
		}
		if len(p.Preview) > 8000 {
			t.Errorf("%s: the preview has %d bytes", c.tool, len(p.Preview))
		}
		if path := c.args["path"]; path == "f" && !strings.HasPrefix(p.Target, "sha256:") || path != "f" && p.Target != "absent" {
			t.Errorf("%s %s: target %s", c.tool, path, p.Target)
		}
	}
}

func TestRefusedPaths(t *testing.T) {
	d := newDesk(t)
	outside := t.TempDir()
	link(t, outside, filepath.Join(d.dir, "out"))
	link(t, "/etc/hostname", filepath.Join(d.dir, "abs"))
	link(t, "real", filepath.Join(d.dir, "alias"))
	link(t, "loop", filepath.Join(d.dir, "loop"))
	d.put("real/f", "x")
	d.put(".git/config", "x")
	if err := syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string]string{
		"../x":                   "leads out of the workspace",
		"a/../../x":              "leads out of the workspace",
		"/etc/passwd":            "is absolute",
		"out/x":                  "symbolic link",
		"abs":                    "symbolic link",
		"alias/f":                "symbolic link to \"real\"",
		"loop":                   "symbolic link",
		"pipe":                   "a named pipe",
		".git/hooks/x":           "lies in .git",
		"sub/.GIT/config":        "lies in .git",
		".deckhand/locks":        "reserved",
		".deckhand-12/x":         "reserved",
		"real":                   "is a folder",
		"real/":                  "names a folder",
		".":                      "names a folder",
		"real/f/g":               "real/f is a file",
		"a\nb":                   "control characters",
		"a\x00b":                 "NUL",
		strings.Repeat("n", 300): "use a shorter name",
	} {
		d.refused("write_to_file", m{"path": path, "text": "x"}, words)
		d.refused("append_to_file", m{"path": path, "text": "x"}, words)
		d.refused("delete_file", m{"path": path}, words)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("something was written outside: %v %v", left, err)
	}
	if d.content("real/f") != "x" || d.content(".git/config") != "x" {
		t.Error("a refused call changed a file")
	}
}

func TestFolderOfTheRun(t *testing.T) {
	d := newDesk(t)
	d.put("secret", "x")
	d.put("slack-C2/secret", "x")
	in := func(tool string, args m) agent.Call {
		c := d.call(tool, args)
		c.Folder = "slack-C1"
		return c
	}
	c := in("write_to_file", m{"path": "a", "text": "mine"})
	p, err := d.prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Mark = p.Mark
	if r := d.run(c); r.State != agent.OutcomeOK || d.content("slack-C1/a") != "mine" {
		t.Fatalf("%+v", r)
	}
	if r := d.run(in("list_files", m{})); r.Text != "a\t4" {
		t.Errorf("the folder shows %q", r.Text)
	}
	link(t, "../slack-C2", filepath.Join(d.dir, "slack-C1", "neighbour"))
	for _, path := range []string{"../secret", "../slack-C2/secret", "neighbour/secret"} {
		if r := d.run(in("read_file", m{"path": path})); r.State != agent.OutcomeError {
			t.Errorf("%s was read: %s", path, r.Text)
		}
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// smallDisk makes the test binary a process that cannot write files above
// 4 KiB, which fails in the middle of a write as a full disk does.
const smallDisk = "write-on-small-disk"

func writeOnSmallDisk(dir string) int {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
		fmt.Println(err)
		return 1
	}
	t := &testing.T{}
	d := deskAt(t, dir, filepath.Join(dir, "locks"))
	for _, c := range []agent.Call{
		d.prepared("write_to_file", m{"path": "old", "text": strings.Repeat("x", 10000)}),
		d.prepared("append_to_file", m{"path": "old", "text": strings.Repeat("x", 10000)}),
		d.prepared("write_to_file", m{"path": "a/b/new", "text": strings.Repeat("x", 10000)}),
	} {
		r := d.run(c)
		fmt.Println(r.State, r.Text)
	}
	return 0
}

func TestFullDisk(t *testing.T) {
	d := newDesk(t)
	d.put("old", "kept")
	out, err := exec.Command(os.Args[0], smallDisk, d.dir).CombinedOutput()
	if err != nil || strings.Count(string(out), "error error: ") != 3 || strings.Count(string(out), "file too large") != 3 {
		t.Fatalf("%v\n%s", err, out)
	}
	var seen []string
	err = filepath.WalkDir(d.dir, func(p string, e fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(d.dir, p); !strings.HasPrefix(rel, "locks") {
			seen = append(seen, rel)
		}
		return err
	})
	if err != nil || strings.Join(seen, " ") != ". old" || d.content("old") != "kept" {
		t.Errorf("left behind: %v %v, old is %q", seen, err, d.content("old"))
	}
}

func TestLeftover(t *testing.T) {
	d := newDesk(t)
	d.put("f", "a")
	// What a worker that died while writing leaves behind.
	c := d.prepared("write_to_file", m{"path": "f", "text": "b"})
	left, err := filepath.Glob(filepath.Join(d.dir, ".deckhand-*"))
	if err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	d.put(leftover, "half")
	if r := d.do("list_files", m{}); r.Text != "f\t1" {
		t.Errorf("the leftover is shown: %s", r.Text)
	}
	if r := d.run(c); r.State != agent.OutcomeOK || d.content("f") != "b" || d.content(leftover) != "absent" {
		t.Errorf("%+v, f %q, leftover %q", r, d.content("f"), d.content(leftover))
	}
}

// leftover is the name under which f is written before it gets its own:
// .deckhand- and 8 bytes of the SHA-256 of "f".
const leftover = ".deckhand-252f10c83610ebca"
