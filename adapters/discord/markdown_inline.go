package discord

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inline writes what stands within a paragraph.
func (w writer) inline(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(w.span(c))
	}
	return b.String()
}

func (w writer) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		s := literal(w.said(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			s += "\n"
		}
		return s
	case *ast.String:
		return literal(string(n.Value))
	case *ast.CodeSpan:
		return around("`", strings.ReplaceAll(w.plain(n), "`", "ˋ"))
	case *ast.Emphasis:
		return around("**"[:min(n.Level, 2)], w.inline(n))
	case *table.Strikethrough:
		return around("~~", w.inline(n))
	case *table.TaskCheckBox:
		if n.IsChecked {
			return "☑ "
		}
		return "☐ "
	case *ast.Link:
		return link(string(n.Destination), w.plain(n))
	case *ast.Image:
		return link(string(n.Destination), w.plain(n))
	case *ast.AutoLink:
		return link(string(n.URL(w.src)), string(n.Label(w.src)))
	case *ast.RawHTML:
		return w.tag(n)
	}
	return w.inline(n)
}

func (w writer) tag(n *ast.RawHTML) string {
	var b strings.Builder
	for i := range n.Segments.Len() {
		part := n.Segments.At(i)
		b.Write(part.Value(w.src))
	}
	if s := strings.ToLower(b.String()); strings.HasPrefix(s, "<br") {
		return "\n"
	}
	return literal(b.String())
}

// said is what the source of a text means.
func (w writer) said(n *ast.Text) string {
	value := n.Value(w.src)
	if n.IsRaw() {
		return string(value)
	}
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value))))
}

// plain is the text of a node without any markup.
func (w writer) plain(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(w.said(c))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteString(" ")
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(w.src))
		default:
			b.WriteString(w.plain(c))
		}
	}
	return b.String()
}

// literal is text that Discord shows as it stands, within a line.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "[", `\[`, "]", `\]`, "<", `\<`).Replace(s)
}

// around puts a sign before and behind what it means, inside of blanks at the ends.
func around(sign, s string) string {
	inner := strings.TrimSpace(s)
	if inner == "" {
		return s
	}
	before, after, _ := strings.Cut(s, inner)
	return before + sign + inner + sign + after
}

// Bounds of a link: longer ones are shown as text.
const (
	maxURL       = 512
	maxLinkLabel = 200
)

var callsInURL = regexp.MustCompile(`(?i)@(everyone|here)`)

// link is a link with its label, or both as text where the target is none that
// people open. A label that looks like an address stands beside the link:
// Discord shows no link that hides where it leads.
func link(target, label string) string {
	url := string(util.URLEscape([]byte(target), true))
	url = strings.NewReplacer("<", "%3C", ">", "%3E", "(", "%28", ")", "%29", "|", "%7C", "`", "%60", `\`, "%5C", "*", "%2A").Replace(url)
	url = callsInURL.ReplaceAllString(url, "%40$1")
	label = strings.Join(strings.Fields(label), " ")
	switch {
	case strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r > '~' }) || len(url) > maxURL || !opens(url):
		if label == target || target == "mailto:"+label || target == "" {
			return literal(label)
		}
		return literal(label + " (" + target + ")")
	case label == "" || label == target:
		return "<" + url + ">"
	}
	label = shortened(label, maxLinkLabel)
	if strings.Contains(label, "://") || strings.Contains(label, "www.") || strings.ContainsAny(label, "[]") {
		return literal(label) + " (<" + url + ">)"
	}
	return "[" + literal(label) + "](" + url + ")"
}

func opens(url string) bool {
	url = strings.ToLower(url)
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
}
