package pack

// Kind http: a request.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// Bounds of a request and its answer.
const (
	maxAnswer  = 2 << 20 // bytes
	attempts   = 4
	firstPause = 500 * time.Millisecond
	longest    = 30 * time.Second
)

// requesting runs tools of kind http.
type requesting struct {
	reach func(patience time.Duration, hosts ...string) (http.RoundTripper, error)
	env   func(string) string
}

func (q requesting) run(ctx context.Context, t tool, c agent.Call, args map[string]any) (agent.Result, error) {
	patience := t.d.Timeout
	if patience <= 0 {
		patience = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, secrets, err := q.request(t, args)
	if err != nil {
		return agent.Result{}, fmt.Errorf("%w. Nothing was sent", err)
	}
	port := r.url.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[r.url.Scheme]
	}
	transport, err := q.reach(patience, net.JoinHostPort(r.url.Hostname(), port))
	if err != nil {
		return agent.Result{}, err
	}
	client := &http.Client{Transport: transport, CheckRedirect: sameHost}
	defer client.CloseIdleConnections()
	hidden := func(s string) string { return s }
	if len(secrets) > 0 {
		hidden = strings.NewReplacer(secrets...).Replace
	}
	return t.exchange(ctx, client, r, c.Repeat == agent.RepeatRead || c.Repeat == agent.RepeatIdempotent, hidden)
}

var errRedirect = errors.New("it redirects to another host, which is not followed")

func sameHost(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; len(via) > 5 || r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return errRedirect
	}
	return nil
}

// request is what is sent.
type request struct {
	method string
	url    *url.URL
	header http.Header
	body   []byte
}

// errPath is said of a value that would lead to another path.
var errPath = errors.New("a value that stands in the path can be neither empty nor “.” nor “..”")

// request puts arguments and variables into their places. Secrets are pairs of a
// value and what is shown in its place.
func (q requesting) request(t tool, args map[string]any) (r request, secrets []string, err error) {
	h := t.d.HTTP
	secret := func(text string) string {
		return variable.ReplaceAllStringFunc(text, func(found string) string {
			v := q.env(found[2 : len(found)-1])
			if v == "" {
				err = fmt.Errorf("the variable %s is not set", found[2:len(found)-1])
			} else {
				secrets = append(secrets, v, "•••")
			}
			return v
		})
	}
	address, query, _ := strings.Cut(h.URL, "?")
	address = filled(address, args, func(v any) string {
		text := flat(v)
		if text == "" || text == "." || text == ".." {
			err = errPath
		}
		return url.PathEscape(text)
	})
	if query != "" {
		address += "?" + filled(query, args, func(v any) string { return url.QueryEscape(flat(v)) })
	}
	var e error
	if r.url, e = url.Parse(address); e != nil {
		return r, nil, e
	}
	r.method, r.header = h.Method, http.Header{"Accept": {"application/json, text/*;q=0.9, */*;q=0.5"}, "User-Agent": {"deckhand"}}
	values := r.url.Query()
	for _, name := range slices.Sorted(maps.Keys(h.Query)) {
		if x, given := shaped(h.Query[name], args); given {
			values.Set(name, secret(flat(x)))
		}
	}
	r.url.RawQuery = values.Encode()
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		r.header.Set(name, oneLine(filled(secret(h.Headers[name]), args, flat)))
	}
	if h.Body.Kind != 0 {
		e = t.body(&r, args)
	}
	return r, secrets, errors.Join(err, e)
}

// oneLine is a text as a header takes it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return ' '
		}
		return r
	}, s)
}

// body is the definition's value with arguments in their places; a text is sent as it is.
func (t tool) body(r *request, args map[string]any) error {
	raw, err := asJSON(&t.d.HTTP.Body)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	x, _ := shaped(v, args)
	kind := "application/json"
	if text, is := x.(string); is {
		r.body, kind = []byte(text), "text/plain; charset=utf-8"
	} else if r.body, err = format.JSON(x); err != nil {
		return err
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", kind)
	}
	return nil
}

// exchange makes the request, again where that is safe and the reason passes.
func (t tool) exchange(ctx context.Context, client *http.Client, r request, safe bool, hidden func(string) string) (agent.Result, error) {
	pauses := wait.Backoff{First: firstPause, Longest: longest}
	for attempt := 1; ; attempt++ {
		out, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), bytes.NewReader(r.body))
		if err != nil {
			return agent.Result{}, err
		}
		out.Header = r.header.Clone()
		resp, err := client.Do(out)
		again := safe && attempt < attempts && (err != nil || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500)
		if !again {
			if err != nil {
				return t.unanswered(err, safe, attempt, hidden)
			}
			return t.answer(resp, hidden)
		}
		if err == nil {
			_ = resp.Body.Close() // another one follows
		}
		if !wait.Sleep(ctx, pauses.Next()) {
			return agent.Result{}, fmt.Errorf("no answer within its time, tried %s", format.Count(attempt, "time"))
		}
	}
}

// unanswered is the result of a request that no answer came to.
func (t tool) unanswered(err error, safe bool, attempt int, hidden func(string) string) (agent.Result, error) {
	why := hidden(err.Error())
	var dial *net.OpError
	if safe || errors.Is(err, errRedirect) || errors.As(err, &dial) && dial.Op == "dial" {
		return agent.Result{}, fmt.Errorf("tried %s: %s", format.Count(attempt, "time"), why)
	}
	return agent.Result{State: agent.OutcomeUnknown, Trust: agent.Trusted,
		Text: fmt.Sprintf("error: %s: %s. Whether it was carried out is not known", t.d.Name, why)}, nil
}

// answer is what came back.
func (t tool) answer(resp *http.Response, hidden func(string) string) (agent.Result, error) {
	defer func() { _ = resp.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return agent.Result{}, fmt.Errorf("its answer broke off: %s", hidden(err.Error()))
	}
	cut := len(text) > maxAnswer
	if cut {
		text = text[:maxAnswer]
	}
	if !utf8.Valid(text) {
		text = []byte(fmt.Sprintf("(%d bytes of %s)", len(text), resp.Header.Get("Content-Type")))
	}
	r := agent.Result{State: agent.OutcomeOK, Trust: t.trust(), Text: hidden(string(text))}
	if resp.StatusCode >= 400 {
		r.State, r.Text = agent.OutcomeError, fmt.Sprintf("error: %s: the answer is %s\n%s", t.d.Name, resp.Status, format.Cut(r.Text, 4000))
		return r, nil
	}
	if t.d.HTTP.Pick != "" && !cut {
		if r.Text, err = pick(r.Text, t.d.HTTP.Pick); err != nil {
			return agent.Result{}, err
		}
	}
	if cut {
		r.Text += "\n(cut: the answer is longer)"
	}
	return r, nil
}

// pick is a part of a JSON value: keys with dots between them.
func pick(text, at string) (string, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("the answer is no JSON: %w", err)
	}
	for key := range strings.SplitSeq(at, ".") {
		m, is := v.(map[string]any)
		if !is {
			return "", fmt.Errorf("the answer has no %s: %s", at, format.Cut(text, 1000))
		}
		v = m[key]
	}
	return flat(v), nil
}
