package format

import "testing"

func TestExact(t *testing.T) {
	for in, want := range map[string]string{
		"git status --short":              "git status --short",
		"rm\u00a0-rf x":                   "rm⟨U+00A0⟩-rf x",
		"curl\u3000https://p\u0430ypal.x": "curl⟨U+3000⟩https://p⟨U+0430⟩ypal.x",
		"echo привет мир":                 "echo привет мир",
		"echo 你好, Ωμέγα":                  "echo 你好, Ωμέγα",
		"a\u202eb":                        "a⟨U+202E⟩b",
		"\xffa":                           "⟨FF⟩a",
		"":                                "",
		"c\u0441at":                       "c⟨U+0441⟩at",
		"line\nnext\t1":                   "line\nnext\t1",
	} {
		if got := Exact(in); got != want {
			t.Errorf("Exact(%q) is %q, want %q", in, got, want)
		}
	}
}
