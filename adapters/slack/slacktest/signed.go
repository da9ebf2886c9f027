package slacktest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Sign sets the headers that prove that a body comes from Slack, sent at the
// given time.
func (s *outbox) Sign(h http.Header, body []byte, at time.Time) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.SigningSecret))
	_, _ = fmt.Fprintf(mac, "v0:%s:%s", stamp, body) // a hash takes everything
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

// DeliverTo changes the base URL of signed HTTP deliveries; empty is Socket Mode.
func (s *outbox) DeliverTo(base string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.cfg.Deliver = base
}

// Challenge sends url_verification to the app and says whether it was answered.
func (s *outbox) Challenge(ctx context.Context) error {
	want := "challenge-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	body := platformtest.Encode(obj{"type": "url_verification", "token": "verification", "challenge": want})
	got, _, err := s.sendHTTP(ctx, "/slack/events", "application/json", body, 0, "")
	if err != nil {
		return fmt.Errorf("slacktest: the challenge was not answered: %w", err)
	}
	var said struct {
		Challenge string `json:"challenge"`
	}
	if strings.TrimSpace(string(got)) == want || json.Unmarshal(got, &said) == nil && said.Challenge == want {
		return nil
	}
	return fmt.Errorf("slacktest: the challenge %q was answered with %q", want, got)
}

// deliverHTTP makes one attempt over HTTP; the lock is not held.
func (s *outbox) deliverHTTP(d *delivery, envelope string, attempt int, reason string) {
	path, kind, body := "/slack/events", "application/json", []byte(d.payload)
	switch d.kind {
	case kindInteractive:
		path, kind, body = "/slack/interactive", formType, []byte(url.Values{"payload": {string(d.payload)}}.Encode())
	case kindSlash:
		path, kind, body = "/slack/commands", formType, []byte(slashForm(d.payload))
	}
	ctx, cancel := context.WithTimeout(s.Done, s.cfg.AckWithin)
	defer cancel()
	got, noRetry, err := s.sendHTTP(ctx, path, kind, body, attempt, reason)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	switch {
	case err == nil:
		s.acknowledge(envelope, got)
		if p := s.pending[envelope]; p != nil { // a lost acknowledgement looks like a timeout
			s.failed(p, envelope, "http_timeout")
		}
	case s.Closed():
	default:
		if noRetry {
			d.attempt = len(s.cfg.Redeliver)
		}
		s.failed(d, envelope, reasonOf(err))
	}
}

const formType = "application/x-www-form-urlencoded"

var errStatus = errors.New("the app answered with a status other than 2xx")

func (s *outbox) sendHTTP(ctx context.Context, path, kind string, body []byte, attempt int, reason string) (got []byte, noRetry bool, err error) {
	s.Mu.Lock()
	base := strings.TrimSuffix(s.cfg.Deliver, "/")
	s.Mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, fmt.Errorf("delivering to %s: %w", base, err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	s.Sign(req.Header, body, time.Now())
	if attempt > 0 {
		req.Header.Set("X-Slack-Retry-Num", strconv.Itoa(attempt))
		req.Header.Set("X-Slack-Retry-Reason", reason)
	}
	resp, err := s.Out.Do(req)
	if err != nil {
		return nil, false, fmt.Errorf("delivering: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%w: %s", errStatus, resp.Status)
	}
	return got, resp.Header.Get("X-Slack-No-Retry") == "1", err
}

func reasonOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, errStatus):
		return "http_error"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "http_timeout"
	default:
		return "connection_failed"
	}
}

func slashForm(payload json.RawMessage) string {
	form := url.Values{}
	for k, v := range callOf(payload).args {
		form.Set(k, v)
	}
	return form.Encode()
}
