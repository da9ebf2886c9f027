package file_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestList(t *testing.T) {
	d := newDesk(t)
	d.put("main.go", "a\nb\n")
	d.put("Makefile", "all:\n")
	d.put("agent/a.go", "1\n2\n3")
	d.put("agent/b_test.go", "1\n")
	d.put("agent/x/y/deep.go", "1\n2\n3\n4\n5\n")
	d.put("docs/readme.md", "# T\n")
	d.put("docs/.hidden", "")
	d.put("vendor/v.go", "v\n")
	d.put("tools/node_modules/n.go", "n\n")
	d.put(".git/config", "c\n")
	d.put(".deckhand/locks/00", "")
	link(t, "main.go", filepath.Join(d.dir, "link.go"))
	link(t, "agent", filepath.Join(d.dir, "alias"))
	link(t, "/etc", filepath.Join(d.dir, "etc"))
	if err := syscall.Mkfifo(filepath.Join(d.dir, "pipe.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args m
		want string
	}{
		{m{}, "Makefile\t5\nagent/a.go\t5\nagent/b_test.go\t2\nagent/x/y/deep.go\t10\ndocs/.hidden\t0\ndocs/readme.md\t4\nmain.go\t4"},
		{m{"glob": "*.go", "by": "folder"}, ".\t1\t2\nagent\t2\t3\nagent/x/y\t1\t5"},
		{m{"by": "extension"}, ".go\t4\t10\n(none)\t2\t1\n.md\t1\t1"},
		{m{"by": "lines", "limit": 3}, "agent/x/y/deep.go\t5\nagent/a.go\t2\nmain.go\t2\n(4 more, raise limit to see them)"},
		{m{"depth": 1}, "Makefile\t5\nmain.go\t4"},
		{m{"depth": 2, "glob": "*.go"}, "agent/a.go\t5\nagent/b_test.go\t2\nmain.go\t4"},
		{m{"path": "agent"}, "agent/a.go\t5\nagent/b_test.go\t2\nagent/x/y/deep.go\t10"},
		{m{"path": "agent", "depth": 1}, "agent/a.go\t5\nagent/b_test.go\t2"},
		{m{"path": "agent/a.go"}, "agent/a.go\t5"},
		{m{"path": "vendor"}, "vendor/v.go\t2"},
		{m{"skip": []string{}, "glob": "*.go", "by": "folder"}, ".\t1\t2\nagent\t2\t3\nagent/x/y\t1\t5\ntools/node_modules\t1\t1\nvendor\t1\t1"},
		{m{"skip": []string{"a*", "docs/"}, "glob": "*.{go,md}"}, "main.go\t4\ntools/node_modules/n.go\t2\nvendor/v.go\t2"},
		{m{"skip": []string{"agent/x"}, "glob": "agent/**/*.go"}, "agent/a.go\t5\nagent/b_test.go\t2"},
		{m{"glob": "*.rs"}, "no files"},
		{m{"glob": "*.rs", "format": "json"}, "[]"},
		{m{"glob": "*.md", "format": "json"}, `[{"path":"docs/readme.md","size":4}]`},
		{m{"glob": "*.go", "by": "folder", "format": "json"}, `[{"files":1,"folder":".","lines":2},{"files":2,"folder":"agent","lines":3},{"files":1,"folder":"agent/x/y","lines":5}]`},
		{m{"by": "extension", "limit": 1, "format": "json"}, `[{"ext":".go","files":4,"lines":10}]`},
		{m{"by": "lines", "limit": 1, "format": "json"}, `[{"lines":5,"path":"agent/x/y/deep.go"}]`},
	} {
		r := d.do("list_files", c.args)
		if r.Text != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.args, r.Text, c.want)
		}
		if r.Trust != agent.Untrusted { // others chose the names
			t.Errorf("%v: trust %s", c.args, r.Trust)
		}
	}
	d.refused("list_files", m{"path": "none"}, "there is no none")
	d.refused("list_files", m{"path": ".."}, "leads out")
	d.refused("list_files", m{"path": "etc"}, "symbolic link")
	d.refused("list_files", m{"glob": "[a"}, "not closed")
	d.put("odd\tname\n", "x")
	if r := d.do("list_files", m{"glob": "odd*"}); r.Text != `"odd\tname\n"`+"\t1" {
		t.Errorf("an odd name is shown as %q", r.Text)
	}
}

func TestListMakesTheFolder(t *testing.T) {
	d := newDesk(t)
	c := d.call("list_files", m{})
	c.Folder = "slack-C9"
	if r := d.run(c); r.Text != "no files" {
		t.Errorf("%+v", r)
	}
}

// repository fills the desk with n files in n/100 folders and returns how
// many there are of each folder and how many lines they have.
func repository(d *desk, n int) map[string][2]int {
	want := map[string][2]int{}
	for i := range n {
		folder := fmt.Sprintf("p%d/q%d/r%d", i%7, i%11, i%(n/100))
		lines := i % 90
		d.put(fmt.Sprintf("%s/f%d.go", folder, i), strings.Repeat("some line of code\n", lines)+"no line feed")
		w := want[folder]
		want[folder] = [2]int{w[0] + 1, w[1] + lines}
	}
	return want
}

func TestListIsExact(t *testing.T) {
	d := newDesk(t)
	want := repository(d, 2000)
	var got []struct {
		Folder       string
		Files, Lines int
	}
	r := d.do("list_files", m{"by": "folder", "glob": "*.go", "format": "json"})
	if err := json.Unmarshal([]byte(r.Text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("%d folders, want %d", len(got), len(want))
	}
	for _, g := range got {
		if want[g.Folder] != [2]int{g.Files, g.Lines} {
			t.Errorf("%s: %d files, %d lines, want %v", g.Folder, g.Files, g.Lines, want[g.Folder])
		}
	}
}

func BenchmarkListByFolder(b *testing.B) {
	d := newDesk(b)
	repository(d, 20_000)
	c := d.call("list_files", m{"by": "folder", "glob": "*.go"})
	for b.Loop() {
		if r := d.run(c); r.State != agent.OutcomeOK {
			b.Fatal(r.Text)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	d := newDesk(b)
	repository(d, 20_000)
	c := d.call("search_files", m{"query": "is not there"})
	for b.Loop() {
		if r := d.run(c); r.State != agent.OutcomeOK {
			b.Fatal(r.Text)
		}
	}
}
