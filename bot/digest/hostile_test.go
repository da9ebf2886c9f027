package digest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// shape is what Markdown makes of a report, without the texts: headings with
// theirs, lists, items, marks and code, and who is named.
func shape(t *testing.T, d Digest) []string {
	t.Helper()
	source := []byte(d.Body)
	var list []string
	doc := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser().Parse(text.NewReader(source))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text, *ast.String:
		case *ast.Heading:
			if entering {
				list = append(list, "heading "+string(n.Lines().Value(source)))
			}
		case *ast.CodeSpan:
			if entering {
				list = append(list, "code")
			}
			return ast.WalkSkipChildren, nil
		default:
			if entering {
				list = append(list, n.Kind().String())
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	bot.Unmention(d.Body, func(who string) string {
		list = append(list, "names "+who)
		return who
	})
	return list
}

// Whatever goals, reports, tasks, questions and reasons say, a report keeps its
// shape, names nobody else and has a headline of one line.
func FuzzDigestText(f *testing.F) {
	for _, said := range []string{hostileText, "`", "``` ", "\\", "a\n# b", "a\u2028- b", "<!-- ", "[a]: http://e.org\n", "\x00\xff", "* * *", "a  \nb", "&#10;&#96;", strings.Repeat("\\", 79), strings.Repeat("_`", 200)} {
		f.Add(said)
	}
	from := func(said string) Source {
		return Source{Period: yesterday, Runs: hostile("a" + said), Audience: digestApprovers.Audience,
			Unread: []card.Status{{Run: "unread", Problem: "a" + said}}, Counters: []Counter{{Name: "a" + said}}}
	}
	f.Fuzz(func(t *testing.T, said string) {
		late := Lateness{Due: yesterday.Since, Now: yesterday.Until, Why: "a" + said}
		plain, d := New(from("")).Late(Lateness{Due: late.Due, Now: late.Now, Why: "a"}), New(from(said)).Late(late)
		if diff := cmp.Diff(shape(t, plain), shape(t, d)); diff != "" {
			t.Errorf("%q changes what a report is:\n%s", said, diff)
		}
		if d.Headline != plain.Headline || !utf8.ValidString(d.Body) {
			t.Errorf("%q: headline %q, want %q; valid text: %t", said, d.Headline, plain.Headline, utf8.ValidString(d.Body))
		}
	})
}
