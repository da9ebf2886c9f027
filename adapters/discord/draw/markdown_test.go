package draw

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/discord/draw/drawtest"
	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent"
)

func TestMarkdownBecomesDiscords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"bold", "a **b** __c__", "a **b** **c**"},
		{"italic", "a *b* _c_", "a *b* *c*"},
		{"bold italic", "***b***", "***b***"},
		{"strike", "~~no~~", "~~no~~"},
		{"code", "a `b<c` d", "a `b<c` d"},
		{"code with a backtick", "`` a`b ``", "`aˋb`"},
		{"fence", "```go\nx < y\n```", "```go\nx < y\n```"},
		{"fence in a fence", "````\n```\nx\n```\n````", "```\n`\u200b``\nx\n`\u200b``\u200b\n```"},
		{"link", "[a & b](https://x.y/?a=1&b=2)", "[a & b](https://x.y/?a=1&b=2)"},
		{"bare link", "see https://x.y/z_1.", "see <https://x.y/z_1>."},
		{"mail", "<a@b.cd>", "a@b.cd"},
		{"link in its own words", "[https://good.example](https://bad.example)", "https://good.example [(bad.example)](https://bad.example)"},
		{"link that ends a link", "[a\\]b](<https://x.y/a(1)>)", "a\\]b (<https://x.y/a%281%29>)"},
		{"link to nothing that opens", "[a](javascript:alert(1))", "a (javascript:alert(1))"},
		{"link that calls", "[a](https://x.y/@everyone)", "[a](https://x.y/%40everyone)"},
		{"image", "![alt](https://x.y/p.png)", "alt (`https://x.y/p.png`)"},
		{"list", "* a\n* b\n  * c\n", "- a\n- b\n  - c"},
		{"numbers", "3. a\n4. b", "3. a\n4. b"},
		{"tasks", "- [x] a\n- [ ] b", "- ☑ a\n- ☐ b"},
		{"heading", "## A **b**", "## A **b**"},
		{"low heading", "##### A", "**A**"},
		{"quote", "> a\n> b\n>\n> c", "> a\n> b\n> \n> c"},
		{"table", "| a | bb |\n|---|----|\n| ccc | *d* |", "```\na   | bb\n----+---\nccc | d \n```"},
		{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"escapes", `\*a\* \_b\_ &lt;b&gt; &amp;`, `\*a\* \_b\_ \<b> &`},
		{"spoiler", "a ||b||", `a \|\|b\|\|`},
		{"beginnings", "\\# a\n\\- b\n1\\. c\n\\> d\n-# e", "\\# a\n\\- b\n1\\. c\n\\> d\n\\-# e"},
		{"tags", "a<br>b <u>c</u>", `a` + "\n" + `b \<u>c\</u>`},
		{"nothing", " \n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(markdownBlocks(c.in), "\n\n"); got != strings.ReplaceAll(c.want, "</", "<\u200b/") {
				t.Errorf("markdownBlocks(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestNothingPings(t *testing.T) {
	t.Parallel()
	for _, p := range drawtest.Pings {
		for _, text := range []string{p, "a " + p + " b", "x\n\n" + p} {
			if got := drawtest.Calls.FindString(strings.Join(markdownBlocks(text), "\n\n")); got != "" {
				t.Errorf("markdownBlocks(%q) contains %q", text, got)
			}
			if got := drawtest.Calls.FindString(withoutPings(text)); got != "" {
				t.Errorf("withoutPings(%q) contains %q", text, got)
			}
		}
	}
}

func TestTextWithoutPingsLooksTheSame(t *testing.T) {
	t.Parallel()
	for _, text := range append(drawtest.Pings, "a@b.cd", "@Override", "a < b", "npm i @types/node") {
		if got := strings.ReplaceAll(withoutPings(text), markdown.NoWidth, ""); got != text {
			t.Errorf("withoutPings(%q) reads %q", text, got)
		}
	}
	for _, text := range []string{"a@b.cd", "@Override", "a < b", "npm i @types/node"} {
		if got := withoutPings(text); got != text {
			t.Errorf("withoutPings changes %q to %q for nothing", text, got)
		}
	}
}

func FuzzNothingPings(f *testing.F) {
	for _, p := range drawtest.Pings {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.NewReplacer(string(agent.MentionOpen), "", string(agent.MentionClose), "").Replace(text) // the desk writes them out
		whole := Options{}.withMentions(strings.Join(markdownBlocks(text), "\n\n"))
		part, _ := cutMarkdown(whole, 200)
		if n := Width(part); n > 200 {
			t.Errorf("a part of %d characters", n)
		}
		for _, s := range []string{whole, part, withoutPings(fenced("", text)), Options{}.line(text, 100), PlainText(text, 80)} {
			if got := drawtest.Calls.FindString(s); got != "" {
				t.Errorf("%q becomes %q", text, s)
			}
		}
		if strings.Count(fenced("", text), markdown.Fence) != 2 {
			t.Errorf("%q breaks out of its fence", text)
		}
	})
}

func TestLongTextIsCutWhereItMay(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{
		"words":    strings.Repeat("word ", 2000),
		"one word": strings.Repeat("x", 9000),
		"emoji":    strings.Repeat("🦜", 3000),
		"links":    strings.Join(markdownBlocks(strings.Repeat("[some label](https://example.org/a/path) ", 300)), ""),
		"escapes":  strings.Join(markdownBlocks(strings.Repeat(`\_\*`, 3000)), ""),
		"code":     fenced("go", strings.Repeat("x := map[string]int{}\n", 500)),
		"people":   strings.Repeat("\ue000discord:120000000000000001\ue001", 500),
	} {
		for most := 900; most < 1000; most += 7 {
			part, cut := cutMarkdown(piece, most)
			if n := Width(part); n > most || n < most/2 || !cut {
				t.Errorf("%s: %d characters of %d", name, n, most)
			}
			if name != "code" && strings.Count(part, "[") != strings.Count(part, ")") || strings.Count(part, markdown.Fence)%2 != 0 || strings.Count(part, "\ue000") != strings.Count(part, "\ue001") || strings.HasSuffix(part, `\…`) {
				t.Errorf("%s: cut within something: …%q", name, part[len(part)-80:])
			}
		}
	}
}
