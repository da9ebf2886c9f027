package slacktest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

// arrival is a signed delivery that was verified.
type arrival struct {
	path, retry, reason string
	body                []byte
}

// app is an app that Slack calls; status and body are what it answers.
func app(t *testing.T, s *Server, answer func(arrival) (status int, body string)) <-chan arrival {
	t.Helper()
	out := make(chan arrival, 64)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		v, err := slack.NewSecretsVerifier(r.Header, s.SigningSecret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		if err != nil {
			t.Errorf("a delivery to %s is not signed: %v", r.URL.Path, err)
		}
		a := arrival{r.URL.Path, r.Header.Get("X-Slack-Retry-Num"), r.Header.Get("X-Slack-Retry-Reason"), body}
		status, said := answer(a)
		if said != "" && said[0] == '{' {
			w.Header().Set("Content-Type", "application/json")
		}
		if status == http.StatusGone {
			w.Header().Set("X-Slack-No-Retry", "1")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, said)
		out <- a
	}))
	t.Cleanup(h.Close)
	s.DeliverTo(h.URL + "/")
	return out
}

func arrive(t *testing.T, in <-chan arrival) arrival {
	t.Helper()
	select {
	case a := <-in:
		return a
	case <-time.After(time.Minute):
		t.Fatal("nothing was delivered within ten seconds")
		return arrival{}
	}
}

func TestSignedDeliveries(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Deliver: "http://127.0.0.1:1"})
	in := app(t, s, func(a arrival) (int, string) {
		if a.path == "/slack/commands" {
			return http.StatusOK, `{"response_type":"in_channel","text":"on it"}`
		}
		return http.StatusOK, ""
	})
	ts := s.DM(Ann, "hello")
	a := arrive(t, in)
	var event struct {
		Event struct{ TS, Text string } `json:"event"`
	}
	if err := json.Unmarshal(a.body, &event); err != nil || a.path != "/slack/events" || event.Event.TS != ts || a.retry != "" {
		t.Fatalf("event: %+v, %v", a, err)
	}
	wait(t, s, "it is acknowledged", func() bool { return acked(s) == 1 })

	if err := s.Shortcut(Ann, "new_goal"); err != nil {
		t.Fatal(err)
	}
	a = arrive(t, in)
	form, err := url.ParseQuery(string(a.body))
	var callback slack.InteractionCallback
	if err != nil || a.path != "/slack/interactive" || json.Unmarshal([]byte(form.Get("payload")), &callback) != nil || callback.CallbackID != "new_goal" {
		t.Fatalf("interaction: %+v, %+v", a, callback)
	}

	if err := s.Slash(Ann, General, "status"); err != nil {
		t.Fatal(err)
	}
	a = arrive(t, in)
	req := httptest.NewRequest(http.MethodPost, "/", nil)
	req.PostForm, err = url.ParseQuery(string(a.body))
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := slack.SlashCommandParse(req)
	if err != nil || a.path != "/slack/commands" || cmd.Command != Command || cmd.Text != "status" || cmd.UserID != Ann || cmd.TriggerID == "" || cmd.ResponseURL == "" || cmd.ChannelName != "general" {
		t.Fatalf("command: %+v, %v", cmd, err)
	}
	if m := s.FromBot(); len(m) != 1 || m[0].Text != "on it" {
		t.Errorf("the answer to the command: %+v", m)
	}
}

func TestSignedRedelivery(t *testing.T) {
	for _, tt := range []struct {
		name     string
		status   int
		attempts int
	}{{"error", http.StatusInternalServerError, 3}, {"no retry", http.StatusGone, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, Config{Deliver: "http://127.0.0.1:1", Redeliver: []time.Duration{0, time.Millisecond}})
			in := app(t, s, func(arrival) (int, string) { return tt.status, "" })
			s.DM(Ann, "hello")
			for i := range tt.attempts {
				a := arrive(t, in)
				want := []string{"", "1", "2"}[i]
				if a.retry != want || (a.reason == "http_error") != (i > 0) {
					t.Errorf("attempt %d: %+v", i, a)
				}
			}
			wait(t, s, "every attempt has failed", func() bool {
				d := s.Deliveries()
				return len(d) == tt.attempts && d[tt.attempts-1].Error == "http_error"
			})
		})
	}
}

func TestSignedTimeout(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Deliver: "http://127.0.0.1:1", AckWithin: 20 * time.Millisecond, Redeliver: []time.Duration{0}})
	held := make(chan struct{})
	in := app(t, s, func(a arrival) (int, string) {
		if a.retry == "" {
			<-held
		}
		return http.StatusOK, ""
	})
	s.DM(Ann, "hello")
	if a := arrive(t, in); a.retry != "1" || a.reason == "" {
		t.Errorf("redelivery: %+v", a)
	}
	close(held)
	arrive(t, in)
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Deliver: "http://127.0.0.1:1"})
	right := true
	app(t, s, func(a arrival) (int, string) {
		var c struct{ Challenge string }
		if !right || json.Unmarshal(a.body, &c) != nil {
			return http.StatusOK, "what?"
		}
		return http.StatusOK, c.Challenge
	})
	if err := s.Challenge(context.Background()); err != nil {
		t.Error(err)
	}
	right = false
	if s.Challenge(context.Background()) == nil {
		t.Error("a wrong answer to the challenge is accepted")
	}
}
