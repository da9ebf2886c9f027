package api

// This file translates Discord's refusals and network failures into the
// errors of the chat contract, so that callers know what to retry and what to
// give up.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// Pauses where Discord names none.
const (
	BusyPause = 5 * time.Second
	LostPause = 2 * time.Second
	LongPause = time.Minute
)

// Failed is what became of a call: nil, a *bot.BusyError, bot.ErrGone,
// bot.ErrBarred, bot.ErrRefused, bot.ErrLost, or another error for what was refused for good.
// A read that got no answer is an ErrLost too: it may be asked again.
func Failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if known(err) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if refusal, is := errors.AsType[*discordgo.RESTError](err); is {
		return refusedBy(what, refusal)
	}
	if dialled, is := errors.AsType[*net.OpError](err); is && dialled.Op == "dial" && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: Discord cannot be reached (%w): %w", what, dialled, &bot.BusyError{After: LostPause})
	}
	if errors.Is(err, errTooMany) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %w", what, bot.ErrLost, err)
}

// known reports whether an error says already what it means.
func known(err error) bool {
	_, waits := errors.AsType[*bot.BusyError](err)
	return waits || errors.Is(err, bot.ErrGone) || errors.Is(err, bot.ErrBarred) || errors.Is(err, bot.ErrLost) || errors.Is(err, bot.ErrRefused)
}

// Unanswered reports whether Discord gave no answer that means anything.
func Unanswered(err error) bool {
	if known(err) || errors.Is(err, context.Canceled) {
		return false
	}
	refusal, is := errors.AsType[*discordgo.RESTError](err)
	return !is || refusal.Response.StatusCode >= http.StatusInternalServerError
}

// refusedBy is a refusal in Discord's own words.
func refusedBy(what string, refusal *discordgo.RESTError) error {
	code, why, status := 0, http.StatusText(refusal.Response.StatusCode), refusal.Response.StatusCode
	if refusal.Message != nil {
		code = refusal.Message.Code
		if refusal.Message.Message != "" {
			why = refusal.Message.Message
		}
	}
	switch meanings[code] {
	case gone:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrGone, why, code)
	case barred:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrBarred, why, code)
	case refused:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrRefused, why, code)
	case busy:
		return fmt.Errorf("%s: %w (%s, %d)", what, &bot.BusyError{After: BusyPause}, why, code)
	case later:
		return fmt.Errorf("%s: %w (%s, %d)", what, &bot.BusyError{After: LongPause}, why, code)
	case final:
	}
	switch {
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrLost, why, status)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%s: %w (%s; look at DISCORD_TOKEN)", what, bot.ErrRefused, why)
	case status == http.StatusForbidden:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrBarred, why, code)
	case status == http.StatusNotFound:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrGone, why, code)
	}
	return fmt.Errorf("%s: Discord refuses it (%s): %w", what, Reasons(refusal), refusal)
}

// meaning is what an error of Discord's says about what was asked.
type meaning int

const (
	final   meaning = iota // refused for good: nothing happened
	gone                   // the place is certainly no more, or none to post in
	barred                 // the bot may not post there now, and may be let in again
	refused                // the bot is refused
	busy                   // nothing happened; again soon
	later                  // nothing happened; again in a while
)

// meanings are the numbers of Discord's that mean more than that a call was
// wrong: docs.discord.com, "Opcodes and status codes", "JSON error codes".
var meanings = map[int]meaning{
	10003: gone, 10008: gone, 10013: gone, // unknown channel, message, person
	20009: gone, 40333: later, // explicit content; Cloudflare
	50008: gone, 50021: gone, 50005: gone, 50024: gone, 50033: gone, // no texts, system message, another's, kind of channel, recipient

	10004: barred, 50055: barred, 50278: barred, // unknown server, unverified, none in common
	50001: barred, 50013: barred, 50007: barred, 50009: barred, // no access, no permission, no direct messages, verification
	50083: barred, 160005: barred, 160002: barred, // archive; locked; no history to reply to

	40001: refused, 40002: refused, 50014: refused, // unauthorized, unverified, token

	20016: busy, 20022: busy, 20028: busy, 20029: busy, 40062: busy, 40004: later, 130000: busy, // slow mode and limits of writing
	30046: later, 160006: later, 160007: later, // too many edits of an old message; too many threads
}

// Code is the number with which Discord refused a call, 0 for every other error.
func Code(err error) int {
	if refused, is := errors.AsType[*discordgo.RESTError](err); is && refused.Message != nil {
		return refused.Message.Code
	}
	return 0
}

// Status is the HTTP status with which Discord refused a call, 0 for every other error.
func Status(err error) int {
	if refused, is := errors.AsType[*discordgo.RESTError](err); is && refused.Response != nil {
		return refused.Response.StatusCode
	}
	return 0
}

const maxReasons = 2000 // characters of what Discord says

// Reasons is what Discord says about a refusal.
func Reasons(err error) string {
	refused, is := errors.AsType[*discordgo.RESTError](err)
	if !is {
		return ""
	}
	text := string(refused.ResponseBody)
	if utf8.RuneCountInString(text) > maxReasons {
		text = strings.TrimRight(string([]rune(text)[:maxReasons-1]), " \n") + "…"
	}
	return text
}

// NoMessages reports whether a call was refused because the channel holds no
// messages by itself: a forum.
func NoMessages(err error) bool {
	code := Code(err)
	return code == discordgo.ErrCodeCannotSendMessagesInVoiceChannel || code == discordgo.ErrCodeCannotExecuteActionOnThisChannelType
}

// TokenRefused reports whether Discord refuses the bot's token.
func TokenRefused(err error) bool {
	return Status(err) == http.StatusUnauthorized && Code(err) != discordgo.ErrCodeInvalidWebhookTokenProvided
}

// RefusedToken is the refusal for whoever runs the bot.
func RefusedToken(err error) error {
	return fmt.Errorf("DISCORD_TOKEN is refused (status %d): %w; reset the token on the application's page \"Bot\" and set the new one", Status(err), bot.ErrRefused)
}
