package markdown

// This file writes what stands within a paragraph (emphasis, code, links,
// line breaks, HTML) in the signs of a platform's dialect, or without any,
// which is what link labels and table cells need.

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
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
		s := w.Text(w.meaning(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			s += "\n"
		}
		return s
	case *ast.String:
		return w.Text(string(n.Value))
	case *ast.CodeSpan:
		return Around("`", w.Code(strings.ReplaceAll(w.plain(n), "`", "ˋ")))
	case *ast.Emphasis:
		if n.Level == 2 {
			return Around(w.Strong, w.inline(n))
		}
		return Around(w.Emphasis, w.inline(n))
	case *table.Strikethrough:
		return Around(w.Strike, w.inline(n))
	case *table.TaskCheckBox:
		return checkBox(n)
	case *ast.Link:
		return w.link(string(n.Destination), w.plain(n))
	case *ast.Image:
		return w.dead(string(n.Destination), w.plain(n))
	case *ast.AutoLink:
		return w.autoLink(n)
	case *ast.RawHTML:
		return w.tag(n)
	}
	return w.inline(n)
}

func checkBox(n *table.TaskCheckBox) string {
	if n.IsChecked {
		return "☑ "
	}
	return "☐ "
}

// autoLink is an address that stands in a text by itself.
func (w writer) autoLink(n *ast.AutoLink) string {
	url := string(n.URL(w.src))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(url, "mailto:") {
		url = "mailto:" + url
	}
	return w.link(url, string(n.Label(w.src)))
}

// tag is HTML within a text: a line break, or text as it stands.
func (w writer) tag(n *ast.RawHTML) string {
	var b strings.Builder
	for i := range n.Segments.Len() {
		part := n.Segments.At(i)
		b.Write(part.Value(w.src))
	}
	if s := strings.ToLower(b.String()); strings.HasPrefix(s, "<br") {
		return "\n"
	}
	return w.Text(b.String())
}

// meaning is what the source of a text stands for.
func (w writer) meaning(n *ast.Text) string {
	if n.IsRaw() {
		return string(n.Value(w.src))
	}
	var b strings.Builder
	for _, u := range Units(string(n.Value(w.src)), false) {
		b.WriteString(u.Means)
	}
	return b.String()
}

// plain is the text of a node without any markup.
func (w writer) plain(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(w.meaning(c))
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

// Around puts a sign before and behind a text, inside of blanks at its ends.
func Around(sign, s string) string {
	inner := strings.TrimSpace(s)
	if inner == "" {
		return s
	}
	before, after, _ := strings.Cut(s, inner)
	return before + sign + inner + sign + after
}
