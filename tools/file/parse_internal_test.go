package file

import (
	"bufio"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"", "a/b", true},
		{"*.go", "a/b.go", true},
		{"*.go", "a/b.gox", false},
		{"*.{ts,tsx}", "a/b.tsx", true},
		{"?.go", "ab.go", false},
		{"[!a]*.go", "a/b.go", true},
		{"[!a]*.go", "b/a.go", false},
		{"src/*.go", "src/a.go", true},
		{"src/*.go", "src/x/a.go", false},
		{"src/**/*.go", "src/a.go", true},
		{"src/**/*.go", "src/x/y/a.go", true},
		{"./src/**", "src/x/y", true},
		{"a.go", "axgo", false},
		{`\*.go`, "*.go", true},
		{"ä*.md", "ärger.md", true},
		{"a\nb", "a\nb", true},
	} {
		g, err := compileGlob(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.match(c.path); got != c.want {
			t.Errorf("%s matches %s: %v", c.glob, c.path, got)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*.go", "src/**/*.{ts,tsx}", "[!a-z]?", `\`, "[", "{{,}", "ä[ö"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if !utf8.ValidString(pattern) {
			return
		}
		g, err := compileGlob(pattern)
		if err == nil {
			g.match(path)
		}
		if !strings.ContainsAny(pattern, `*?[]{},\`) && pattern != "" && !strings.HasPrefix(pattern, "./") && len(pattern) < 1000 {
			if err != nil {
				t.Fatalf("%q is refused: %v", pattern, err)
			}
			if !strings.HasSuffix(pattern, "/") && !g.match(pattern) {
				t.Fatalf("%q does not match itself", pattern)
			}
		}
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("/a+/i", "line")
	f.Add("plain", "so plain")
	f.Fuzz(func(t *testing.T, query, line string) {
		m, err := compileQuery(query)
		if err != nil {
			return
		}
		if at := m([]byte(line)); at != nil {
			excerpt([]byte(line), at)
		}
	})
}

// A comparison of everything, read with - and without +, is the old text, and the
// other way round the new one.
func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "x")
	f.Add("x\n", "")
	f.Add("a\nb\nc\nd\n", "b\na\nd\nc\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = withLastLineEnd(a), withLastLineEnd(b)
		if len(a)+len(b) > 4000 || a == b {
			return
		}
		all := unified(a, b, 4000)
		var old, fresh strings.Builder
		for _, line := range all[1:] {
			if line[0] != '+' {
				old.WriteString(line[1:] + "\n")
			}
			if line[0] != '-' {
				fresh.WriteString(line[1:] + "\n")
			}
		}
		if all[0] != "@@ -1 +1 @@" || old.String() != a || fresh.String() != b {
			t.Fatalf("%q to %q became %q", a, b, all)
		}
	})
}

func TestChangesStandAtTheirLines(t *testing.T) {
	got := unified("a\nb\nc\nd\ne\nf\ng\nh\ni\nj", "X\nY\nb\nd\ne\nf\ng\nh\ni\nj\n", 1)
	want := []string{"@@ -1 +1 @@", "-a", "+X", "+Y", " b", "-c", " d", "@@ -9 +9 @@", " i", "-j ⟨no line feed at the end⟩", "+j"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Read in pieces, a text is what it was, as long as no line is too long.
func FuzzCut(f *testing.F) {
	f.Add("a\nb\nc", 1)
	f.Add("\n\n", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 100 || len(text) > 10_000 {
			return
		}
		var whole strings.Builder
		for offset, total := 1, 1; offset <= total; offset += limit {
			p, err := readPiece(bufio.NewReaderSize(strings.NewReader(text), 16), offset, limit)
			if err != nil {
				t.Fatal(err)
			}
			total = p.total
			if total != lines(text) || p.short > 0 || p.lines > limit {
				t.Fatalf("%d lines of %d, want %d", p.lines, p.total, lines(text))
			}
			whole.WriteString(p.text.String())
		}
		if whole.String() != text {
			t.Fatalf("%q became %q", text, whole.String())
		}
	})
}
