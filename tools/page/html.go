package page

// This file reads pages: the article where there is one, as Mozilla's reader view
// finds it, and else all of the page, as Markdown.

import (
	"fmt"
	"net/url"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a page.
const (
	// maxElements is how many elements of a page the article is looked for among:
	// finding it compares each with its neighbours.
	maxElements = 100_000
	// leastArticle is what an article has to have, in characters, to stand for its page.
	leastArticle = 200
)

// readHTML reads a page.
func readHTML(data []byte, contentType string, base *url.URL) (Document, error) {
	text, note, err := decoded(data, contentType)
	if err != nil {
		return Document{}, err
	}
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return Document{}, fmt.Errorf("it is no page that can be read: %w", err)
	}
	base = baseOf(root, base)
	d := Document{Title: titleOf(root), Links: linksOf(root, base), Notes: notes(note)}
	prune(root)
	article, title := articleOf(root, base)
	if title != "" {
		d.Title = title
	}
	body := article
	if body == nil {
		body = root
	}
	if d.Text, err = markdown(body, base); err != nil {
		return d, err
	}
	if article != nil {
		d.Notes = append(d.Notes, "this is the page's article: what stands around it is left out")
	}
	return d, nil
}

// articleOf is the article of a page, nil where it has none that stands for it.
func articleOf(root *html.Node, base *url.URL) (article *html.Node, title string) {
	p := readability.NewParser()
	p.MaxElemsToParse = maxElements
	found, err := p.ParseDocument(root, base)
	if err != nil { // too many elements
		return nil, ""
	}
	if found.Node == nil {
		return nil, found.Title()
	}
	var text strings.Builder
	if found.RenderText(&text) != nil || len(strings.Join(strings.Fields(text.String()), " ")) < leastArticle {
		return nil, found.Title()
	}
	return found.Node, found.Title()
}

// markdown is a part of a page as Markdown, its links whole addresses.
func markdown(n *html.Node, at *url.URL) (string, error) {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	text, err := c.ConvertNode(n, converter.WithDomain(at.Scheme+"://"+at.Host))
	if err != nil {
		return "", fmt.Errorf("it cannot be written as Markdown: %w", err)
	}
	return string(text), nil
}

// baseOf is what relative links of a page start from.
func baseOf(root *html.Node, address *url.URL) *url.URL {
	for n := range root.Descendants() {
		if n.DataAtom != atom.Base {
			continue
		}
		if u, err := address.Parse(attribute(n, "href")); err == nil && isWeb(u) {
			return u
		}
	}
	return address
}

// titleOf is the page's own title.
func titleOf(root *html.Node) string {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Title && n.FirstChild != nil {
			return n.FirstChild.Data
		}
	}
	return ""
}

// linksOf are the links to other addresses, each once, in their order.
func linksOf(root *html.Node, base *url.URL) []Link {
	var list []Link
	seen := map[string]bool{}
	for n := range root.Descendants() {
		if n.DataAtom != atom.A {
			continue
		}
		href := strings.TrimSpace(attribute(n, "href"))
		u, err := base.Parse(href)
		if href == "" || strings.HasPrefix(href, "#") || err != nil || !isWeb(u) {
			continue
		}
		u.Fragment = ""
		at := u.String()
		if seen[at] {
			continue
		}
		seen[at] = true
		list = append(list, Link{Text: cutRunes(words(n), 120), URL: at})
		if len(list) == maxLinks {
			break
		}
	}
	return list
}

func isWeb(u *url.URL) bool { return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" }

// words are the text of an element in one line, its picture's where it has none.
func words(n *html.Node) string {
	var b strings.Builder
	alt := ""
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data + " ")
		case c.DataAtom == atom.Img:
			alt = attribute(c, "alt")
		}
		if b.Len() > 1000 {
			break
		}
	}
	if text := strings.Join(strings.Fields(b.String()), " "); text != "" {
		return text
	}
	return strings.Join(strings.Fields(alt), " ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// prune takes out what is not for readers: what is hidden could say to a model
// what nobody sees.
func prune(root *html.Node) {
	var gone []*html.Node
	for n := range root.Descendants() {
		if unread(n) {
			gone = append(gone, n)
		}
	}
	for _, n := range gone {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

// unread reports whether nobody reads an element.
func unread(n *html.Node) bool {
	switch {
	case n.Type == html.CommentNode:
		return true
	case n.Type != html.ElementNode:
		return false
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Canvas, atom.Svg, atom.Head:
		return true
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && a.Val == "true":
			return true
		case a.Key == "style" && hides(a.Val):
			return true
		}
	}
	return false
}

// hides reports whether a style hides its element.
func hides(style string) bool {
	s := strings.ToLower(strings.ReplaceAll(style, " ", ""))
	return strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden") || strings.Contains(s, "font-size:0;") || strings.HasSuffix(s, "font-size:0")
}
