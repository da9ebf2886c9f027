package openai

// One try: a POST, and the reply in whichever form it comes.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

const (
	// maxEscape is how many bytes of JSON a byte of an answer takes at most.
	maxEscape = 6
	// maxAround bounds what stands around an answer in its JSON, in bytes.
	maxAround = 256 << 10
	// wholeTimes is how many times longer than the wait for a piece a whole
	// answer may take.
	wholeTimes = 10
	// maxRefused bounds what is read of an error's body, in bytes.
	maxRefused = 64 << 10
)

// What can go wrong in one try besides an HTTP error.
var (
	errSlow  = errors.New("no answer in time")
	errCut   = errors.New("the answer broke off")
	errPage  = errors.New("a web page instead of an answer")
	errNoUse = errors.New("an answer that is not a chat completion")
	errLong  = errors.New("an answer far longer than was asked for")
)

// rejection is an endpoint's refusal: an HTTP error, or an error object inside
// an answer (status 200).
type rejection struct {
	status int
	header http.Header
	body   []byte
}

func (e *rejection) Error() string { return fmt.Sprintf("HTTP %d", e.status) }

// try asks once.
func (c *Client) try(ctx context.Context, r llm.Request, body payload) (answer, error) {
	if slices.Contains(completionOnly, r.Model) {
		return answer{}, goai.ErrChatCompletionInvalidModel
	}
	ctx, end := context.WithTimeoutCause(ctx, wholeTimes*c.cfg.Timeout, errSlow)
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.cfg.Timeout, func() { cancel(errSlow) })
	defer timer.Stop()
	a, err := c.exchange(ctx, r, body, timer)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		return a, errSlow // and not the error that the try's own timer provoked
	}
	return a, err
}

// exchange posts the body and reads the reply in whichever form it comes.
func (c *Client) exchange(ctx context.Context, r llm.Request, sent payload, timer *time.Timer) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.baseURL()+"/chat/completions", sent.reader())
	if err != nil {
		return answer{}, err
	}
	req.ContentLength = sent.length()
	req.GetBody = func() (io.ReadCloser, error) { return sent.reader(), nil } // for a connection that turned out to be closed
	req.Header = c.headers(r)
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		// What was read before an error is still the best account of it.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefused))
		return answer{}, &rejection{status: resp.StatusCode, header: resp.Header, body: body}
	}
	a, err := c.reply(resp, r, timer)
	a.quota = quota(resp.Header)
	return a, err
}

// readers are used again: their buffers are larger than most answers.
var readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

// reply reads an answer that did not begin with a refusal.
func (c *Client) reply(resp *http.Response, r llm.Request, timer *time.Timer) (answer, error) {
	in, _ := readers.Get().(*bufio.Reader) // it holds nothing else
	in.Reset(resp.Body)
	defer func() { in.Reset(nil); readers.Put(in) }()
	form, err := formOf(resp.Header.Get("Content-Type"), in)
	switch {
	case err != nil:
		return answer{}, err
	case form == plainJSON:
		return readPlain(in, maxText(r.MaxTokens))
	}
	return c.receive(in, r.MaxTokens, timer, c.watch(r))
}

// form is how an answer comes.
type form int

const (
	eventStream form = iota
	plainJSON
)

// formOf goes by the content type, and by the first character where that is
// neither of the two: some servers stream as text/plain.
func formOf(kind string, in *bufio.Reader) (form, error) {
	switch {
	case strings.HasPrefix(kind, "text/event-stream"):
		return eventStream, nil
	case strings.HasPrefix(kind, "application/json"):
		return plainJSON, nil
	}
	for {
		first, _, err := in.ReadRune()
		switch {
		case err != nil:
			return 0, fmt.Errorf("%w: %w", errCut, err)
		case unicode.IsSpace(first) || first == '\ufeff':
			continue
		case first == '<':
			return 0, errPage
		}
		_ = in.UnreadRune() // it follows a ReadRune
		if first == '{' || first == '[' {
			return plainJSON, nil
		}
		return eventStream, nil
	}
}

// maxText is how many bytes of JSON an answer of so many tokens may have: there
// are servers that go on beyond what they were asked for.
func maxText(tokens int) int { return maxAround + maxEscape*bounds.Answer(tokens) }

// readPlain reads an answer that comes as one JSON text of at most so many bytes.
func readPlain(in io.Reader, most int) (answer, error) {
	text, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("%w: %w", errCut, err)
	case len(text) > most:
		return answer{}, errLong
	}
	return decodePlain(text)
}

// headers say what the body is, and name the work that a request belongs to,
// for gateways and test servers.
func (c *Client) headers(r llm.Request) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if c.cfg.Stream {
		h["Accept"], h["Cache-Control"] = []string{"text/event-stream"}, []string{"no-cache"}
	}
	if c.cfg.Key != "" {
		h["Authorization"] = []string{"Bearer " + c.cfg.Key}
	}
	for _, f := range [...]struct{ name, value string }{
		{"X-Deckhand-Purpose", string(r.Purpose)},
		{"X-Deckhand-Run", r.Run},
		{"X-Deckhand-Strand", r.Strand},
		{"X-Deckhand-Task", r.Task},
	} {
		if f.value != "" {
			h[f.name] = []string{headerText(f.value)}
		}
	}
	return h
}

// headerText makes a model's own words fit for a header.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
}

// baseURL is the base without the slash that people leave at its end.
func (c *Client) baseURL() string { return strings.TrimRight(c.cfg.BaseURL, "/") }
