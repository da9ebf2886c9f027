package discord

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

var commonmark = goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.Table, extension.TaskList, extension.Linkify))

// dialect writes Markdown as Discord reads it, one string for each block at
// the top of the document: headings of three levels, no tables, no pictures.
// Nothing in it names anybody so that Discord would notify them.
func dialect(markdown string) []string {
	w := writer{src: []byte(markdown)}
	list := w.children(commonmark.Parser().Parse(text.NewReader(w.src)))
	for i, s := range list {
		list[i] = hushed(s)
	}
	return list
}

// writer writes the nodes of one document.
type writer struct{ src []byte }

// children writes the blocks within a block; empty ones are left out.
func (w writer) children(n ast.Node) []string {
	var list []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if s := w.block(c); strings.TrimSpace(s) != "" {
			list = append(list, s)
		}
	}
	return list
}

// maxLevel is the lowest kind of heading that Discord knows.
const maxLevel = 3

func (w writer) block(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Heading:
		title := strings.Join(strings.Fields(w.inline(n)), " ")
		if title == "" || n.Level > maxLevel {
			return around("**", title)
		}
		return strings.Repeat("#", n.Level) + " " + title
	case *ast.Paragraph, *ast.TextBlock:
		return level(strings.TrimSpace(w.inline(n)))
	case *ast.Blockquote:
		return prefixed(strings.Join(w.children(n), "\n\n"), "> ", "> ")
	case *ast.List:
		return w.list(n)
	case *ast.FencedCodeBlock:
		return fenced(string(n.Language(w.src)), w.lines(n))
	case *ast.CodeBlock:
		return fenced("", w.lines(n))
	case *ast.HTMLBlock:
		return level(literal(strings.TrimSpace(w.lines(n))))
	case *ast.ThematicBreak:
		return "———"
	case *table.Table:
		return fenced("", w.table(n))
	}
	return strings.Join(w.children(n), "\n\n")
}

func (w writer) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.src))
	}
	if h, is := n.(*ast.HTMLBlock); is && h.HasClosure() {
		b.Write(h.ClosureLine.Value(w.src))
	}
	return b.String()
}

func (w writer) list(n *ast.List) string {
	var items []string
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark, indent := "- ", "  "
		if n.IsOrdered() {
			mark, indent = strconv.Itoa(number)+". ", "   "
			number++
		}
		items = append(items, prefixed(strings.Join(w.children(c), "\n"), mark, indent))
	}
	return strings.Join(items, "\n")
}

// prefixed puts first before the first line of a text and rest before the others.
func prefixed(s, first, rest string) string {
	return first + strings.ReplaceAll(s, "\n", "\n"+rest)
}

var beginning = regexp.MustCompile(`(?m)^([ \t]*)(#{1,3}|-#|-|\+|>{1,3}|\d{1,9}(?:[.)]))(\s|$)`)

// level is text whose lines begin no heading, list, quote or small print.
func level(s string) string {
	return beginning.ReplaceAllStringFunc(s, func(m string) string {
		at := strings.IndexAny(m, "#->+.)")
		return m[:at] + `\` + m[at:]
	})
}

// table draws a table with signs; Discord has none.
func (w writer) table(t *table.Table) string {
	var rows [][]string
	var widths []int
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cell := shortened(strings.Join(strings.Fields(w.plain(c)), " "), 60)
			if len(row) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(row)] = max(widths[len(row)], len([]rune(cell)))
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for i, row := range rows {
		for j, cell := range row {
			if j > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(cell + strings.Repeat(" ", widths[j]-len([]rune(cell))))
		}
		b.WriteString("\n")
		if i > 0 {
			continue
		}
		for j, width := range widths {
			if j > 0 {
				b.WriteString("-+-")
			}
			b.WriteString(strings.Repeat("-", width))
		}
		b.WriteString("\n")
	}
	return b.String()
}
