package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

const (
	// maxPlain bounds an answer that comes as one JSON text, in bytes.
	maxPlain = 64 << 20
	// maxRefused bounds what is read of an error's body, in bytes.
	maxRefused = 64 << 10
	// maxTail bounds what is remembered of a stream's end, in bytes.
	maxTail = 8 << 10
	// grace is how long a stream may stay open after the answer is complete:
	// only the usage and [DONE] can still come.
	grace = 5 * time.Second
	// maxPings bounds the lines without data between two events: proxies keep
	// connections open with comments, which go-openai counts.
	maxPings = 1 << 20
)

// What can go wrong in one try besides an HTTP error.
var (
	errSlow  = errors.New("no answer in time")
	errCut   = errors.New("the answer broke off")
	errPage  = errors.New("a web page instead of an answer")
	errNoUse = errors.New("an answer that is not a chat completion")
)

// rejection is an endpoint's refusal: an HTTP error, or an error object inside
// an answer (status 200).
type rejection struct {
	status int
	header http.Header
	body   []byte
}

func (e *rejection) Error() string { return fmt.Sprintf("HTTP %d", e.status) }

// exchange is one try. It is go-openai's HTTP client for that try: it puts
// Deckhand's headers and the encoded body on the request, and sorts the reply
// into an event stream, a plain JSON text or a rejection.
type exchange struct {
	http   *http.Client
	header http.Header
	body   *payload
	stream bool
	plain  []byte // the whole reply, where it was no event stream
	tail   tail
}

// try asks once.
func (c *Client) try(ctx context.Context, r llm.Request, body *payload) (answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.cfg.Timeout, func() { cancel(errSlow) })
	defer timer.Stop()

	x := &exchange{http: c.http, header: headers(r), body: body, stream: c.cfg.Stream}
	conf := goai.DefaultConfig(c.cfg.Key)
	conf.BaseURL, conf.HTTPClient, conf.EmptyMessagesLimit = c.baseURL(), x, maxPings
	// The stream call serves plain replies too: Do takes those aside, and one
	// reader is less than two.
	s, err := goai.NewClientWithConfig(conf).CreateChatCompletionStream(ctx, goai.ChatCompletionRequest{Model: r.Model})
	if err != nil {
		return answer{}, cause(ctx, err)
	}
	if x.plain != nil {
		return decodePlain(x.plain)
	}
	a, err := c.receive(s, x, timer, c.watch(r))
	if err != nil {
		_ = s.Close()
		return answer{}, cause(ctx, err)
	}
	if a.finish == cut {
		_ = s.Close()
		return a, nil
	}
	// Reading to the end is what lets the connection be used again.
	timer.Reset(100 * time.Millisecond)
	_, _ = io.CopyN(io.Discard, &x.tail, maxTail)
	_ = s.Close()
	return a, nil
}

// cause replaces an error that the try's own timer provoked.
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSlow) {
		return errSlow
	}
	return err
}

// cut is the finish of an answer that its watcher had enough of.
const cut = "cut"

// watch begins to watch a try. In JSON mode the text holds arguments, which may
// say the same thing as often as they like.
func (c *Client) watch(r llm.Request) func(piece string) bool {
	if r.Watch == nil || c.cfg.Mode == JSON {
		return func(string) bool { return false }
	}
	return r.Watch()
}

// receive reads events until the answer is complete. A stream that ends with
// neither a finish_reason nor [DONE] was cut.
func (c *Client) receive(s *goai.ChatCompletionStream, x *exchange, timer *time.Timer, enough func(piece string) bool) (answer, error) {
	var a answer
	for {
		raw, err := s.RecvRaw()
		if err != nil || len(raw) == 0 {
			return x.end(a, err)
		}
		timer.Reset(c.cfg.Timeout)
		known := len(a.content)
		if err := a.add(raw); err != nil {
			return answer{}, err
		}
		if len(a.content) > known && enough(string(a.content[known:])) {
			a.finish, a.calls = cut, calls{}
			return a, nil
		}
		if a.finish != "" {
			timer.Reset(min(c.cfg.Timeout, grace))
		}
	}
}

func (x *exchange) end(a answer, err error) (answer, error) {
	if a.finish != "" {
		return a, nil
	}
	if body := x.tail.failure(); body != nil {
		return answer{}, &rejection{status: http.StatusOK, header: http.Header{}, body: body}
	}
	// go-openai says io.EOF for [DONE] and for the end of the bytes.
	if errors.Is(err, io.EOF) && !x.tail.ended && a.answered() {
		return a, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return answer{}, errCut
	}
	return answer{}, fmt.Errorf("%w: %w", errCut, err)
}

// Do sends req with this exchange's headers and body.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	maps.Copy(req.Header, x.header)
	if !x.stream {
		req.Header.Set("Accept", "application/json")
	}
	req.Header.Del("Connection") // it is the transport's, and none of HTTP/2's
	req.ContentLength = int64(len(x.body.bytes))
	req.GetBody = func() (io.ReadCloser, error) { return x.body.reader(), nil }
	req.Body, _ = req.GetBody()
	resp, err := x.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		// What was read before an error is still the best account of it.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefused))
		return nil, &rejection{status: resp.StatusCode, header: resp.Header, body: body}
	}
	return x.sort(resp)
}

// sort goes by the content type, and by the first byte where that is neither
// of the two: some servers stream as text/plain.
func (x *exchange) sort(resp *http.Response) (*http.Response, error) {
	kind := resp.Header.Get("Content-Type")
	x.tail.from = resp.Body
	if strings.HasPrefix(kind, "text/event-stream") {
		resp.Body = &x.tail
		return resp, nil
	}
	if strings.HasPrefix(kind, "application/json") {
		return x.take(resp)
	}
	first, err := x.tail.peek()
	switch {
	case err != nil:
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: %w", errCut, err)
	case first == '{' || first == '[':
		return x.take(resp)
	case first == '<':
		_ = resp.Body.Close()
		return nil, errPage
	}
	resp.Body = &x.tail
	return resp, nil
}

// take reads a plain reply whole.
func (x *exchange) take(resp *http.Response) (*http.Response, error) {
	defer resp.Body.Close()
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 && n < maxPlain {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(&x.tail, maxPlain)); err != nil {
		return nil, fmt.Errorf("%w: %w", errCut, err)
	}
	x.plain = buf.Bytes()
	if x.plain == nil {
		return nil, errNoUse
	}
	resp.Body = http.NoBody
	return resp, nil
}

// headers name the work a request belongs to, for gateways and test servers.
func headers(r llm.Request) http.Header {
	h := make(http.Header, 8)
	for _, f := range [...]struct{ name, value string }{
		{"X-Deckhand-Purpose", string(r.Purpose)},
		{"X-Deckhand-Run", r.Run},
		{"X-Deckhand-Strand", r.Strand},
		{"X-Deckhand-Task", r.Task},
	} {
		if f.value != "" {
			h[f.name] = []string{clean(f.value)}
		}
	}
	return h
}

// clean makes a model's own words fit for a header.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
}
