package page

// This file reads PDF documents: the text of their pages, in the order in which it
// is written there.

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// maxPages is how many pages of a document are read.
const maxPages = 500

// readPDF reads a PDF document. The library breaks off with a panic where a
// document is damaged: that is an error here.
func readPDF(data []byte) (d Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this PDF document is damaged: %v", p)
		}
	}()
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return d, fmt.Errorf("this PDF document cannot be opened: %w", err)
	}
	d.Title = r.Trailer().Key("Info").Key("Title").Text()
	pages := r.NumPage()
	var b strings.Builder
	var unread []string
	for i := 1; i <= min(pages, maxPages) && b.Len() <= maxText; i++ {
		text, err := pageText(r, i)
		if err != nil {
			unread = append(unread, strconv.Itoa(i))
			continue
		}
		fmt.Fprintf(&b, "[page %d]\n%s\n\n", i, strings.TrimSpace(text))
	}
	if pages > maxPages {
		d.Notes = append(d.Notes, fmt.Sprintf("it has %d pages: the first %d were read", pages, maxPages))
	}
	if len(unread) > 0 {
		d.Notes = append(d.Notes, "these pages cannot be read: "+strings.Join(unread[:min(len(unread), 20)], ", "))
	}
	d.Text = b.String()
	if !hasWords(d.Text, pages) {
		return d, fmt.Errorf("%w: its %d pages are pictures, or were made without letters", ErrNoText, pages)
	}
	return d, nil
}

// pageText is the text of one page.
func pageText(r *pdf.Reader, number int) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("page %d: %v", number, p)
		}
	}()
	p := r.Page(number)
	if p.V.IsNull() {
		return "", fmt.Errorf("there is no page %d", number)
	}
	text, err = p.GetPlainText(nil)
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", ""), err
}

// hasWords reports whether there is more than the numbers of pages.
func hasWords(text string, pages int) bool {
	return utf8.RuneCountInString(strings.Join(strings.Fields(text), "")) > pages*len("[page999]")
}
