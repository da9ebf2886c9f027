package api

// This file translates Slack's errors into the bot's own: busy, gone,
// refused, or lost. Callers above decide by these whether to try again, so
// the table of Slack's error words stands here, too.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/bot"
)

// Pauses where Slack names none.
const (
	busyPause  = 5 * time.Second
	lostPause  = 2 * time.Second
	limitPause = 30 * time.Second
)

// Failed is what became of a call: nil, a *bot.BusyError, bot.ErrGone,
// bot.ErrBarred, bot.ErrRefused, bot.ErrLost, or another error for what was refused for good.
// A read that got no answer is an ErrLost too: it may be asked again.
func (c *Client) Failed(what string, err error) error {
	c.NoteToken(err)
	if err == nil || known(err) {
		return err
	}
	if limited, is := errors.AsType[*slackapi.RateLimitedError](err); is {
		return fmt.Errorf("%s: %w", what, &bot.BusyError{After: max(limited.RetryAfter, time.Second)})
	}
	if status, is := errors.AsType[slackapi.StatusCodeError](err); is {
		return answered(what, status)
	}
	if code := CodeOf(err); code != "" {
		return told(what, code, err)
	}
	if dialled, is := errors.AsType[*net.OpError](err); is && dialled.Op == "dial" && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: Slack cannot be reached (%w): %w", what, dialled, &bot.BusyError{After: lostPause})
	}
	return fmt.Errorf("%s: %w: %w", what, bot.ErrLost, err)
}

// known reports whether an error says already what it means.
func known(err error) bool {
	_, waits := errors.AsType[*bot.BusyError](err)
	return waits || errors.Is(err, bot.ErrGone) || errors.Is(err, bot.ErrBarred) || errors.Is(err, bot.ErrLost) || errors.Is(err, bot.ErrRefused)
}

// answered is an answer that is not Slack's own kind.
func answered(what string, status slackapi.StatusCodeError) error {
	switch {
	case status.Code == http.StatusTooManyRequests:
		return fmt.Errorf("%s: %w", what, &bot.BusyError{After: limitPause})
	case status.Code >= http.StatusInternalServerError, status.Code == http.StatusRequestTimeout:
		return fmt.Errorf("%s: %w: %w", what, bot.ErrLost, status)
	case status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden:
		return fmt.Errorf("%s: %w: %w", what, bot.ErrRefused, status)
	}
	return fmt.Errorf("%s: %w", what, status)
}

// told is a refusal in Slack's own words.
func told(what, code string, err error) error {
	switch outcomes[code] {
	case gone:
		return fmt.Errorf("%s: %w (%s)", what, bot.ErrGone, code)
	case barred:
		return fmt.Errorf("%s: %w (%s)", what, bot.ErrBarred, code)
	case refused:
		if scope := NeededScope(err); scope != "" {
			return fmt.Errorf("%s: %w (%s: add the scope %s and install the app again)", what, bot.ErrRefused, code, scope)
		}
		return fmt.Errorf("%s: %w (%s)", what, bot.ErrRefused, code)
	case busy:
		return fmt.Errorf("%s: %w (%s)", what, &bot.BusyError{After: busyPause}, code)
	case lost:
		return fmt.Errorf("%s: %w (%s)", what, bot.ErrLost, code)
	case final:
	}
	if TokenRefused(code) {
		return fmt.Errorf("%s: %w (%s)", what, bot.ErrRefused, code)
	}
	return fmt.Errorf("%s: Slack refuses it: %w", what, err)
}

// definite reports whether Slack refused a question for good, although it knows
// the bot: asking again changes nothing.
func definite(err error) bool {
	code := CodeOf(err)
	return code != "" && !TokenRefused(code) && outcomes[code] != busy && outcomes[code] != lost
}

// outcome is what an error of Slack's means for what was asked.
type outcome int

const (
	final   outcome = iota // refused for good: nothing happened
	gone                   // the place is certainly no more, or none to post in
	barred                 // the bot may not post there now, and may be let in again
	refused                // the bot is refused
	busy                   // nothing happened; again later
	lost                   // it may have happened
)

// outcomes are the words of Slack's that mean more than that a call was wrong.
// Those of the methods used here: docs.slack.dev/reference/methods.
var outcomes = map[string]outcome{
	"thread_not_found": gone, "message_not_found": gone, "cant_update_message": gone, "edit_window_closed": gone, "cant_broadcast_message": gone,
	"messages_tab_disabled": gone, "channel_type_not_supported": gone, "is_inactive": gone, "cannot_dm_bot": gone, "user_disabled": gone,
	"user_not_found": gone, "users_not_found": gone, "user_not_visible": gone, "cannot_reply_to_message": gone,
	"slack_connect_canvas_sharing_blocked": gone, "team_not_found": gone, "external_channel_migrating": busy,

	// A private channel that the bot was taken out of is "not found", too.
	"channel_not_found": barred, "not_in_channel": barred, "is_archived": barred,
	"restricted_action": barred, "restricted_action_read_only_channel": barred, "restricted_action_thread_only_channel": barred,
	"restricted_action_non_threadable_channel": barred, "restricted_action_thread_locked": barred,

	"missing_scope": refused, "no_permission": refused, "access_denied": refused, "not_allowed_token_type": refused,
	"ekm_access_denied": refused, "enterprise_is_restricted": refused, "team_access_not_granted": refused,
	"two_factor_setup_required": refused, "accesslimited": refused, "org_login_required": busy,

	"ratelimited": busy, "rate_limited": busy, "message_limit_exceeded": busy, "team_added_to_org": busy,

	"fatal_error": lost, "internal_error": lost, "request_timeout": lost, "service_unavailable": lost,
}

// CodeOf is the word with which Slack refused a call, empty for every other error.
func CodeOf(err error) string {
	refused, _ := errors.AsType[slackapi.SlackErrorResponse](err)
	return refused.Err
}

// NeededScope is the scope that Slack misses, as it says itself.
func NeededScope(err error) string {
	refused, _ := errors.AsType[slackapi.SlackErrorResponse](err)
	return refused.Needed
}

// TokenRefused reports whether the word says that a token is good for nothing.
func TokenRefused(code string) bool {
	switch code {
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type", "app_uninstalled":
		return true
	}
	return false
}

// BlocksRefused reports whether the call failed for what its blocks are.
func BlocksRefused(err error) bool {
	switch CodeOf(err) {
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "block_mismatch":
		return true
	}
	return false
}

// Reasons is what Slack says about a refusal.
func Reasons(err error) string {
	refused, is := errors.AsType[slackapi.SlackErrorResponse](err)
	if !is {
		return ""
	}
	list := slices.Clone(refused.ResponseMetadata.Messages)
	for _, e := range refused.Errors {
		if raw, err := json.Marshal(e); err == nil {
			list = append(list, string(raw))
		}
	}
	return strings.Join(list, "; ")
}
