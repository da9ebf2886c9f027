package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// Check looks whether the tokens are good, whether the app has every scope
// that the manifest asks for, and whether Slack offers a socket. It says what
// it found in one line, or what is missing and what to do.
func Check(ctx context.Context, cfg Config) (string, error) {
	cfg = cfg.withDefaults()
	web := api.Web(cfg.api(nil))
	me, err := web.AuthTestContext(ctx)
	if code := api.CodeOf(err); code != "" {
		return "", fmt.Errorf("Slack refuses SLACK_BOT_TOKEN (%s): %w; it begins with xoxb- and stands under \"OAuth & Permissions\"", code, bot.ErrRefused)
	}
	if err != nil {
		return "", unanswered("auth.test", err)
	}
	if missing := lacking(me.Header.Get("X-Oauth-Scopes")); len(missing) > 0 {
		return "", fmt.Errorf("the app in %s lacks the scopes %s: add them under \"OAuth & Permissions\" "+
			"(or paste `deckhand manifest slack` again) and install the app anew", me.Team, strings.Join(missing, ", "))
	}
	how := "events over HTTP (/slack/events)"
	if cfg.AppToken != "" {
		if err := checkSocket(ctx, web); err != nil {
			return "", err
		}
		how = "Socket Mode"
	}
	found := fmt.Sprintf("@%s in %s, all %d scopes, %s", me.User, me.Team, len(Scopes()), how)
	if _, err := web.GetUserInfoContext(ctx, me.UserID); api.CodeOf(err) != "" {
		found += fmt.Sprintf("; warning: this Slack does not say who people are (users.info: %s), so nobody counts as a full member: "+
			"name those who may start runs under authority.start", api.CodeOf(err))
	}
	return found, nil
}

// lacking are the scopes of the manifest that are not among those given, none
// where Slack does not tell.
func lacking(given string) []string {
	if strings.TrimSpace(given) == "" {
		return nil
	}
	has := strings.FieldsFunc(given, func(r rune) bool { return r == ',' || r == ' ' })
	return slices.DeleteFunc(Scopes(), func(scope string) bool { return slices.Contains(has, scope) })
}

// checkSocket asks for a connection without opening it.
func checkSocket(ctx context.Context, web *slackapi.Client) error {
	_, url, err := web.StartSocketModeContext(ctx)
	code := api.CodeOf(err)
	switch {
	case code != "":
		return fmt.Errorf("Slack refuses SLACK_APP_TOKEN (%s): %w; it begins with xapp-, has the scope connections:write and stands under \"Basic Information\"; "+
			"Socket Mode must be on", code, bot.ErrRefused)
	case err != nil:
		return unanswered("apps.connections.open", err)
	case url == "":
		return errors.New("Slack offers no socket: switch Socket Mode on in the app's settings")
	}
	return nil
}

// unanswered is a question that Slack gave no answer of its own kind to.
func unanswered(method string, err error) error {
	if _, limited := errors.AsType[*slackapi.RateLimitedError](err); limited {
		return fmt.Errorf("%s answers with status %d: try again later", method, http.StatusTooManyRequests)
	}
	if status, is := errors.AsType[slackapi.StatusCodeError](err); is {
		return fmt.Errorf("%s answers with status %d: try again later", method, status.Code)
	}
	if _, is := errors.AsType[*json.SyntaxError](err); is {
		return fmt.Errorf("%s answers with something else than JSON; is SLACK_API_URL right? %w", method, err)
	}
	return fmt.Errorf("Slack cannot be reached: %w", err)
}
