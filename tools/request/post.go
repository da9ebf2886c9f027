package request

// The tool post_external: one text to the one place that the configuration names.
// Without one it says what it would post, and posts nothing.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/egress"
)

// Place is where post_external posts. Its zero value is a dry run.
type Place struct {
	URL         string
	Field       string // of the JSON object that holds the text
	Credentials Credentials
	Guard       *egress.Guard // reaches the place
}

// NewPost is post_external.
func NewPost(p Place) agent.Tool {
	t := post{place: p, hidden: newHider(map[string]Credentials{"": p.Credentials})}
	if p.URL != "" {
		t.client = p.Guard.Client()
		t.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return t
}

type post struct {
	place  Place
	client *http.Client
	hidden *strings.Replacer
}

// Spec describes post_external.
func (post) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "post_external",
		Description: "Posts a text outside of the chat, to the one place that is configured (a network, a blog, a webhook). Without one nothing is posted.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["text"],"properties":{
			"text":{"type":"string","minLength":1,"maxLength":10000,"description":"Exactly what is posted"}}}`),
		Class: agent.ClassSend, Repeat: agent.RepeatOnce, Open: true, Trust: agent.Untrusted, Deadline: MaxTime, Timeout: 2 * MaxTime,
		Example: json.RawMessage(`{"text":"Release 1.4 is out."}`),
	}
}

// host is where posts go, for people.
func (t post) host() string {
	u, err := url.Parse(t.place.URL)
	if err != nil {
		return "the configured place"
	}
	return u.Host
}

// text is what a call posts.
func text(c agent.Call) (string, error) {
	var a struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return "", fmt.Errorf("post_external: the arguments do not fit: %w", err)
	}
	if strings.TrimSpace(a.Text) == "" {
		return "", errors.New("post_external: the text is empty")
	}
	return a.Text, nil
}

// Prepare shows the text.
func (t post) Prepare(_ context.Context, c agent.Call) (agent.Prepared, error) {
	s, err := text(c)
	if err != nil {
		return agent.Prepared{}, err
	}
	p := agent.Prepared{Preview: "A dry run, as tools.post_external.url is not set. It would post:\n\n"}
	if t.place.URL != "" {
		p.Preview, p.Hosts = fmt.Sprintf("Posts to `%s`:\n\n", t.host()), []string{strings.Split(t.host(), ":")[0]}
	}
	for line := range strings.SplitSeq(format.Visible(s), "\n") {
		p.Preview += "> " + line + "\n"
	}
	return p, nil
}

// Run posts the text.
func (t post) Run(ctx context.Context, c agent.Call) agent.Result {
	s, err := text(c)
	if err != nil {
		return agent.Failed(err.Error())
	}
	if t.place.URL == "" {
		return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted,
			Text: "dry run: nothing was posted, as tools.post_external.url is not set. It would have posted:\n" + s}
	}
	body, err := json.Marshal(map[string]string{t.place.Field: s})
	if err != nil {
		return agent.Failed("post_external: the text cannot be written: " + err.Error())
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.place.URL, bytes.NewReader(body))
	if err != nil {
		return agent.Failed("post_external: " + err.Error())
	}
	r.Header.Set("Content-Type", "application/json")
	t.place.Credentials.fill(r)
	resp, err := t.client.Do(r)
	if err != nil {
		return t.broken(err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
	if err != nil {
		said = nil // what counts is the status
	}
	words := t.hidden.Replace(strings.TrimSpace(strings.ToValidUTF8(string(said), "�")))
	if resp.StatusCode >= http.StatusMultipleChoices {
		return agent.Result{State: agent.OutcomeError, Trust: agent.Untrusted,
			Text: fmt.Sprintf("error: post_external: %s answers %d %s, and nothing was posted. It says: %s", t.host(), resp.StatusCode, http.StatusText(resp.StatusCode), words)}
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Text: fmt.Sprintf("posted to %s (%d). It says: %s", t.host(), resp.StatusCode, words)}
}

// broken is the result of a post without an answer.
func (t post) broken(err error) agent.Result {
	why := fmt.Sprintf("post_external: %s: %s", t.host(), t.hidden.Replace(err.Error()))
	if errors.Is(err, egress.ErrRefused) || neverSent(err) {
		return agent.Failed(why + ". Nothing was posted")
	}
	return agent.Result{State: agent.OutcomeUnknown, Trust: agent.Trusted, Text: "error: " + why + ". Whether it was posted is not known"}
}
