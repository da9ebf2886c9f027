package file_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

func TestRead(t *testing.T) {
	d := newDesk(t)
	d.put("five", "1\n2\n3\n4\n5\n")
	d.put("open", "1\n2")
	d.put("empty", "")
	d.put("latin", "caf\xe9 cr\u00e8me "+strings.Repeat("plain ", 20))
	d.put("wide", "start\n"+strings.Repeat("x", 300_000)+"\nend\n")
	d.put("long", strings.Repeat(strings.Repeat("y", 99)+"\n", 3000))
	d.put("png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	for _, c := range []struct {
		args m
		want string
	}{
		{m{"path": "five"}, "five: lines 1-5 of 5, 10 bytes\n1\n2\n3\n4\n5\n"},
		{m{"path": "five", "offset": 2, "limit": 2}, "five: lines 2-3 of 5, 10 bytes; go on with offset 4\n2\n3\n"},
		{m{"path": "five", "offset": 5, "limit": 9}, "five: lines 5-5 of 5, 10 bytes\n5\n"},
		{m{"path": "open"}, "open: lines 1-2 of 2, 3 bytes\n1\n2"},
		{m{"path": "empty"}, "empty: empty, 0 lines"},
		{m{"path": "latin"}, "latin: lines 1-1 of 1, 132 bytes\ncaf\uFFFD crème " + strings.Repeat("plain ", 20)},
		{m{"path": "wide", "offset": 3}, "wide: lines 3-3 of 3, 300,011 bytes\nend\n"},
		{m{"path": "png"}, "png: binary, image/png, 16 bytes, sha256 "},
	} {
		if r := d.do("read_file", c.args); r.Text != c.want && (c.args["path"] != "png" || !strings.HasPrefix(r.Text, c.want)) {
			t.Errorf("%v:\n got %.300q\nwant %.300q", c.args, r.Text, c.want)
		}
	}
	r := d.do("read_file", m{"path": "wide"})
	if !strings.HasPrefix(r.Text, "wide: lines 1-2 of 3, 300,011 bytes; go on with offset 3; line 2 is shortened\nstart\nxxx") || len(r.Text) > 140_000 {
		t.Errorf("wide: %.200q, %d bytes", r.Text, len(r.Text))
	}
	r = d.do("read_file", m{"path": "long"})
	if !strings.HasPrefix(r.Text, "long: lines 1-1310 of 3000, 300,000 bytes; go on with offset 1311\nyyy") || len(r.Text) > 132_000 {
		t.Errorf("long: %.200q, %d bytes", r.Text, len(r.Text))
	}
	if r.Trust != agent.Untrusted {
		t.Errorf("a file's content is %s", r.Trust)
	}
	d.refused("read_file", m{"path": "five", "offset": 6}, "has only 5 lines")
	d.refused("read_file", m{"path": "none"}, "there is no none", "list_files")
	d.refused("read_file", m{"path": "."}, "is a folder")
	d.refused("read_file", m{"path": "../five"}, "leads out")
	d.refused("read_file", m{"path": "five/x"}, "not a directory")
}

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	d := newDesk(t)
	if err := syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A socket's path may have about 100 characters only.
	short, err := os.MkdirTemp("", "s") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(short) }()
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	link(t, "/dev/zero", filepath.Join(d.dir, "zero"))
	link(t, "/etc", filepath.Join(d.dir, "etc"))
	d.refused("read_file", m{"path": "pipe"}, "a named pipe")
	d.refused("read_file", m{"path": "zero"}, "symbolic link")
	d.refused("read_file", m{"path": "etc/passwd"}, "symbolic link")
	if r := deskAt(t, short, t.TempDir()).run(d.call("read_file", m{"path": "s"})); r.State != agent.OutcomeError || !strings.Contains(r.Text, "a socket") {
		t.Errorf("%+v", r)
	}
	d.put("real", "x\n")
	link(t, "real", filepath.Join(d.dir, "alias"))
	if r := d.do("read_file", m{"path": "alias"}); !strings.HasSuffix(r.Text, "\nx\n") {
		t.Errorf("a link inside of the workspace: %q", r.Text)
	}
}

func TestTrust(t *testing.T) {
	d := newDesk(t)
	d.put("a", "x\n")
	w, err := workspace.New(workspace.Config{Dir: d.dir})
	if err != nil {
		t.Fatal(err)
	}
	if d.tools, err = tools.New(file.New(file.Config{Workspace: w, Trust: agent.Trusted})...); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"read_file", "search_files"} {
		if r := d.do(tool, map[string]m{"read_file": {"path": "a"}, "search_files": {"query": "x"}}[tool]); r.Trust != agent.Trusted {
			t.Errorf("%s: %s", tool, r.Trust)
		}
	}
}

func TestSearch(t *testing.T) {
	d := newDesk(t)
	d.put("a.go", "package a\n\nfunc Ready() {}\n// MARK: more\n")
	d.put("sub/b.txt", "a line\r\nwith MARK in it\r\nlast mark")
	d.put("vendor/v.go", "MARK\n")
	d.put("bin", "MARK\x00MARK\n")
	d.put("many", strings.Repeat("hit\n", 300))
	d.put("wide", strings.Repeat("w", 5000)+"needle"+strings.Repeat("w", 5000)+"\n")
	link(t, "a.go", filepath.Join(d.dir, "link.go"))
	for _, c := range []struct {
		args m
		want string
	}{
		{m{"query": "MARK"}, "2 matching lines in 2 files\na.go:4: // MARK: more\nsub/b.txt:2: with MARK in it"},
		{m{"query": "/mark/i"}, "3 matching lines in 2 files\na.go:4: // MARK: more\nsub/b.txt:2: with MARK in it\nsub/b.txt:3: last mark"},
		{m{"query": `/^func \w+/`}, "1 matching line in 1 file\na.go:3: func Ready() {}"},
		{m{"query": "MARK", "path": "sub"}, "1 matching line in 1 file\nsub/b.txt:2: with MARK in it"},
		{m{"query": "MARK", "path": "a.go"}, "1 matching line in 1 file\na.go:4: // MARK: more"},
		{m{"query": "MARK", "skip": []string{}, "glob": "*.go"}, "2 matching lines in 2 files\na.go:4: // MARK: more\nvendor/v.go:1: MARK"},
		{m{"query": "Ready("}, "1 matching line in 1 file\na.go:3: func Ready() {}"},
		{m{"query": "absent"}, "nothing found for \"absent\""},
	} {
		if r := d.do("search_files", c.args); r.Text != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.args, r.Text, c.want)
		}
	}
	if r := d.do("search_files", m{"query": "hit"}); strings.Count(r.Text, "many:") != 51 || !strings.Contains(r.Text, "more than 50 matching lines") {
		t.Errorf("many: %s", r.Text)
	}
	if r := d.do("search_files", m{"query": "needle"}); !strings.Contains(r.Text, "…w") || !strings.Contains(r.Text, "needle") || len(r.Text) > 400 {
		t.Errorf("wide: %s", r.Text)
	}
	for i := range 10 {
		d.put(fmt.Sprintf("more/%d", i), strings.Repeat("hit\n", 40))
	}
	if r := d.do("search_files", m{"query": "hit"}); !strings.HasPrefix(r.Text, "the first 200 matching lines, in 5 files; there are more") {
		t.Errorf("%.200s", r.Text)
	}
	d.refused("search_files", m{"query": "/(/"}, "RE2")
	d.refused("search_files", m{"query": "x", "path": "none"}, "there is no none")
	d.refused("search_files", m{"query": "a\nb"}, "line feed")
}
