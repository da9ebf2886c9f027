package draw

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/adapters/slack/draw/drawtest"
)

func TestMarkdownBecomesMrkdwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"bold", "a **b** c", "a *b* c"},
		{"italic", "a *b* _c_", "a _b_ _c_"},
		{"bold italic", "***b***", "_*b*_"},
		{"strike", "~~no~~", "~no~"},
		{"code", "a `b<c` d", "a `b&lt;c` d"},
		{"code with a backtick", "`` a`b ``", "`aˋb`"},
		{"fence", "```go\nx < y && z\n```", "```\nx &lt; y &amp;&amp; z\n```"},
		{"fence in a fence", "````\n```\nx\n```\n````", "```\n`\u200b``\nx\n`\u200b``\n```"},
		{"link", "[a & b](https://x.y/?a=1&b=2)", "<https://x.y/?a=1&amp;b=2|a &amp; b>"},
		{"bare link", "see https://x.y/z.", "see <https://x.y/z>."},
		{"mail", "<a@b.cd>", "<mailto:a@b.cd|a@b.cd>"},
		{"link that ends a link", "[a>b|c](https://x.y/a|b%3E)", "<https://x.y/a%7Cb%3E|a&gt;b|c>"},
		{"link to nothing that opens", "[a](javascript:alert(1))", "a (javascript:alert(1))"},
		{"image", "![alt](https://x.y/p.png)", "alt (`https://x.y/p.png`)"},
		{"list", "- a\n- b\n  - c\n", "• a\n• b\n    • c"},
		{"numbers", "3. a\n4. b", "3. a\n4. b"},
		{"tasks", "- [x] a\n- [ ] b", "• ☑ a\n• ☐ b"},
		{"heading", "## A **b**", "*A b*"},
		{"quote", "> a\n> b\n>\n> c", "> a\n> b\n> \n> c"},
		{"table", "| a | bb |\n|---|----|\n| ccc | *d* |", "```\na   | bb\n----+---\nccc | d \n```"},
		{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"escapes", `\*a\* &lt;b&gt; &amp;`, "*a* &lt;b&gt; &amp;"},
		{"tags", "a<br>b <u>c</u>", "a\nb &lt;u&gt;c&lt;/u&gt;"},
		{"nothing", " \n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(mrkdwn(c.in), "\n\n"); got != c.want {
				t.Errorf("mrkdwn(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

var (
	opened   = regexp.MustCompile(`<[^>]{0,12}`)
	shouting = regexp.MustCompile(`(?i)[@!](here|channel|everyone|subteam)`)
	calling  = regexp.MustCompile(`<[@!#]`)
)

// mrkdwnPings says what in a text would notify people or break out of it.
func mrkdwnPings(s string) string {
	for _, o := range opened.FindAllString(s, -1) {
		if !strings.HasPrefix(o, "<https://") && !strings.HasPrefix(strings.ToLower(o), "<http") && !strings.HasPrefix(strings.ToLower(o), "<mailto:") {
			return o
		}
	}
	return shouting.FindString(s)
}

// markdownPings looks at Markdown as it stands and as a parser may read it.
func markdownPings(s string) string {
	views := []string{s, html.UnescapeString(s)}
	for _, lenient := range []bool{false, true} {
		var meant strings.Builder
		for _, u := range markdown.Units(s, lenient) {
			meant.WriteString(u.Means)
		}
		views = append(views, meant.String())
	}
	for _, view := range views {
		if p := shouting.FindString(view) + calling.FindString(view); p != "" {
			return p
		}
	}
	return ""
}

func TestNothingPings(t *testing.T) {
	t.Parallel()
	for _, p := range drawtest.Pings {
		for _, text := range []string{p, "a " + p + " b", "x\n\n" + p} {
			if got := mrkdwnPings(strings.Join(mrkdwn(text), "\n\n")); got != "" {
				t.Errorf("mrkdwn(%q) contains %q", text, got)
			}
			if got := markdownPings(markdownWithoutPings(text)); got != "" {
				t.Errorf("markdownWithoutPings(%q) contains %q", text, got)
			}
			if got := calling.FindString(WithoutPings(text)) + shouting.FindString(WithoutPings(text)); got != "" {
				t.Errorf("WithoutPings(%q) contains %q", text, got)
			}
		}
	}
}

func TestTextWithoutPingsLooksTheSame(t *testing.T) {
	t.Parallel()
	for _, text := range append(drawtest.Pings, "a@b.cd", "@Override", "<b>", "a < b", "x!y", "npm i @types/node") {
		if got := strings.ReplaceAll(markdownWithoutPings(text), markdown.NoWidth, ""); got != text {
			t.Errorf("markdownWithoutPings(%q) reads %q", text, got)
		}
	}
	for _, text := range []string{"a@b.cd", "@Override", "a < b", "npm i @types/node"} {
		if got := markdownWithoutPings(text); got != text {
			t.Errorf("markdownWithoutPings changes %q to %q for nothing", text, got)
		}
	}
}

func FuzzNothingPings(f *testing.F) {
	for _, p := range drawtest.Pings {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, part := range pack(mrkdwn(text), maxSection) {
			if got := mrkdwnPings(part); got != "" {
				t.Errorf("mrkdwn(%q) contains %q", text, got)
			}
			if n := utf8.RuneCountInString(part); n > maxSection {
				t.Errorf("a section of %d characters", n)
			}
		}
		if got := markdownPings(markdownWithoutPings(text)); got != "" {
			t.Errorf("markdownWithoutPings(%q) contains %q", text, got)
		}
	})
}

func TestLongTextIsCutWhereItMay(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{
		"words":    strings.Repeat("word ", 2000),
		"one word": strings.Repeat("x", 9000),
		"links":    strings.Join(mrkdwn(strings.Repeat("[some label](https://example.org/a/path) ", 300)), ""),
		"entities": strings.Join(mrkdwn(strings.Repeat("<&>", 2000)), ""),
		"code":     preformatted(strings.Repeat("x := map[string]int{}\n", 500)),
	} {
		parts := split(piece, 1000)
		if len(parts) < 2 {
			t.Errorf("%s: %d parts", name, len(parts))
		}
		for _, p := range parts {
			if n := utf8.RuneCountInString(p); n > 1000 {
				t.Errorf("%s: a part of %d characters", name, n)
			}
			if strings.Count(p, "<") != strings.Count(p, ">") || strings.Count(p, markdown.Fence)%2 != 0 || strings.Count(p, "&") != strings.Count(p, ";") {
				t.Errorf("%s: cut within something: %q", name, p)
			}
		}
	}
}
