package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/bot"
)

// Check looks whether the tokens are good, whether the app has every scope
// that the manifest asks for, and whether Slack offers a socket. It says what
// it found in one line, or what is missing and what to do.
func Check(ctx context.Context, cfg Config) (string, error) {
	cfg = cfg.withDefaults()
	if cfg.APIURL == "" {
		cfg.APIURL = slackapi.APIURL
	}
	me, scopes, err := whoami(ctx, cfg)
	if err != nil {
		return "", err
	}
	if missing := lacking(scopes); len(missing) > 0 {
		return "", fmt.Errorf("the app in %s lacks the scopes %s: add them under \"OAuth & Permissions\" "+
			"(or paste `deckhand manifest slack` again) and install the app anew", me.Team, strings.Join(missing, ", "))
	}
	how := "events over HTTP (/slack/events)"
	if cfg.AppToken != "" {
		if err := checkSocket(ctx, cfg); err != nil {
			return "", err
		}
		how = "Socket Mode"
	}
	return fmt.Sprintf("@%s in %s, all %d scopes, %s", me.User, me.Team, len(Scopes()), how), nil
}

type identity struct {
	OK    bool   `json:"ok"`
	Error string `json:"error"`
	Team  string `json:"team"`
	User  string `json:"user"`
	URL   string `json:"url"` // of a socket
}

// whoami asks who the bot token belongs to, and what it may do; the scopes are
// nil where Slack does not tell.
func whoami(ctx context.Context, cfg Config) (me identity, scopes []string, err error) {
	me, header, err := ask(ctx, cfg, "auth.test", cfg.BotToken)
	if err != nil {
		return me, nil, err
	}
	if !me.OK {
		return me, nil, fmt.Errorf("Slack refuses SLACK_BOT_TOKEN (%s): %w; it begins with xoxb- and stands under \"OAuth & Permissions\"", me.Error, bot.ErrRefused)
	}
	for scope := range strings.SplitSeq(header.Get("X-Oauth-Scopes"), ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			scopes = append(scopes, scope)
		}
	}
	return me, scopes, nil
}

// checkSocket asks for a connection without opening it.
func checkSocket(ctx context.Context, cfg Config) error {
	got, _, err := ask(ctx, cfg, "apps.connections.open", cfg.AppToken)
	switch {
	case err != nil:
		return err
	case !got.OK:
		return fmt.Errorf("Slack refuses SLACK_APP_TOKEN (%s): %w; it begins with xapp-, has the scope connections:write and stands under \"Basic Information\"; "+
			"Socket Mode must be on", got.Error, bot.ErrRefused)
	case got.URL == "":
		return errors.New("Slack offers no socket: switch Socket Mode on in the app's settings")
	}
	return nil
}

// lacking are the scopes of the manifest that are not among those given.
func lacking(given []string) []string {
	if given == nil {
		return nil
	}
	return slices.DeleteFunc(Scopes(), func(scope string) bool { return slices.Contains(given, scope) })
}

func ask(ctx context.Context, cfg Config, method, token string) (got identity, header http.Header, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, cfg.APIURL+method, http.NoBody)
	if err != nil {
		return got, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := cfg.Client.Do(r)
	if err != nil {
		return got, nil, fmt.Errorf("Slack cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return got, nil, fmt.Errorf("%s answers with status %d: try again later", method, resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&got); err != nil {
		return got, nil, fmt.Errorf("%s answers with something else than JSON; is SLACK_API_URL right? %w", method, err)
	}
	return got, resp.Header, nil
}
