package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// thicket makes a tree with everything that is hard to count.
func thicket(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "thicket DIR")
	root := ts.MkAbs(args[0])
	files := map[string]string{
		"a.go": "package a\n\nfunc A() {}\n", "no-newline.go": "package a\n\nvar x = 1", "empty.go": "",
		"with space/odd|name.go": strings.Repeat("// odd\n", 90), "pipe|folder/x.go": strings.Repeat("// pipe\n", 80), "ümlaut/ü.go": "package u\r\n",
		".git/config.go": "not\ncounted\n", "vendor/v/v.go": "not\ncounted\n", "node_modules/m/m.go": "not\ncounted\n",
		"deep/vendor/v.go": "not\ncounted\n", ".hidden/h.go": "package h\n",
		"README.md": "# no Go\n", "run.sh": "echo\necho\n", "deep/er/and/deeper/d.go": strings.Repeat("// line\n", 1234),
	}
	for i := range 420 {
		files[fmt.Sprintf("many/d%03d/f.go", i)] = strings.Repeat("//\n", i%7)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, []byte(text), 0o644))
	}
	for name, target := range map[string]string{"link.go": "a.go", "folder-link": "deep", "broken.go": "nowhere.go"} {
		ts.Check(os.Symlink(target, filepath.Join(root, name)))
	}
}

// tally is what was counted.
type tally struct{ files, lines int }

// walk counts as the contract says: regular files outside .git, vendor and
// node_modules, lines as wc -l does.
func walk(root string) (folders map[string]tally, total tally, err error) {
	folders = map[string]tally{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "vendor" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		n := bytes.Count(text, []byte("\n"))
		f := folders[rel]
		folders[rel] = tally{f.files + 1, f.lines + n}
		total = tally{total.files + 1, total.lines + n}
		return err
	})
	return folders, total, err
}

// row is a row of the table: cell, files, lines.
var row = regexp.MustCompile(`(?m)^\| (.+) \| (\d+) \| (\d+) \|$`)

func surveyed(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "surveyed DIR")
	root := ts.MkAbs(args[0])
	folders, total, err := walk(root)
	ts.Check(err)
	var sum tally
	named := 0
	said := false
	for _, m := range row.FindAllStringSubmatch(ts.ReadFile(filepath.Join(root, "REPORT.md")), -1) {
		files, _ := strconv.Atoi(m[2])
		lines, _ := strconv.Atoi(m[3])
		got, name := tally{files, lines}, strings.ReplaceAll(m[1], `\|`, "|")
		if name == "total" {
			said = true
			if got != total || got != sum {
				ts.Fatalf("the total says %+v, the rows add up to %+v, there are %+v", got, sum, total)
			}
			continue
		}
		sum = tally{sum.files + files, sum.lines + lines}
		if want, known := folders[name]; known {
			named++
			if got != want {
				ts.Fatalf("folder %q: the report says %+v, there are %+v", name, got, want)
			}
		}
	}
	if !said || named == 0 {
		ts.Fatalf("REPORT.md has no total (%v) or names no folder (%d)", said, named)
	}
	picture, err := os.ReadFile(filepath.Join(root, "deckhand-survey.png"))
	ts.Check(err)
	if !bytes.HasPrefix(picture, []byte("\x89PNG\r\n")) {
		ts.Fatalf("deckhand-survey.png is no PNG")
	}
}
