package slack

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// send makes a request that is signed as of a time, and changed after that.
func (r *rig) send(path, body string, at time.Time, change func(http.Header)) int {
	q := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Sign(q.Header, []byte(body), at)
	if change != nil {
		change(q.Header)
	}
	w := httptest.NewRecorder()
	r.routes.ServeHTTP(w, q)
	return w.Code
}

func mentionBody(n int) string {
	return fmt.Sprintf(`{"type":"event_callback","event_id":"Ev%d","event":{"type":"app_mention","user":"U1","channel":"C1","text":"<@UBOT> hi","ts":"1700000000.%06d"}}`, n, n)
}

func TestForgedStaleAndReplayedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	r := listen(t, modes["http"], nil)
	now := time.Now()
	for name, test := range map[string]struct {
		at     time.Time
		change func(http.Header)
	}{
		"no signature":     {now, func(h http.Header) { h.Del("X-Slack-Signature") }},
		"no timestamp":     {now, func(h http.Header) { h.Del("X-Slack-Request-Timestamp") }},
		"wrong signature":  {now, func(h http.Header) { h.Set("X-Slack-Signature", "v0="+strings.Repeat("0", 64)) }},
		"no hex":           {now, func(h http.Header) { h.Set("X-Slack-Signature", "v0=zz") }},
		"another version":  {now, func(h http.Header) { h.Set("X-Slack-Signature", "v1"+h.Get("X-Slack-Signature")[2:]) }},
		"another time":     {now, func(h http.Header) { h.Set("X-Slack-Request-Timestamp", strconv.FormatInt(now.Unix()+1, 10)) }},
		"from the past":    {now.Add(-6 * time.Minute), nil},
		"from the future":  {now.Add(6 * time.Minute), nil},
		"a time that none": {now, func(h http.Header) { h.Set("X-Slack-Request-Timestamp", "soon") }},
	} {
		if got := r.send("/slack/events", mentionBody(1), test.at, test.change); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got)
		}
	}
	if heard := r.Hears(0); len(heard) != 0 {
		t.Fatalf("heard %+v", heard)
	}
	if got := r.send("/slack/events", mentionBody(1), now, nil); got != http.StatusOK {
		t.Errorf("a good one: %d", got)
	}
	if got := r.send("/slack/events", mentionBody(1), now, nil); got != http.StatusUnauthorized {
		t.Errorf("the same again: %d", got)
	}
	if got := r.send("/slack/events", mentionBody(1), now.Add(time.Second), nil); got != http.StatusOK {
		t.Errorf("Slack's own redelivery: %d", got)
	}
	if n := strings.Count(r.Log.String(), "claims to be Slack's"); n != 1 {
		t.Errorf("%d lines about refused requests, want one a minute:\n%s", n, r.Log)
	}
	if strings.Contains(r.Log.String(), "hi") && strings.Contains(r.Log.String(), "UBOT> hi") {
		t.Error("a message's text was logged")
	}
}

func TestARequestThatFailedMayComeAgain(t *testing.T) {
	t.Parallel()
	r := listen(t, modes["http"], nil)
	r.Answers(func(bot.Inbound) (bot.Answer, error) { return bot.Answer{}, errAway })
	now := time.Now()
	if got := r.send("/slack/events", mentionBody(1), now, nil); got != http.StatusServiceUnavailable {
		t.Errorf("not written down: %d", got)
	}
	r.Answers(nil)
	if got := r.send("/slack/events", mentionBody(1), now, nil); got != http.StatusOK {
		t.Errorf("the same bytes again: %d", got)
	}
	r.Hears(1)
	r.stop()
	if got := r.send("/slack/events", mentionBody(2), now, nil); got != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", got)
	}
}

func TestOddRequests(t *testing.T) {
	t.Parallel()
	r := listen(t, modes["http"], nil)
	if err := r.Challenge(t.Context()); err != nil {
		t.Error(err)
	}
	now := time.Now()
	if got := r.send("/slack/events", strings.Repeat("x", 1<<20+1), now, nil); got != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d", got)
	}
	for i, path := range []string{"/slack/events", "/slack/interactive", "/slack/commands"} {
		if got := r.send(path, "%zz{", now.Add(time.Duration(i)*time.Second), nil); got != http.StatusOK {
			t.Errorf("malformed at %s: %d", path, got)
		}
		w := httptest.NewRecorder()
		r.routes.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", path, w.Code)
		}
	}
}
