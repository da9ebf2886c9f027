package page

// This file says what a document is read into, and which way of reading fits it.

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Document is what was read.
type Document struct {
	Title string `json:"title,omitempty"`
	// Kind is its media type, as it was found out.
	Kind string `json:"kind"`
	// Text is Markdown for pages, and the text itself for texts and PDF documents.
	Text string `json:"text"`
	// Links are those of a page, whole addresses, each once, in their order.
	Links []Link `json:"links,omitempty"`
	// Notes say in words what of the document is not in Text.
	Notes []string `json:"notes,omitempty"`
}

// Link is a link of a page.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// ErrNoText is wrapped where a document has no text that could be read.
var ErrNoText = errors.New("it has no text that can be read")

// Bounds of a document.
const (
	maxText  = 1 << 20 // bytes of text that are kept
	maxLinks = 200
	maxTitle = 300 // characters
)

// Read reads a document: its bytes, the media type that its sender names (with or
// without a charset, or empty) and its address, which relative links start from.
// It trusts its input for nothing but memory and time: see Reader.
func Read(data []byte, contentType, address string) (Document, error) {
	base, err := url.Parse(address)
	if err != nil {
		return Document{}, fmt.Errorf("%q is no address: %w", address, err)
	}
	kind := kindOf(data, contentType)
	var d Document
	switch {
	case kind == "application/pdf":
		d, err = readPDF(data)
	case kind == "text/html" || kind == "application/xhtml+xml":
		d, err = readHTML(data, contentType, base)
	case textual(kind):
		d, err = readText(data, contentType)
	default:
		return Document{Kind: kind}, fmt.Errorf("%w: it is %s", ErrNoText, kind)
	}
	d.Kind = kind
	if err != nil {
		return d, err
	}
	d.Title = cutRunes(strings.Join(strings.Fields(d.Title), " "), maxTitle)
	if len(d.Text) > maxText {
		d.Notes = append(d.Notes, fmt.Sprintf("the text has %d bytes: the first %d are kept", len(d.Text), maxText))
		d.Text = strings.ToValidUTF8(d.Text[:maxText], "")
	}
	d.Text = strings.TrimSpace(d.Text)
	if d.Text == "" && len(d.Links) == 0 {
		return d, ErrNoText
	}
	return d, nil
}

// kindOf is the media type: what the sender says, unless the bytes are plainly
// something else or the sender says nothing.
func kindOf(data []byte, contentType string) string {
	said, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		said, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		said = strings.TrimSpace(said)
	}
	if bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 1024)], " \t\r\n"), []byte("%PDF-")) {
		return "application/pdf"
	}
	found, _, _ := mime.ParseMediaType(http.DetectContentType(data)) // what it returns parses
	switch {
	case said == "" || said == "application/octet-stream" || said == "text/plain" && found != "text/plain" && !textual(found):
		return found
	case said == "text/plain" && found == "text/html" && looksLikePage(data):
		return found
	case (textual(said) || strings.HasSuffix(said, "html")) && !textual(found) && found != "application/octet-stream":
		return found // a picture or an archive under a text's name
	}
	return said
}

// looksLikePage reports whether a text begins as a whole page does.
func looksLikePage(data []byte) bool {
	start := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 512)]))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// textual reports whether a media type is a text.
func textual(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") {
		return kind != "image/svg+xml"
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/jsonl", "application/sql", "application/x-sh",
		"application/x-www-form-urlencoded", "application/graphql":
		return true
	}
	return false
}

// cutRunes is the beginning of a text.
func cutRunes(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
