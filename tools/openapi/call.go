package openapi

// This file makes one call: its arguments are held against the document as it is
// now, the request is sent, and it is tried again where that is safe.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/tools"
)

const userAgent = "deckhand"

// How often, and after which pauses, a call is tried again.
const (
	attempts    = 4
	firstPause  = 500 * time.Millisecond
	longest     = 30 * time.Second
	intentGrace = 5 * time.Second
)

// tool is one operation as it was listed.
type tool struct {
	source *Source
	op     *operation
}

// Spec describes the operation. Each is a send until the configuration says
// otherwise: a document's word for its own harmlessness does not count.
func (t tool) Spec() agent.ToolSpec {
	about := t.op.about
	if t.op.deprecated {
		about = "Deprecated. " + about
	}
	return agent.ToolSpec{
		Name: t.op.name, Description: strings.TrimSpace(about + " (" + t.op.method + " " + t.op.path + ")"), Parameters: t.op.schema(),
		Class: agent.ClassSend, Repeat: agent.RepeatOnce,
		Timeout: t.source.c.Timeout, Deadline: t.source.c.Timeout + intentGrace,
	}
}

// Documentation is all that the document says of the operation, as it is now.
func (t tool) Documentation(ctx context.Context) string {
	o, err := t.now(ctx)
	if err != nil {
		return ""
	}
	return o.documentation()
}

// errGone is said of an operation that the document has no more.
var errGone = errors.New("the document has no such operation any more")

// now is the operation as the document has it now.
func (t tool) now(ctx context.Context) (*operation, error) {
	d, err := t.source.fresh(ctx, freshWait)
	if err != nil {
		return nil, err
	}
	o, is := d.byName[t.op.name]
	if !is {
		if near := format.Nearest(t.op.name, names(d), 5); near != "" {
			return nil, fmt.Errorf("%w: did you mean %q?", errGone, near)
		}
		return nil, errGone
	}
	return o, nil
}

func names(d *document) []string {
	list := make([]string, len(d.operations))
	for i, o := range d.operations {
		list[i] = o.name
	}
	return list
}

// ready is the call's operation as it is now and its request. Where the document
// changed since the arguments were checked, they are checked again.
func (t tool) ready(ctx context.Context, c agent.Call) (*operation, *request, error) {
	o, err := t.now(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("%w. Nothing was sent", err)
	}
	if o != t.op && !bytes.Equal(o.schema(), t.op.schema()) {
		box, err := tools.New(tool{t.source, o})
		if err == nil {
			err = box.Check(o.name, c.Arguments)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the document changed: %w. Nothing was sent. Its documentation now:\n%s", err, o.documentation())
		}
	}
	r, err := o.build(c.Arguments)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w. Nothing was sent", o.name, err)
	}
	return o, r, nil
}

// Prepare shows a person what would be sent.
func (t tool) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	_, r, err := t.ready(ctx, c)
	if err != nil {
		return agent.Prepared{}, err
	}
	text := fmt.Sprintf("Sends to `%s`:\n\n```http\n%s %s", t.source.c.Name, r.method, r.url.String())
	if len(r.body) > 0 {
		text += "\n" + r.kind + "\n\n" + format.Cut(strings.ToValidUTF8(string(r.body), "�"), maxPreview)
	}
	return agent.Prepared{Preview: format.Visible(strings.ReplaceAll(text, "\n````", "\n```")) + "\n```"}, nil
}

// maxPreview is how much of a body a person sees, in characters.
const maxPreview = 4000

// Run sends the request.
func (t tool) Run(ctx context.Context, c agent.Call) agent.Result {
	o, r, err := t.ready(ctx, c)
	if err != nil {
		return agent.Failed(err.Error())
	}
	safe := repeatable(c.Repeat)
	pauses := wait.Backoff{First: firstPause, Longest: longest}
	for attempt := 1; ; attempt++ {
		resp, err := t.send(ctx, r)
		var pause time.Duration
		switch {
		case err != nil && !safe && !neverSent(err):
			return t.broken(o, err)
		case err != nil:
			pause = pauses.Next()
		case safe && passing(resp.StatusCode):
			pause = max(pauses.Next(), retryAfter(resp.Header))
		default:
			return t.answer(o, c, resp, attempt)
		}
		if attempt == attempts || pause > longest || !wait.Sleep(ctx, pause) {
			if err != nil {
				return agent.Failed(fmt.Sprintf("%s: %s, tried %s: %s", o.name, t.source.c.Name, format.Count(attempt, "time"), t.hide(err.Error())))
			}
			return t.answer(o, c, resp, attempt)
		}
		if err == nil {
			discard(resp)
		}
	}
}

// repeatable reports whether a request may be made again that may have arrived.
func repeatable(r agent.Repeat) bool {
	return r == agent.RepeatRead || r == agent.RepeatIdempotent
}

// send makes the request once, with its credentials.
func (t tool) send(ctx context.Context, r *request) (*http.Response, error) {
	u := *r.url
	cred := t.source.c.Credentials
	if len(cred.Query) > 0 {
		q := u.Query()
		for name, v := range cred.Query {
			q.Set(name, v)
		}
		u.RawQuery = q.Encode()
	}
	out, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	out.Header = r.header.Clone()
	out.Header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.5")
	out.Header.Set("User-Agent", userAgent)
	if len(r.body) > 0 {
		out.Header.Set("Content-Type", r.kind)
	}
	for _, c := range r.cookies {
		out.AddCookie(c)
	}
	for name, v := range cred.Cookie {
		out.AddCookie(cookie(name, v))
	}
	for name, v := range cred.Header {
		out.Header.Set(name, v)
	}
	if cred.Bearer != "" {
		out.Header.Set("Authorization", "Bearer "+cred.Bearer)
	}
	if user, password, is := strings.Cut(cred.Basic, ":"); is {
		out.SetBasicAuth(user, password)
	}
	return r.client.Do(out)
}

// neverSent reports whether no byte of the request left.
func neverSent(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// passing reports whether an answer is a reason to try again later.
func passing(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInternalServerError:
		return true
	}
	return false
}

// retryAfter is how long the service asks to wait, 0: it does not say.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 && seconds < 1<<20 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// broken is the result of a request without an answer that may have been carried
// out.
func (t tool) broken(o *operation, err error) agent.Result {
	why := t.hide(err.Error())
	if errors.Is(err, errRedirect) {
		return agent.Failed(fmt.Sprintf("%s: %s. Set openapi.%s.server to the right address", o.name, why, t.source.c.Name))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		why = fmt.Sprintf("no answer within %s", t.source.c.Timeout)
	}
	return agent.Result{State: agent.OutcomeUnknown, Trust: agent.Trusted,
		Text: fmt.Sprintf("error: %s: %s. Whether %s carried it out is not known", o.name, why, t.source.c.Name)}
}

// hide is a text without secrets.
func (t tool) hide(text string) string {
	if t.source.hidden == nil {
		return text
	}
	return t.source.hidden.Replace(text)
}
