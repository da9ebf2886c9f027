package discord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// The ways in which events arrive.
const (
	gateway = "gateway" // without the privileged intent: as by default
	content = "content" // the gateway with the privileged intent for what people write
	signed  = "signed"  // interactions over HTTP, and nothing else
)

// lacks is what does not exist on a way in.
var lacks = map[string]map[chat.Ability]string{
	gateway: {chat.Overhearing: "Discord hides what does not speak to the bot without the privileged intent"},
	signed: {
		chat.Listening:   "over HTTP Discord delivers interactions only, once, while somebody waits for them",
		chat.Overhearing: "no messages arrive",
	},
}

// overheard are the scenarios in which somebody speaks without naming the bot:
// what the intent makes a difference to.
var overheard = []string{
	"goal/in a thread", "clarify/free text", "clarify/not by others", "talk/chatter", "talk/steer", "downtime/answer missed",
}

// unhurried is how long people wait for an answer on a busy machine; in Discord
// they read after three seconds that there is none.
const unhurried = 15 * time.Second

// TestConformance plays people against a whole Deckhand: over the gateway as it
// is by default, over the gateway with the intent for message content, and over
// signed HTTP interactions.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{gateway, content, signed} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a := adapter(mode, discordtest.Config{AckWithin: unhurried})
			if mode == content {
				a.Plays = func(scenario string) bool { return slices.Contains(overheard, scenario) }
			}
			chat.Run(t, a)
		})
	}
}

var posts = regexp.MustCompile(`/channels/[0-9]+/(messages|threads)$`)

// adapter is Discord under test.
func adapter(mode string, cfg discordtest.Config) chat.Adapter {
	var fronts sync.Map // by URL of the server
	return chat.Adapter{
		Lacks: lacks[mode],
		Sends: func(r *http.Request) bool { return r.Method == http.MethodPost && posts.MatchString(r.URL.Path) },
		Server: func(t *testing.T) chat.Server {
			t.Helper()
			g := openGuild(t, mode, cfg)
			fronts.Store(g.URL(), g.front)
			return g
		},
		Open: func(ctx context.Context, text string, w chat.Wiring) (bot.Platform, error) {
			var to ticket
			if err := json.Unmarshal([]byte(text), &to); err != nil {
				return nil, fmt.Errorf("the ticket %q: %w", text, err)
			}
			cfg := discord.Config{
				Token: to.Token, APIURL: to.URL + "/api", Names: w.Names, Client: w.Client, Log: w.Log, AllowBots: w.Robots,
				Gateway: to.Mode != signed, Content: to.Mode == content,
			}
			if to.Mode == signed {
				cfg.PublicKey = to.Key
			}
			d, err := discord.New(ctx, cfg)
			if err != nil || to.Mode != signed {
				return d, err
			}
			behind, known := fronts.Load(to.URL)
			f, is := behind.(*chat.Front)
			if !known || !is {
				return nil, fmt.Errorf("nothing listens for the interactions of %s", to.URL)
			}
			return &routed{Discord: d, front: f}, nil
		},
	}
}

// routed is a replica behind the front for as long as it listens.
type routed struct {
	*discord.Discord

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
	return r.Discord.Listen(ctx, hear)
}
