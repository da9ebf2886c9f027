package web

// The tool browse_website.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/page"
)

// What a result shows: texts up to wholeText stay whole, of longer ones the
// passages that a question is about; and so many links.
const (
	wholeText  = 12_000  // bytes
	shownText  = 8_000   // bytes
	shownLinks = 40      // links
	longest    = 512_000 // bytes of a text that nobody asks something about
)

type browse struct {
	c      Config
	client *http.Client
}

// Spec describes browse_website.
func (browse) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "browse_website",
		Description: "Reads a page or document of the web (HTML, PDF, text, JSON) and returns it as Markdown with its links. " +
			"With a question, a long text is shortened to the passages that are about it.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["url"],"properties":{
			"url":{"type":"string","minLength":1,"maxLength":4000,"description":"Whole address, https://…"},
			"question":{"type":"string","maxLength":2000,"description":"What the page is read for"},
			"render":{"type":"boolean","description":"Let a headless browser run the page's scripts first; only for pages that are empty without"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead, Open: true, Trust: agent.Untrusted,
		Timeout: fetchTime + readTime + renderTime,
		Example: json.RawMessage(`{"url":"https://go.dev/doc/effective_go","question":"How are goroutines ended?"}`),
	}
}

// asked are the arguments.
type asked struct {
	URL      string `json:"url"`
	Question string `json:"question"`
	Render   bool   `json:"render"`
}

// Run fetches the address and reads what is there.
func (b browse) Run(ctx context.Context, c agent.Call) agent.Result {
	r, err := b.run(ctx, c)
	if err != nil {
		return agent.Failed("browse_website: " + err.Error())
	}
	r.Trust = agent.Untrusted
	return r
}

func (b browse) run(ctx context.Context, c agent.Call) (agent.Result, error) {
	var a asked
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return agent.Result{}, fmt.Errorf("the arguments do not fit: %w", err)
	}
	u, err := wholeAddress(a.URL)
	if err != nil {
		return agent.Result{}, err
	}
	var f fetched
	if a.Render {
		f, err = b.render(ctx, u)
	} else {
		f, err = b.fetch(ctx, u)
	}
	if err != nil {
		return agent.Result{}, err
	}
	d, err := b.c.Reader.Read(ctx, f.data, f.kind, f.url.String())
	if f.status >= http.StatusBadRequest {
		return failed(f, d), nil
	}
	if errors.Is(err, page.ErrNoText) && len(f.data) > 0 && !f.cut && !strings.HasSuffix(d.Kind, "html") && b.c.Save != nil {
		return b.keep(c, f, d, err)
	}
	if err != nil {
		return agent.Result{}, fmt.Errorf("%s cannot be read: %w", f.url, err)
	}
	if f.cut {
		d.Notes = append(d.Notes, fmt.Sprintf("it is longer than what was read (%s)", format.Count(len(f.data), "byte")))
	}
	return agent.Result{State: agent.OutcomeOK, Text: told(f, d, a.Question)}, nil
}

// told is a document as the model reads it.
func told(f fetched, d page.Document, question string) string {
	var b strings.Builder
	if d.Title != "" {
		fmt.Fprintf(&b, "# %s\n", format.Visible(d.Title))
	}
	fmt.Fprintf(&b, "%s (%s, %s of text)\n", f.url, d.Kind, format.Count(len(d.Text), "byte"))
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "[%s]\n", n)
	}
	text := format.Visible(d.Text)
	question = strings.TrimSpace(question)
	switch {
	case question != "" && len(text) > wholeText:
		parts := passages(text, question, shownText)
		fmt.Fprintf(&b, "[the passages that are nearest to the question, in their order; without a question you get the whole text]\n\n%s\n", parts)
	case len(text) > longest:
		fmt.Fprintf(&b, "\n%s\n[… the text goes on: ask a question about it …]\n", strings.ToValidUTF8(text[:longest], ""))
	default:
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	if len(d.Links) > 0 {
		b.WriteString("\nLinks:\n")
	}
	for i, l := range d.Links[:min(len(d.Links), shownLinks)] {
		fmt.Fprintf(&b, "%d. %s <%s>\n", i+1, format.Visible(l.Text), l.URL)
	}
	if more := len(d.Links) - shownLinks; more > 0 {
		fmt.Fprintf(&b, "(%d more)\n", more)
	}
	return strings.TrimRight(b.String(), "\n")
}

// failed is the result of an answer that is an error.
func failed(f fetched, d page.Document) agent.Result {
	advice := "Look whether the address is right, or use another source."
	switch {
	case f.status == http.StatusUnauthorized || f.status == http.StatusForbidden:
		advice = "It is not open to everybody, or not to programs: use another source."
	case f.status == http.StatusTooManyRequests || f.status >= http.StatusInternalServerError:
		advice = "It was tried three times: use another source, or try later."
	}
	text := fmt.Sprintf("error: %s answers %d %s. %s", f.url, f.status, http.StatusText(f.status), advice)
	if said := strings.TrimSpace(d.Text); said != "" {
		text += "\nIt says: " + format.Visible(format.Cut(said, 1000))
	}
	return agent.Result{State: agent.OutcomeError, Text: text}
}

// keep keeps what has no text as a file of the run.
func (b browse) keep(c agent.Call, f fetched, d page.Document, why error) (agent.Result, error) {
	p, err := b.c.Save(c.Folder, fileName(f.url, d.Kind, f.data), f.data)
	if err != nil {
		return agent.Result{}, fmt.Errorf("%s: %w, and it cannot be kept: %w", f.url, why, err)
	}
	return agent.Result{State: agent.OutcomeOK, Files: []string{p},
		Text: fmt.Sprintf("%s is %s, %s: %s. It was saved as %s", f.url, d.Kind, format.Count(len(f.data), "byte"), why, p)}, nil
}

// fileName names a file after its address and its content.
func fileName(u *url.URL, kind string, data []byte) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, path.Base(u.Path))
	ending := path.Ext(name)
	name = strings.Trim(strings.TrimSuffix(name, ending), "._-")
	if list, err := mime.ExtensionsByType(kind); ending == "" && err == nil && len(list) > 0 {
		ending = list[0]
	}
	if name == "" {
		name = "file"
	}
	sum := sha256.Sum256(data)
	return name[:min(len(name), 60)] + "-" + hex.EncodeToString(sum[:4]) + ending[:min(len(ending), 12)]
}
