package markdown

// This file judges links and pictures: what a model writes is drawn by programs that
// fetch pictures and open links, and an address can carry data away or lead
// elsewhere than it looks.

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Bounds of what an address may carry and still be live: ids of documents, commits
// and messages are shorter, an encoded text is longer.
const (
	maxRun   = 48  // letters and digits in a row
	maxQuery = 200 // bytes behind the path
)

// Carries reports whether an address may carry data away, or leads into somebody's
// own network: it is shown, and not live.
func Carries(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return true
	}
	if u.Scheme == "mailto" {
		return len(u.RawQuery) > maxQuery
	}
	if u.User != nil || len(u.RawQuery)+len(u.Fragment) > maxQuery || within(u.Hostname()) {
		return true
	}
	for run := range strings.FieldsFuncSeq(strings.ToLower(u.EscapedPath()+"?"+u.RawQuery+"#"+u.EscapedFragment()+"."+u.Hostname()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("%+=_", r)
	}) {
		if _, value, is := strings.Cut(run, "="); is {
			run = value
		}
		if len(run) > maxRun {
			return true
		}
	}
	return false
}

// within reports whether a host is an address of a machine's or a company's own
// network, which a browser there would reach.
func within(host string) bool {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost")
	}
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified()
}

// Disguises reports whether a label looks like an address that the target is not.
func Disguises(target, label string) bool {
	label = strings.ToLower(strings.TrimSpace(label))
	if label == "" || label == strings.ToLower(target) {
		return false
	}
	u, err := url.Parse(target)
	if err != nil {
		return true
	}
	for word := range strings.FieldsSeq(label) {
		word = strings.Trim(word, "()[]<>\"'.,;:!?")
		shown, is := hostOf(word)
		if is && shown != strings.ToLower(u.Hostname()) && shown != "www."+strings.ToLower(u.Hostname()) && "www."+shown != strings.ToLower(u.Hostname()) {
			return true
		}
	}
	return false
}

// topLevels are ends of names that people take for an address when a scheme is
// missing; files' names end in others.
var topLevels = []string{".com", ".org", ".net", ".io", ".dev", ".app", ".edu", ".gov", ".de", ".eu", ".uk", ".fr", ".example"}

// hostOf is the host that a word looks like the address of.
func hostOf(word string) (host string, is bool) {
	if _, rest, scheme := strings.Cut(word, "://"); scheme {
		host, _, _ = strings.Cut(rest, "/")
		return host, host != ""
	}
	host, _, _ = strings.Cut(word, "/")
	if strings.ContainsAny(host, "@:") || !strings.Contains(host, ".") {
		return "", false
	}
	for _, end := range topLevels {
		if strings.HasSuffix(host, end) {
			return host, true
		}
	}
	return host, strings.HasPrefix(host, "www.")
}

// Plain reports whether a document holds nothing but links that may be live and say
// where they lead: no pictures, which readers fetch by themselves.
func Plain(document string) bool {
	src := []byte(document)
	w := writer{src: src}
	plain := true
	_ = ast.Walk(commonmark.Parser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) { // never fails
		switch n := n.(type) {
		case *ast.Image:
			plain = false
		case *ast.Link:
			plain = plain && !Carries(string(n.Destination)) && (!entering || !Disguises(string(n.Destination), w.plain(n)))
		case *ast.AutoLink:
			plain = plain && !Carries(string(n.URL(src)))
		case *ast.HTMLBlock, *ast.RawHTML:
			plain = plain && !strings.Contains(strings.ToLower(w.html(n)), "<img")
		}
		if !plain {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return plain
}

// html is the source of HTML within a document.
func (w writer) html(n ast.Node) string {
	var lines *text.Segments
	if raw, is := n.(*ast.RawHTML); is {
		lines = raw.Segments
	} else {
		lines = n.Lines()
	}
	var b strings.Builder
	for i := range lines.Len() {
		part := lines.At(i)
		b.Write(part.Value(w.src))
	}
	return b.String()
}

// link writes a link: live where it may be, with the host beside a label that looks
// like another address.
func (w writer) link(target, label string) string {
	switch {
	case Carries(target):
		return w.dead(target, label)
	case Disguises(target, label):
		host := target
		if u, err := url.Parse(target); err == nil && u.Host != "" {
			host = u.Host
		}
		return w.Text(label+" ") + w.Link(target, "("+host+")")
	}
	return w.Link(target, label)
}

// dead is an address as text: nobody opens it by a slip, and no program fetches it.
func (w writer) dead(target, label string) string {
	shown := Around("`", w.Code(strings.ReplaceAll(target, "`", "%60")))
	if label = strings.TrimSpace(label); label == "" || label == target {
		return shown
	}
	return w.Text(label+" (") + shown + w.Text(")")
}
