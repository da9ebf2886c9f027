package request

// This file is what came back: status, the headers that matter, and the body as
// text, or as a file of the run where it is none.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/page"
)

// told are the headers of an answer that a model is told.
var told = []string{"Content-Type", "Location", "Link", "Etag", "Last-Modified", "Retry-After", "X-Total-Count", "X-Ratelimit-Remaining"}

// maxFailure is how much of an error's body a model is told, in characters.
const maxFailure = 4000

// answer is the result of an answered request.
func (t tool) answer(c agent.Call, r prepared, resp *http.Response) agent.Result {
	var head strings.Builder
	fmt.Fprintf(&head, "HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	for _, name := range told {
		if v := resp.Header.Get(name); v != "" {
			fmt.Fprintf(&head, "\n%s: %s", name, format.Visible(format.Line(v, 500)))
		}
	}
	data, err := io.ReadAll(resp.Body)
	note := ""
	switch {
	case errors.Is(err, egress.ErrTooLong):
		note = fmt.Sprintf("\n[the answer is longer than what was read (%d bytes): ask for less]", len(data))
	case err != nil:
		note = "\n[the answer broke off here]"
	}
	result := agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted}
	text, err := page.Text(data, resp.Header.Get("Content-Type"))
	if resp.StatusCode >= http.StatusMultipleChoices {
		result.State = agent.OutcomeError
		result.Text = t.hide(fmt.Sprintf("error: %s\n%s\n\n%s", advice(r, resp.StatusCode), head.String(), format.Cut(text, maxFailure)))
		return result
	}
	if err != nil && t.c.Save != nil {
		p, kept := t.c.Save(c.Folder, fileOf(r, c), data)
		if kept != nil {
			return agent.Failed(fmt.Sprintf("http_request: the answer is no text, and cannot be kept: %v", kept))
		}
		result.Files, text = []string{p}, fmt.Sprintf("[%s, no text: saved as %s]", format.Count(len(data), "byte"), p)
	}
	result.Text = t.hide(strings.TrimRight(head.String()+"\n\n"+text+note, "\n"))
	return result
}

// fileOf names the file of an answer.
func fileOf(r prepared, c agent.Call) string {
	name := strings.Map(func(c rune) rune {
		if c == '.' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, string(c.Effect)+"-"+path.Base(r.url.Path))
	return strings.TrimLeft(name[max(0, len(name)-80):], ".")
}

// advice says what to change.
func advice(r prepared, code int) string {
	switch {
	case code < http.StatusBadRequest:
		return "It leads elsewhere, which is not followed: ask for the address under Location, if it is the right one."
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		if r.credentials == "" {
			return "It wants credentials: name them, if there are some."
		}
		return "It does not take the credentials " + r.credentials + " for this: a person has to look at them."
	case code == http.StatusTooManyRequests:
		return "It limits its calls: call later, or ask for more at once."
	case code < http.StatusInternalServerError:
		return "Change the request as the answer says."
	}
	return "The fault is the service's: use another way, or try later."
}
