package post

import (
	"strings"
	"testing"
)

func TestFileNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{"a.txt", "a b.txt", "größe.csv", "grüße.csv", "grsse.csv", "报告.pdf", "告报.pdf", "报告", "..", "a/b.txt", "", "noext", "x.tar.gz"} {
		got := FileName(name)
		if got == "" || unnameable.MatchString(got) || strings.Trim(got, ".") == "" || seen[got] != "" {
			t.Errorf("%q is called %q, as %q", name, got, seen[got])
		}
		seen[got] = name
	}
	if FileName("x.tar.gz") != "x.tar.gz" || FileName("my words.txt") != "my_words.txt" || !strings.HasSuffix(FileName("报告.pdf"), ".pdf") {
		t.Errorf("names: %v", seen)
	}
}
