package openai

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// verdict says what a failed try means.
type verdict struct {
	fault      llm.Fault
	status     int
	passing    bool          // another try may help
	retryAfter time.Duration // what the endpoint asked for; negative: nothing
	refusal    string        // the endpoint's content filter turned the prompt away
	what, next string        // what happened, what a person can do
	text       string        // the message in lower case, with the parameter that it is about
	cause      error
}

// judge classifies the error of one try.
func (c *Client) judge(err error) verdict {
	if rej, ok := errors.AsType[*rejection](err); ok {
		v := c.rejected(rej)
		v.cause = err
		return v
	}
	v := verdict{fault: llm.Exhausted, passing: true, retryAfter: -1, cause: inner(err)}
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, goai.ErrChatCompletionInvalidModel):
		v.fault, v.passing = llm.UnknownModel, false
		v.what, v.next = "the model is not one for chat", "set DECKHAND_MODEL to a chat model"
	case errors.Is(err, errPage):
		v.fault, v.passing = llm.Invalid, false
		v.what, v.next = "it answered with a web page", "check the path in OPENAI_BASE_URL: it usually ends in /v1"
	case errors.Is(err, errSlow):
		v.what = fmt.Sprintf("no answer within %s", c.cfg.Timeout)
		v.next = "raise model.timeout or choose a faster model"
	case errors.As(err, &cert), errors.As(err, &record):
		v.passing = false
		v.what = "no secure connection: " + inner(err).Error()
		v.next = "check OPENAI_BASE_URL (http or https?) and the endpoint's certificate"
	case errors.Is(err, errNoUse):
		v.what, v.next = "it sent "+inner(err).Error(), "check that OPENAI_BASE_URL is a Chat Completions endpoint"
	case errors.Is(err, errCut), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		v.what, v.next = "the answer broke off", "try again; if it keeps happening, set model.stream: false"
	default:
		v.what = "no connection: " + inner(err).Error()
		v.next = "check OPENAI_BASE_URL and that the endpoint is up"
	}
	return v
}

// inner strips the URL that net/http puts around an error: it may hold a
// password.
func inner(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns
	}
	return err
}

// The codes and words that endpoints use for faults that a status alone does
// not tell. Words count only in 400 and 422: a rate limit speaks of too many tokens too.
var (
	quotaCodes   = []string{"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"}
	modelCodes   = []string{"model_not_found", "invalid_model", "unknown_model", "deploymentnotfound"}
	modelWords   = []string{"invalid model", "unknown model", "model not found", "is not a valid model"}
	lengthCodes  = []string{"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
	lengthWords  = []string{"context length", "context window", "context size", "prompt is too long", "input is too long", "too many tokens", "maximum context"}
	filterCodes  = []string{"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
	capableWords = []string{"does not support tools", "does not support function", "tool use is not supported", "tools is not supported"}
)

// rejected classifies an answer that refuses.
func (c *Client) rejected(e *rejection) verdict {
	said := parse(e.body)
	v := verdict{
		status: e.status, retryAfter: retryAfter(e.header, time.Now()),
		what: c.redact(said.message), text: strings.ToLower(said.message + " " + said.param),
	}
	status := e.status
	if status == http.StatusOK { // an error inside an answer: gateways put the status into the code
		status = said.number
	}
	has := func(codes []string) bool { return contains(codes, said.code) || contains(codes, said.kind) }
	refused := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	words := func(words []string) bool { return refused && anyIn(v.text, words) }
	switch {
	case has(quotaCodes) || status == http.StatusPaymentRequired:
		v.fault, v.next = llm.Exhausted, "the account has no credit left: add some, or set another key or endpoint"
	case has(modelCodes) || status == http.StatusNotFound || words(modelWords):
		v.fault = llm.UnknownModel
		v.next = "check the model's name (DECKHAND_MODEL) and the path in OPENAI_BASE_URL"
	case has(lengthCodes) || status == http.StatusRequestEntityTooLarge || words(lengthWords):
		v.fault, v.next = llm.TooLong, "shorten the conversation or choose a model with a larger context window"
	case has(filterCodes):
		v.fault, v.refusal = llm.Invalid, cmp.Or(v.what, "the endpoint's content filter turned the request away")
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		v.fault, v.next = llm.Unauthorised, "check OPENAI_API_KEY: it is missing, wrong, revoked, or not allowed to use this model"
	case status == http.StatusTooManyRequests:
		v.fault, v.passing, v.next = llm.Exhausted, true, "wait, raise model.retries, or ask the provider for a higher rate limit"
	case status == http.StatusRequestTimeout || status >= 500 || status < 300:
		v.fault, v.passing, v.next = llm.Exhausted, true, "the endpoint is overloaded or broken: try again later"
	case status < 400:
		v.fault = llm.Invalid
		v.what, v.next = "it redirects to "+elsewhere(e.header), "set OPENAI_BASE_URL to the new address"
	default:
		v.fault, v.next = llm.Invalid, "the endpoint does not take this request: see its message"
		if words(capableWords) {
			v.next = "set model.mode: json or choose a model with function calling"
		}
	}
	v.what = cmp.Or(v.what, strings.ToLower(http.StatusText(e.status)), "an error without words")
	return v
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if strings.EqualFold(l, s) {
			return true
		}
	}
	return false
}

func anyIn(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func elsewhere(h http.Header) string {
	u, err := url.Parse(h.Get("Location"))
	if err != nil || u.Host == "" {
		return "another address"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// said is an error body in the words of whoever wrote it.
type said struct {
	message, code, kind, param string

	number int // a code that is a number
}

// errorBody is what an error's object may hold, each in whatever type.
type errorBody struct {
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Code    json.RawMessage `json:"code"`
	Type    json.RawMessage `json:"type"`
	Param   json.RawMessage `json:"param"`
}

// parse reads the shapes of error bodies: {"error": {"message", "code",
// "type"}}, {"error": "text"}, {"message"}, {"detail"}, a list of one of
// these, a web page, plain text.
func parse(body []byte) said {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer errorBody
	if json.Unmarshal(body, &outer) != nil {
		return said{message: readable(string(body))}
	}
	var in errorBody
	if json.Unmarshal(outer.Error, &in) == nil && in.Message != nil {
		s := said{message: readable(loose(in.Message)), code: loose(in.Code), kind: loose(in.Type), param: loose(in.Param)}
		_ = json.Unmarshal(in.Code, &s.number) // stays 0 where the code is a word
		return s
	}
	s := said{code: loose(outer.Code), kind: loose(outer.Type)}
	_ = json.Unmarshal(outer.Code, &s.number) // as above
	s.message = readable(cmp.Or(loose(outer.Error), loose(outer.Message), loose(outer.Detail), string(body)))
	return s
}

// loose is a JSON string's text, or any other value as it stands.
func loose(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil || string(raw) == "null" {
		return s
	}
	return string(raw)
}

// readable makes one line of at most 400 bytes; of a web page it keeps the
// title.
func readable(s string) string {
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "<") {
		_, t, _ = strings.Cut(t, "<title>")
		t, _, _ = strings.Cut(t, "</title>")
		if s = "a web page"; t != "" {
			s += ` titled "` + t + `"`
		}
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > 400 {
		s = strings.ToValidUTF8(s[:400], "") + "…"
	}
	return strings.TrimRight(s, ".")
}

// redact takes the key out of words that an endpoint sent back.
func (c *Client) redact(s string) string {
	if c.cfg.Key == "" {
		return s
	}
	return strings.ReplaceAll(s, c.cfg.Key, "[key]")
}

// fail makes the error that Complete returns.
func (c *Client) fail(r llm.Request, v verdict, tries, failed int) error {
	what := v.what
	if v.fault == llm.UnknownModel {
		what = fmt.Sprintf("model %q: %s", r.Model, what)
	}
	if v.passing && failed > 1 {
		what = fmt.Sprintf("%s (%d tries)", what, failed)
	}
	return &llm.Error{Fault: v.fault, Status: errorStatus(v.status), Tries: tries, Message: c.host + ": " + what + "; " + v.next, Err: v.cause}
}

// errorStatus is 0 where the failure came inside an answer with status 200.
func errorStatus(status int) int {
	if status == http.StatusOK {
		return 0
	}
	return status
}

// unsupported reports a model that go-openai knows not to work this way.
func (c *Client) unsupported(model string, err error) error {
	return &llm.Error{
		Fault: llm.Invalid, Err: err,
		Message: fmt.Sprintf("%s: model %q takes no functions over Chat Completions (%v); set model.mode: json or choose another model", c.host, model, err),
	}
}
