package openai

// This file decides what a failed request means: which kind of fault, whether
// another try can help, and what the user should do next. Keys and passwords
// are taken out.

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	retryAfter time.Duration // what the endpoint asked for; 0: nothing
	refusal    string        // the endpoint's content filter turned the prompt away
	what, next string        // what happened, what a person can do
	plain      string        // what happened, for people who do not run the endpoint
	reached    bool          // the endpoint was heard
	quota      llm.Quota     // what it said about its limits
	text       string        // the message in lower case, with the parameter that it is about
	window     int           // how many tokens a request may have, by the endpoint's words
	cause      error
}

// judge classifies the error of one try.
func (c *Client) judge(err error) verdict {
	if rej, ok := errors.AsType[*rejection](err); ok {
		v := c.judgeRejection(rej)
		v.cause = err
		return v
	}
	v := verdict{fault: llm.Away, plain: "broke off its answer", reached: true, cause: withoutURL(err)}
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, goai.ErrChatCompletionInvalidModel):
		v.fault, v.plain = llm.UnknownModel, "does not have the model"
		v.what, v.next = "the model is not one for chat", "set DECKHAND_MODEL to a chat model"
	case errors.Is(err, errPage):
		v.fault = llm.Invalid
		v.what, v.next = "it answered with a web page", "check the path in OPENAI_BASE_URL: it usually ends in /v1"
	case errors.Is(err, errSlow):
		v.what, v.plain = fmt.Sprintf("no answer within %s", c.cfg.Timeout), "does not answer in time"
		v.next = "raise model.timeout or choose a faster model"
	case errors.As(err, &cert), errors.As(err, &record):
		v.fault, v.plain = llm.Insecure, "has no secure connection"
		v.what = withoutURL(err).Error()
		v.next = "check OPENAI_BASE_URL (http or https?) and the endpoint's certificate"
	case errors.Is(err, errNoUse), errors.Is(err, errLong):
		v.what, v.next = "it sent "+withoutURL(err).Error(), "check that OPENAI_BASE_URL is a Chat Completions endpoint"
		v.plain = "sends what is no answer"
	case errors.Is(err, errCut), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		v.what, v.next = "the answer broke off", "try again; if it keeps happening, set model.stream: false"
	default:
		v.what, v.plain, v.reached = "no connection: "+withoutURL(err).Error(), "cannot be reached", false
		v.next = "check OPENAI_BASE_URL and that the endpoint is up"
	}
	return v
}

// withoutURL strips the URL that net/http puts around an error: it may hold a
// password.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns
	}
	return err
}

// rule is one kind of refusal: by the codes that an endpoint gives, by the HTTP
// status, or by words of its message. Words count only in 400 and 422, as a rate
// limit speaks of too many tokens too.
type rule struct {
	codes    []string
	statuses []span
	words    []string

	fault    llm.Fault
	filtered bool // it counts as the model's own refusal to answer
	plain    string
	next     string
}

// span is the statuses from the first to the last.
type span struct{ first, last int }

// rules are in the order of their weight: codes say more than a status.
var rules = []rule{
	{
		codes: []string{"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"}, statuses: []span{{402, 402}},
		fault: llm.Unpaid, plain: "says that the account has no credit left", next: "the account has no credit left: add some, or set another key or endpoint",
	},
	{
		codes: []string{"model_not_found", "invalid_model", "unknown_model", "deploymentnotfound"}, statuses: []span{{404, 404}},
		words: []string{"invalid model", "unknown model", "model not found", "is not a valid model"},
		fault: llm.UnknownModel, plain: "does not have the model", next: "check the model's name (DECKHAND_MODEL) and the path in OPENAI_BASE_URL",
	},
	{
		codes: []string{"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}, statuses: []span{{413, 413}},
		words: []string{"context length", "context window", "context size", "prompt is too long", "input is too long", "too many tokens", "maximum context"},
		fault: llm.TooLong, next: "shorten the conversation or choose a model with a larger context window",
	},
	{codes: []string{"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}, fault: llm.Invalid, filtered: true},
	{
		statuses: []span{{401, 401}, {403, 403}},
		fault:    llm.Unauthorised, plain: "does not take the key", next: "check OPENAI_API_KEY: it is missing, wrong, revoked, or not allowed to use this model",
	},
	{
		statuses: []span{{429, 429}},
		fault:    llm.Limited, plain: "takes no more requests for now", next: "set model.requests_per_minute and model.tokens_per_minute, or ask the provider for a higher rate limit",
	},
	{
		codes: []string{"overloaded_error", "overloaded", "service_unavailable", "engine_overloaded"}, statuses: []span{{503, 503}, {529, 529}},
		fault: llm.Away, plain: "is overloaded", next: "the endpoint is overloaded: try again later",
	},
	{
		statuses: []span{{408, 408}, {500, math.MaxInt}, {math.MinInt, 299}},
		fault:    llm.Away, plain: "is out of order", next: "the endpoint is overloaded or broken: try again later",
	},
	{statuses: []span{{300, 399}}, fault: llm.Invalid, next: "set OPENAI_BASE_URL to the new address"},
	{
		words: []string{"does not support tools", "does not support function", "tool use is not supported", "tools is not supported"},
		fault: llm.Invalid, next: "set model.mode: json or choose a model with function calling",
	},
	{statuses: []span{{400, 499}}, fault: llm.Invalid, next: "the endpoint does not take this request: see its message"},
}

// fits reports whether the refusal is of this kind. text is its message in
// lower case.
func (r rule) fits(status int, s refusalText, text string) bool {
	refused := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	return s.coded(r.codes) ||
		slices.ContainsFunc(r.statuses, func(s span) bool { return s.first <= status && status <= s.last }) ||
		refused && slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(text, w) })
}

// judgeRejection classifies an answer that refuses.
func (c *Client) judgeRejection(e *rejection) verdict {
	said := readRefusal(e.body)
	v := verdict{
		status: e.status, quota: quota(e.header), retryAfter: max(0, retryAfter(e.header, time.Now())), reached: true,
		what: c.redact(said.message), text: strings.ToLower(said.message + " " + said.param),
	}
	status := e.status
	if status == http.StatusOK { // an error inside an answer: gateways put the status into the code
		status = said.number
	}
	i := slices.IndexFunc(rules, func(r rule) bool { return r.fits(status, said, v.text) }) // together they take every status
	v.fault, v.next = rules[i].fault, rules[i].next
	if v.fault == llm.TooLong {
		v.window = windowIn(v.text)
	}
	if v.plain = rules[i].plain; v.plain != "" && status > 0 {
		v.plain += " (HTTP " + strconv.Itoa(status) + ")"
	}
	switch {
	case rules[i].filtered:
		v.refusal = cmp.Or(v.what, "the endpoint's content filter turned the request away")
	case 300 <= status && status <= 399:
		v.what = "it redirects to " + redirectTarget(e.header)
	}
	v.what = cmp.Or(v.what, strings.ToLower(http.StatusText(e.status)), "an error without words")
	return v
}

func redirectTarget(h http.Header) string {
	u, err := url.Parse(h.Get("Location"))
	if err != nil || u.Host == "" {
		return "another address"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// redact takes the key out of words that an endpoint sent back.
func (c *Client) redact(s string) string {
	if c.cfg.Key == "" {
		return s
	}
	return strings.ReplaceAll(s, c.cfg.Key, "[key]")
}

// fail makes the error that Complete returns.
func (c *Client) fail(r llm.Request, v verdict, tries int, spent llm.Usage) error {
	what := v.what
	if v.fault == llm.UnknownModel {
		what = fmt.Sprintf("model %q: %s", r.Model, what)
	}
	return &llm.Error{Fault: v.fault, Status: errorStatus(v.status), Tries: tries, Message: c.host + ": " + what + "; " + v.next,
		Plain: v.plain, RetryAfter: v.retryAfter, Quota: v.quota, Reached: v.reached, Spent: spent, Window: v.window, Err: v.cause}
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
