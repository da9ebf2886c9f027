package request

// The tool http_request.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/egress"
)

// Config is what http_request needs.
type Config struct {
	// Guard reaches the hosts that are listed, and no others.
	Guard *egress.Guard
	// Credentials are what the model names.
	Credentials map[string]Credentials
	// Save keeps an answer that is no text in a run's folder.
	Save    func(folder, name string, data []byte) (path string, err error)
	Version string
}

// Credentials go into requests to their hosts.
type Credentials struct {
	Guard  *egress.Guard // knows their hosts
	Bearer string
	Basic  string // user:password
	Header map[string]string
}

// Bounds of a request.
const (
	maxBody    = 1 << 20 // bytes
	maxPreview = 4000    // characters of a body that a person sees
	// MaxTime is how long one exchange may take.
	MaxTime = time.Minute
)

// New is http_request.
func New(c Config) agent.Tool {
	client := c.Guard.Client()
	// a redirect could carry credentials elsewhere: it is told instead
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return tool{c, client, newHider(c.Credentials)}
}

type tool struct {
	c      Config
	client *http.Client
	hidden *strings.Replacer
}

// methods are those that can be asked for; the first two change nothing.
const methods = `"GET","HEAD","POST","PUT","PATCH","DELETE","OPTIONS"`

// Spec describes http_request. It counts as a read until a call's method is known.
func (tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "http_request",
		Description: "Sends an HTTP request to a host that is allowed and returns status, headers and body. " +
			"Any method but GET and HEAD counts as a send. Tokens are named by credentials, never written.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["url"],"properties":{
			"method":{"type":"string","enum":[` + methods + `],"description":"Default GET"},
			"url":{"type":"string","minLength":1,"maxLength":8000,"description":"Whole address, https://…"},
			"query":{"type":"object","description":"Parameters that are added to the address","additionalProperties":{"type":["string","number","boolean"]}},
			"headers":{"type":"object","additionalProperties":{"type":"string","maxLength":4000}},
			"body":{"description":"A text as it is, anything else as JSON"},
			"credentials":{"type":"string","description":"Name of credentials in the configuration"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatOnce, Open: true, Trust: agent.Untrusted,
		Timeout: 4 * MaxTime, Deadline: MaxTime,
		Example: json.RawMessage(`{"method":"POST","url":"https://api.example.com/v1/notes","body":{"text":"hello"},"credentials":"notes"}`),
	}
}

// arguments are those of a call.
type arguments struct {
	Method      string            `json:"method"`
	URL         string            `json:"url"`
	Query       map[string]any    `json:"query"`
	Headers     map[string]string `json:"headers"`
	Body        json.RawMessage   `json:"body"`
	Credentials string            `json:"credentials"`
}

// safe reports whether a method changes nothing (RFC 9110).
func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// Prepare says what would be sent, and that it is a send where it is one.
func (t tool) Prepare(_ context.Context, c agent.Call) (agent.Prepared, error) {
	r, err := t.build(c)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("http_request: %w. Nothing was sent", err)
	}
	p := agent.Prepared{Hosts: []string{r.url.Hostname()}, Repeat: agent.RepeatRead}
	if safe(r.method) {
		return p, nil
	}
	p.Class, p.Repeat = agent.ClassSend, agent.RepeatOnce
	text := fmt.Sprintf("Sends:\n\n```http\n%s %s", r.method, r.url)
	if r.credentials != "" {
		text += "\n(with the credentials " + r.credentials + ")"
	}
	if len(r.body) > 0 {
		text += "\n\n" + format.Cut(strings.ToValidUTF8(string(r.body), "�"), maxPreview)
	}
	p.Preview = format.Visible(strings.ReplaceAll(text, "\n```", "\n'''")) + "\n```"
	p.Preview = strings.Replace(p.Preview, "\n'''http", "\n```http", 1)
	return p, nil
}

// Run sends the request.
func (t tool) Run(ctx context.Context, c agent.Call) agent.Result {
	r, err := t.build(c)
	if err != nil {
		return agent.Failed("http_request: " + err.Error() + ". Nothing was sent")
	}
	out, err := r.request(ctx, t.c)
	if err != nil {
		return agent.Failed("http_request: " + err.Error() + ". Nothing was sent")
	}
	resp, err := t.send(ctx, out)
	if err != nil {
		return t.broken(r, err)
	}
	defer func() { _ = resp.Body.Close() }()
	return t.answer(c, r, resp)
}

// send sends a request; what changes nothing is sent again where that may help.
func (t tool) send(ctx context.Context, out *http.Request) (*http.Response, error) {
	if safe(out.Method) {
		return egress.Repeat(ctx, t.client, out)
	}
	return t.client.Do(out)
}

// broken is the result of a request that has no answer.
func (t tool) broken(r prepared, err error) agent.Result {
	if u, is := errors.AsType[*url.Error](err); is {
		err = u.Err
	}
	text := fmt.Sprintf("http_request: %s %s: %s", r.method, r.url.Host, t.hide(err.Error()))
	switch {
	case errors.Is(err, egress.ErrRefused):
		return agent.Failed(text + ". tools.http.hosts lists what may be reached")
	case safe(r.method) || neverSent(err):
		return agent.Failed(text)
	}
	return agent.Result{State: agent.OutcomeUnknown, Trust: agent.Trusted, Text: "error: " + text + ". Whether it was carried out is not known"}
}

func (t tool) hide(text string) string { return t.hidden.Replace(text) }

// newHider takes secrets out of texts.
func newHider(all map[string]Credentials) *strings.Replacer {
	var pairs []string
	hide := func(s string) {
		if len(s) >= 4 {
			pairs = append(pairs, s, "[secret]")
		}
	}
	for _, c := range all {
		hide(c.Bearer)
		if _, password, is := strings.Cut(c.Basic, ":"); is {
			hide(password)
		}
		for _, v := range c.Header {
			hide(v)
		}
	}
	return strings.NewReplacer(pairs...)
}
