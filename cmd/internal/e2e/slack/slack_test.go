package slack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// The ways in which events arrive.
const (
	socketed = "socket"
	signed   = "signed"
)

// unhurried is a Slack for a busy machine. People wait long for an answer, where
// in Slack they see a warning sign after three seconds; and what nobody takes is
// delivered again for longer than a restart lasts.
func unhurried() slacktest.Config {
	const within = 15 * time.Second
	return slacktest.Config{AckWithin: within, TriggerLife: within, Redeliver: slices.Repeat([]time.Duration{5 * time.Millisecond, 200 * time.Millisecond, time.Second, 2 * time.Second}, 20)}
}

// TestConformance plays people against a whole Deckhand, once over Socket Mode
// and once over signed HTTP requests.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{socketed, signed} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			chat.Run(t, adapter(mode, unhurried()))
		})
	}
}

// adapter is Slack under test.
func adapter(mode string, cfg slacktest.Config) chat.Adapter {
	var fronts sync.Map // by URL of the workspace
	return chat.Adapter{
		Sends: func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/"+posting) || strings.HasSuffix(r.URL.Path, "/"+uploading)
		},
		Server: func(t *testing.T) chat.Server {
			t.Helper()
			w := openWorkspace(t, mode, cfg)
			fronts.Store(w.URL(), w.front)
			return w
		},
		Open: func(ctx context.Context, text string, w chat.Wiring) (bot.Platform, error) {
			var to ticket
			if err := json.Unmarshal([]byte(text), &to); err != nil {
				return nil, fmt.Errorf("the ticket %q: %w", text, err)
			}
			cfg := slack.Config{
				BotToken: to.Bot, AppToken: to.App, APIURL: to.URL + "/api/", Names: w.Names, Client: w.Client, Log: w.Log,
				AllowBots: w.Robots, EditsPerMinute: 50,
			}
			if to.Mode == signed {
				cfg.AppToken, cfg.SigningSecret = "", to.Secret
			}
			s, err := slack.New(ctx, cfg)
			if err != nil || to.Mode != signed {
				return s, err
			}
			behind, known := fronts.Load(to.URL)
			f, is := behind.(*chat.Front)
			if !known || !is {
				return nil, fmt.Errorf("nothing listens for the deliveries of %s", to.URL)
			}
			return &routed{Slack: s, front: f}, nil
		},
	}
}

// routed is a replica behind the front for as long as it listens.
type routed struct {
	*slack.Slack
	front *chat.Front
}

// Listen puts the replica's routes behind the front.
func (r *routed) Listen(ctx context.Context, hear bot.Hear) error {
	routes := http.NewServeMux()
	for path, h := range r.Routes() {
		routes.Handle("POST "+path, h)
	}
	r.front.Add(routes)
	defer r.front.Remove(routes)
	return r.Slack.Listen(ctx, hear)
}
