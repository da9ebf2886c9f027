package file

import (
	"bufio"
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

// A comparison, read with - and without +, is the old text, and the other way
// round the new one.
func FuzzCompare(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 4000 {
			return
		}
		var old, fresh []string
		for _, e := range compare(split(a), split(b)) {
			if e.op != '+' {
				old = append(old, e.line)
			}
			if e.op != '-' {
				fresh = append(fresh, e.line)
			}
		}
		if strings.Join(old, "\n") != strings.Join(split(a), "\n") || strings.Join(fresh, "\n") != strings.Join(split(b), "\n") {
			t.Fatalf("%q to %q became %q to %q", a, b, old, fresh)
		}
	})
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
			p, err := cut(bufio.NewReaderSize(strings.NewReader(text), 16), offset, limit)
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
