package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Fence begins and ends preformatted text, and NoWidth is a space without width:
// behind a sign that begins a mention it makes the sign mean nothing and look
// the same.
const (
	Fence   = "```"
	NoWidth = "\u200b"
)

// Dialect is how a platform writes what a document means.
type Dialect struct {
	Strong, Emphasis, Strike string // signs around such text
	Bullet                   string // before an item of a list
	BulletIndent             string // before the further lines of such an item
	NumberIndent             string // before those of an item with a number

	// Text is text that is shown as it stands, within a paragraph.
	Text func(text string) string
	// Code is what stands between backticks; it holds none.
	Code func(text string) string
	// Link is a link with a label, or the label alone where people cannot open it.
	Link func(target, label string) string
	// Heading is a heading of a level from 1, of text in the dialect.
	Heading func(level int, title string) string
	// Paragraph finishes a paragraph in the dialect.
	Paragraph func(text string) string
	// Fenced is preformatted text between fences, which it cannot close.
	Fenced func(language, text string) string
}

var commonmark = goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.Table, extension.TaskList, extension.Linkify))

// Blocks writes a document in the dialect, one string for each block at its top.
func (d *Dialect) Blocks(document string) []string {
	w := writer{Dialect: d, src: []byte(document)}
	return w.children(commonmark.Parser().Parse(text.NewReader(w.src)))
}

// writer writes the nodes of one document.
type writer struct {
	*Dialect

	src []byte
}

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

func (w writer) block(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Heading:
		return w.Heading(n.Level, w.inline(n))
	case *ast.Paragraph, *ast.TextBlock:
		return w.Paragraph(strings.TrimSpace(w.inline(n)))
	case *ast.Blockquote:
		return prefixed(strings.Join(w.children(n), "\n\n"), "> ", "> ")
	case *ast.List:
		return w.list(n)
	case *ast.FencedCodeBlock:
		return w.Fenced(string(n.Language(w.src)), w.lines(n))
	case *ast.CodeBlock:
		return w.Fenced("", w.lines(n))
	case *ast.HTMLBlock:
		return w.Paragraph(w.Text(strings.TrimSpace(w.lines(n))))
	case *ast.ThematicBreak:
		return "———"
	case *table.Table:
		return w.Fenced("", w.table(n))
	}
	return strings.Join(w.children(n), "\n\n")
}

// lines is the source of a block that holds nothing but text.
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
		mark, indent := w.Bullet, w.BulletIndent
		if n.IsOrdered() {
			mark, indent = strconv.Itoa(number)+". ", w.NumberIndent
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
