package markdown

import (
	"strings"
	"testing"
)

func TestCarries(t *testing.T) {
	for target, carries := range map[string]bool{
		"https://example.com/a/b?page=2&sort=name#top":                                                         false,
		"https://github.com/o/r/commit/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b":                               false,
		"https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit":                 false,
		"https://example.com/a-very-long-title-of-a-page-in-plain-words-that-somebody-wrote-about-something":   false,
		"https://evil.example/?d=VGhlIG1lcmdlciB3aXRoIE5vcnRod2luZCBjbG9zZXMgb24gdGhlIHRoaXJk":                 true,
		"https://evil.example/The%20merger%20with%20Northwind%20closes%20on%20the%20third%20of%20May":          true,
		"https://" + strings.Repeat("a1", 30) + ".evil.example/":                                               true,
		"https://evil.example/?" + strings.Repeat("a=b&", 60):                                                  true,
		"https://user:password@example.com/":                                                                   true,
		"http://192.168.0.1/reboot":                                                                            true,
		"http://169.254.169.254/latest/meta-data":                                                              true,
		"http://localhost:9000/":                                                                               true,
		"mailto:boss@corp.example":                                                                             false,
		"mailto:eve@evil.example?body=" + strings.Repeat("x", 300):                                             true,
		"https://slack.com/archives/C0123456789/p1700000000000100?thread_ts=1700000000.000100&cid=C0123456789": false,
		"https://8.8.8.8/": false,
	} {
		if got := Carries(target); got != carries {
			t.Errorf("%s: %v", target, got)
		}
	}
}

func TestDisguises(t *testing.T) {
	for _, c := range []struct {
		target, label string
		disguises     bool
	}{
		{"https://evil.example/x", "https://yourteam.slack.com/signin", true}, {"https://evil.example", "yourteam.slack.com", true},
		{"https://evil.example", "see www.bank.test", true}, {"https://evil.example", "the report", false}, {"https://evil.example/a", "evil.example/b", false},
		{"https://www.evil.example", "evil.example", false}, {"https://github.com/o/r/blob/main/x.go", "x.go", false}, {"https://example.com", "node.js and v1.2.3", false},
		{"mailto:a@b.example", "a@b.example", false},
	} {
		if got := Disguises(c.target, c.label); got != c.disguises {
			t.Errorf("[%s](%s): %v", c.label, c.target, got)
		}
	}
}

func TestLinksAndPictures(t *testing.T) {
	d := Dialect{Text: func(s string) string { return s }, Code: func(s string) string { return s }, Paragraph: func(s string) string { return s },
		Link: func(target, label string) string { return "<" + target + "|" + label + ">" }}
	for document, c := range map[string]struct {
		drawn string
		plain bool
	}{
		"[the page](https://example.com/a)":                                 {"<https://example.com/a|the page>", true},
		"[bank.com](https://evil.example/a)":                                {"bank.com <https://evil.example/a|(evil.example)>", false},
		"![logo](https://evil.example/p.png?d=1)":                           {"logo (`https://evil.example/p.png?d=1`)", false},
		"![](https://evil.example/p.png)":                                   {"`https://evil.example/p.png`", false},
		"[x](http://10.0.0.1/)":                                             {"x (`http://10.0.0.1/`)", false},
		"see https://example.com/a now":                                     {"see <https://example.com/a|https://example.com/a> now", true},
		"see https://evil.example/" + strings.Repeat("q1", 40):              {"see `https://evil.example/" + strings.Repeat("q1", 40) + "`", false},
		"[![i](https://evil.example/i.png)](https://example.com)":           {"<https://example.com|i>", false},
		"text with `https://evil.example/" + strings.Repeat("q1", 40) + "`": {"text with `https://evil.example/" + strings.Repeat("q1", 40) + "`", true},
		"a <img src=\"https://evil.example/p.png\"> tag":                    {"a <img src=\"https://evil.example/p.png\"> tag", false},
	} {
		if got := strings.Join(d.Blocks(document), "\n"); got != c.drawn {
			t.Errorf("%s\n got %s\nwant %s", document, got, c.drawn)
		}
		if got := Plain(document); got != c.plain {
			t.Errorf("%s: plain %v", document, got)
		}
	}
}
