package slack

import (
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
		s := escaped(w.said(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			s += "\n"
		}
		return s
	case *ast.String:
		return escaped(string(n.Value))
	case *ast.CodeSpan:
		return around("`", escaped(strings.ReplaceAll(w.plain(n), "`", "ˋ")))
	case *ast.Emphasis:
		if n.Level == 2 {
			return around("*", w.inline(n))
		}
		return around("_", w.inline(n))
	case *table.Strikethrough:
		return around("~", w.inline(n))
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
		url := string(n.URL(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(url, "mailto:") {
			url = "mailto:" + url
		}
		return link(url, string(n.Label(w.src)))
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
	return escaped(b.String())
}

// said is what the source of a text means.
func (w writer) said(n *ast.Text) string {
	if n.IsRaw() {
		return string(n.Value(w.src))
	}
	var b strings.Builder
	for _, u := range units(string(n.Value(w.src)), false) {
		b.WriteString(u.means)
	}
	return b.String()
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

// around puts a sign before and behind what it means, inside of blanks at the ends.
func around(sign, s string) string {
	inner := strings.TrimSpace(s)
	if inner == "" {
		return s
	}
	before, after, _ := strings.Cut(s, inner)
	return before + sign + inner + sign + after
}

// Bounds of a link: longer ones are shown as text, so that a cut between two
// sections never falls into one.
const (
	maxURL       = 1200
	maxLinkLabel = 200
)

// link is a link in mrkdwn, or the text alone where the target is none that
// people open.
func link(target, label string) string {
	url := string(util.URLEscape([]byte(target), true))
	url = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C", "`", "%60").Replace(url)
	url = strings.NewReplacer("@"+noWidth, "%40", "!"+noWidth, "%21").Replace(hushed(url))
	label = strings.TrimSpace(label)
	if strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r > '~' }) || len(url) > maxURL || !opens(url) {
		return escaped(label + " (" + target + ")")
	}
	if label == "" || label == target {
		return "<" + url + ">"
	}
	return "<" + url + "|" + escaped(shortened(strings.Join(strings.Fields(label), " "), maxLinkLabel)) + ">"
}

func opens(url string) bool {
	url = strings.ToLower(url)
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "mailto:")
}
