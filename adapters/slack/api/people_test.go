package api

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
)

// staff is a Slack of one person, who may leave, and of one group.
type staff struct {
	left bool // the person is deleted, and in no group any more
	away bool // Slack does not answer
}

func (s *staff) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.away {
		return nil, errors.New("no route to Slack")
	}
	body := `{"ok":true,"team_id":"T1","user_id":"UB"}`
	switch {
	case strings.HasSuffix(r.URL.Path, "users.info"):
		body = fmt.Sprintf(`{"ok":true,"user":{"id":"U1","team_id":"T1","deleted":%v}}`, s.left)
	case strings.HasSuffix(r.URL.Path, "usergroups.users.list") && s.left:
		body = `{"ok":true,"users":[]}`
	case strings.HasSuffix(r.URL.Path, "usergroups.users.list"):
		body = `{"ok":true,"users":["U1"]}`
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// Who leaves has no rights any more within a minute, neither as a member nor
// through a group; while Slack cannot be asked, nothing of theirs counts.
func TestRightsEndWithinAMinute(t *testing.T) {
	for name, change := range map[string]func(s *staff){"left": func(s *staff) { s.left = true }, "away": func(s *staff) { s.away = true }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &staff{}
				c, err := New(t.Context(), Config{BotToken: "xoxb-1", HTTP: &http.Client{Transport: s}, Log: slog.New(slog.DiscardHandler), Token: &ingest.Token{}})
				if err != nil {
					t.Fatal(err)
				}
				says := &wire.Update{User: "U1"}
				p, err := c.Author(t.Context(), says, []string{"S1"})
				if err != nil || !p.Full || len(p.Also) != 1 {
					t.Fatalf("a member of a group is %+v, %v", p, err)
				}
				change(s)
				<-time.After(time.Minute - time.Second)
				p, err = c.Author(t.Context(), says, []string{"S1"})
				if name == "away" {
					if err == nil {
						t.Errorf("nobody could be asked, and they are %+v", p)
					}
					return
				}
				if err != nil || p.Full || len(p.Also) > 0 {
					t.Errorf("who left is %+v, %v", p, err)
				}
			})
		})
	}
}
