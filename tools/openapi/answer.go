package openapi

// This file is what came back: text for the model, a file of the run where it is
// none, and for a failure what to change.

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Bounds of an answer.
const (
	maxFile    = 16 << 20 // bytes of a file
	maxFailure = 4000     // characters of an error's body
	maxDiscard = 64 << 10 // bytes read of an answer that nobody wants
)

// discard ends an answer that is not wanted.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxDiscard) // so that the connection is used again
	_ = resp.Body.Close()
}

// answer is the result of an answered request.
func (t tool) answer(o *operation, c agent.Call, resp *http.Response, attempt int) agent.Result {
	defer func() { _ = resp.Body.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFile+1))
	if err != nil && len(data) == 0 {
		data = []byte("[the answer broke off: " + err.Error() + "]")
	}
	kind, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode >= 300 {
		return t.failed(o, resp, readable(data, params["charset"]), attempt)
	}
	r := agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted}
	text := readable(data, params["charset"])
	switch {
	case len(data) == 0:
		r.Text = fmt.Sprintf("(%s, no content)", status(resp))
	case len(data) > maxFile:
		r.Text = fmt.Sprintf("error: the answer has more than %d MiB; ask for less, with a filter or a smaller page", maxFile>>20)
		r.State = agent.OutcomeError
	case binary(kind) || !utf8.ValidString(text):
		r = t.file(c, kind, data)
	default:
		r.Text = t.hide(text)
	}
	if len(r.Text) > bounds.Result {
		r.Text = strings.ToValidUTF8(r.Text[:bounds.Result], "") + fmt.Sprintf("\n[… %d bytes more are not kept: ask for less …]", len(r.Text)-bounds.Result)
	}
	if err != nil {
		r.Text += "\n[the answer broke off here]"
	}
	return r
}

func status(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// binary reports whether a kind is none that people read.
func binary(kind string) bool {
	for _, p := range []string{"image/", "audio/", "video/", "font/"} {
		if strings.HasPrefix(kind, p) && kind != "image/svg+xml" {
			return true
		}
	}
	return kind == "application/pdf" || kind == "application/zip" || kind == "application/octet-stream" || kind == "application/gzip"
}

// readable is a text in UTF-8.
func readable(data []byte, charset string) string {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "windows-1252", "us-ascii":
		if utf8.Valid(data) {
			return string(data)
		}
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		return string(runes)
	}
	return string(data)
}

// failed says what went wrong and what to change.
func (t tool) failed(o *operation, resp *http.Response, text string, attempt int) agent.Result {
	var advice string
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		advice = fmt.Sprintf("The service does not accept the credentials of openapi.%s for this; other arguments may be allowed. A person has to mend the credentials.", t.source.c.Name)
	case code == http.StatusNotFound || code == http.StatusGone:
		advice = "There is no such thing there: check the ids in the arguments."
	case code == http.StatusTooManyRequests:
		advice = "The service limits its calls: call later, or ask for more at once."
	case code == http.StatusConflict || code == http.StatusPreconditionFailed:
		advice = "What it is about is in another state: look at it first."
	case code < 400:
		advice = "It leads elsewhere, which is not followed."
	case code < 500:
		advice = "Change the arguments as the answer says; the documentation of the operation tells which there are."
	default:
		advice = "The fault is the service's. Use another way, or try later."
	}
	tried := ""
	if attempt > 1 {
		tried = fmt.Sprintf(", tried %d times", attempt)
	}
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "�")); text != "" {
		text = "\n" + format.Cut(t.hide(text), maxFailure)
	}
	return agent.Result{State: agent.OutcomeError, Trust: agent.Untrusted,
		Text: fmt.Sprintf("error: %s: %s%s. %s%s", o.name, status(resp), tried, advice, text)}
}

// endings are those of files that people open.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "audio/mpeg": ".mp3", "audio/wav": ".wav",
}

// file keeps an answer in the run's folder.
func (t tool) file(c agent.Call, kind string, data []byte) agent.Result {
	r := agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted}
	if t.source.c.Save == nil {
		r.Text = fmt.Sprintf("[a file, %s, %d bytes, is not kept]", kind, len(data))
		return r
	}
	end, known := endings[kind]
	if !known {
		end = ".bin"
	}
	name := plain(t.source.c.Name) + "-" + plain(t.op.name) + "-" + plain(string(c.Run)) + "-" + plain(string(c.Effect)) + end
	path, err := t.source.c.Save(c.Folder, name, data)
	if err != nil {
		return agent.Failed(fmt.Sprintf("%s answered a file that could not be kept: %v", t.op.name, err))
	}
	r.Text, r.Files = fmt.Sprintf("[a file, %s, %d bytes: %s]", kind, len(data), path), []string{path}
	return r
}

// plain is a text that may stand in a file's name.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, format.Cut(s, 60))
}

// shortestSecret is the shortest value that is looked for in answers.
const shortestSecret = 6

// hiding replaces secrets, and the forms in which a service may repeat them; nil:
// there are none.
func hiding(c Config) *strings.Replacer {
	var pairs []string
	for _, s := range c.Secrets {
		if len(s) >= shortestSecret {
			pairs = append(pairs, s, "[secret]", url.QueryEscape(s), "[secret]")
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}
