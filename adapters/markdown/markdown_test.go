package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// plain is a dialect that shows what the walker does: every mark is a letter.
var plain = Dialect{
	Strong: "B", Emphasis: "I", Strike: "S", Bullet: "- ", BulletIndent: "  ", NumberIndent: "   ",
	Text:      strings.ToLower,
	Code:      func(text string) string { return "C" + text },
	Link:      func(target, label string) string { return "[" + label + "|" + target + "]" },
	Heading:   func(level int, title string) string { return strings.Repeat("H", level) + title },
	Paragraph: func(text string) string { return "P" + text },
	Fenced:    func(language, text string) string { return "F" + language + ":" + text },
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"emphasis", "a **b** *c* ~~d~~", "Pa BbB IcI SdS"},
		{"blanks stay outside", "a ** b ** c", "Pa ** b ** c"},
		{"code", "a `` B`c ``", "Pa `CBˋc`"},
		{"heading", "### A `b`", "HHHa `Cb`"},
		{"link", "[a **b**](https://x.y)", "P[a b|https://x.y]"},
		{"image", "![A](https://x.y/p.png)", "Pa (`Chttps://x.y/p.png`)"},
		{"bare link", "see https://x.y.", "Psee [https://x.y|https://x.y]."},
		{"mail", "<a@b.cd>", "P[a@b.cd|mailto:a@b.cd]"},
		{"list", "* a\n* b\n  * c", "- Pa\n- Pb\n  - Pc"},
		{"numbers", "7. a\n8. b\n\n   c", "7. Pa\n8. Pb\n   Pc"},
		{"tasks", "- [x] a\n- [ ] b", "- P☑ a\n- P☐ b"},
		{"quote", "> a\n>\n> b", "> Pa\n> \n> Pb"},
		{"fence", "```go\nA\n```", "Fgo:A\n"},
		{"indented code", "    A\n    B", "F:A\nB\n"},
		{"rule", "a\n\n***\n\nb", "Pa\n———\nPb"},
		{"tags", "A<br>B <u>C</u>", "Pa\nb <u>c</u>"},
		{"block of tags", "<div>\nA\n</div>", "P<div>\na\n</div>"},
		{"entities", `\*A\* &lt;B&gt; \&lt; &ampx; &nope;`, "P*a* <b> &lt; &ampx; &nope;"},
		{"table", "| a | bb |\n|---|----|\n| ccc | *d* |", "F:a   | bb\n----+---\nccc | d \n"},
		{"a long cell", "| a |\n|---|\n| " + strings.Repeat("x", 80) + " |", "F:a" + strings.Repeat(" ", 59) + "\n" + strings.Repeat("-", 60) + "\n" + strings.Repeat("x", 59) + "…\n"},
		{"nothing", " \n", ""},
	} {
		if got := strings.Join(plain.Blocks(c.in), "\n"); got != c.want {
			t.Errorf("%s: %q becomes\n     %q\nwant %q", c.name, c.in, got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	meaning := func(s string, lenient bool) string {
		var b, raw strings.Builder
		for _, u := range Units(s, lenient) {
			b.WriteString(u.Means)
			raw.WriteString(u.Raw)
		}
		if raw.String() != s {
			t.Errorf("the units of %q are those of %q", s, raw.String())
		}
		return b.String()
	}
	for _, c := range []struct{ in, strict, lenient string }{
		{`\<a\>`, "<a>", "<a>"},
		{`\a`, `\a`, `\a`},
		{"&lt;&#60;&#x3c;", "<<<", "<<<"},
		{"&lt &#60", "&lt &#60", "< <"},
		{"&ltx;", "&ltx;", "<x;"},
		{`\&lt;`, "&lt;", "&lt;"},
		{"ä🦜&", "ä🦜&", "ä🦜&"},
	} {
		if s, l := meaning(c.in, false), meaning(c.in, true); s != c.strict || l != c.lenient {
			t.Errorf("%q means %q, leniently %q; want %q, %q", c.in, s, l, c.strict, c.lenient)
		}
	}
}

func TestHeadEndsWithAParagraph(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		most     int
		want     string
		cut      bool
	}{
		{"fits", "a\n\nb", 10, "a\n\nb", false},
		{"paragraph", "aaaa\n\nbbbb\n\ncccc", 12, "aaaa\n\nbbbb", true},
		{"open fence", "```\nline\nline\nline\nline\n```", 18, "```\nline\nline\n```", true},
		{"one line", "aaaaaaaaaaaaaaaa", 5, "aaaa…", true},
		{"a principal", "aaa\ue000slack:U1\ue001", 8, "aaa…", true},
		{"a short paragraph before", "aaaaaa\n\nbbbb\nbbbb\nbbbb", 20, "aaaaaa", true},
		{"a very short one before a long one", "aa\n\nbbbbbbbb\nbbbbbbbb\nbbbbbbbb\nbb", 24, "aa\n\nbbbbbbbb\nbbbbbbbb", true},
		{"one line of sentences", "Aaaa aa. Bbbb bb. Cccc cc. Dddd", 20, "Aaaa aa. Bbbb bb.…", true},
		{"one line of words", "aaaa bbbb cccc dddd", 12, "aaaa bbbb…", true},
		{"no room", "aaaa", 0, "", true},
	} {
		got, cut := Head(c.in, c.most)
		if c.name == "no room" {
			got = strings.Trim(got, "…")
		}
		if got != c.want || cut != c.cut {
			t.Errorf("%s: Head = %q, %v; want %q, %v", c.name, got, cut, c.want, c.cut)
		}
	}
}

func TestCutAt(t *testing.T) {
	t.Parallel()
	link := []Pair{{Open: '<', Close: '>'}}
	for _, c := range []struct {
		in    string
		most  int
		pairs []Pair
		want  string
	}{
		{"aaaa\nbb cc", 9, nil, "aaaa\n"},
		{"a\nbbbb cc dd", 9, nil, "a\nbbbb "},
		{"aaaaaaaaaa", 4, nil, "aaaa"},
		{"aaaaaa<bbbb>", 9, link, "aaaaaa"},
		{"aaaaaa<bbbb>", 9, []Pair{{Open: '<', Close: '>', Longest: 3}}, "aaaaaa<bb"},
		{"<aaaaaaaaaaaaa>", 9, link, "<aaaaaaaa"},
	} {
		if got := string([]rune(c.in)[:CutAt([]rune(c.in), c.most, c.pairs)]); got != c.want {
			t.Errorf("%q is cut behind %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzHead(f *testing.F) {
	f.Add("```\na\n\nb\n```\n\nc", 9)
	f.Fuzz(func(t *testing.T, document string, most int) {
		most = max(1, min(most, 1000)) // a mark takes one
		head, cut := Head(document, most)
		if n := utf8.RuneCountInString(head); n > most {
			t.Errorf("%d characters of %d", n, most)
		}
		if !cut && head != document {
			t.Errorf("%q is said to be whole", head)
		}
	})
}
