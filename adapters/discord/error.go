package discord

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// Pauses where Discord names none.
const (
	busyPause = 5 * time.Second
	lostPause = 2 * time.Second
	longPause = time.Minute
)

// failed is what became of a call: nil, a *bot.BusyError, bot.ErrGone,
// bot.ErrRefused, bot.ErrLost, or another error for what was refused for good.
// A read that got no answer is an ErrLost too: it may be asked again.
func (d *Discord) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if known(err) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if refusal, is := errors.AsType[*discordgo.RESTError](err); is {
		return told(what, refusal)
	}
	if dialled, is := errors.AsType[*net.OpError](err); is && dialled.Op == "dial" && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: Discord cannot be reached (%w): %w", what, dialled, &bot.BusyError{After: lostPause})
	}
	if errors.Is(err, errTooMany) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %w", what, bot.ErrLost, err)
}

// known reports whether an error says already what it means.
func known(err error) bool {
	_, waits := errors.AsType[*bot.BusyError](err)
	return waits || errors.Is(err, bot.ErrGone) || errors.Is(err, bot.ErrLost) || errors.Is(err, bot.ErrRefused)
}

// unanswered reports whether Discord gave no answer that means anything.
func unanswered(err error) bool {
	if known(err) || errors.Is(err, context.Canceled) {
		return false
	}
	refusal, is := errors.AsType[*discordgo.RESTError](err)
	return !is || refusal.Response.StatusCode >= http.StatusInternalServerError
}

// told is a refusal in Discord's own words.
func told(what string, refusal *discordgo.RESTError) error {
	code, why, status := 0, http.StatusText(refusal.Response.StatusCode), refusal.Response.StatusCode
	if refusal.Message != nil {
		code = refusal.Message.Code
		if refusal.Message.Message != "" {
			why = refusal.Message.Message
		}
	}
	switch outcomes[code] {
	case gone:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrGone, why, code)
	case refused:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrRefused, why, code)
	case busy:
		return fmt.Errorf("%s: %w (%s, %d)", what, &bot.BusyError{After: busyPause}, why, code)
	case later:
		return fmt.Errorf("%s: %w (%s, %d)", what, &bot.BusyError{After: longPause}, why, code)
	case final:
	}
	switch {
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrLost, why, status)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%s: %w (%s; look at DISCORD_TOKEN)", what, bot.ErrRefused, why)
	case status == http.StatusForbidden, status == http.StatusNotFound:
		return fmt.Errorf("%s: %w (%s, %d)", what, bot.ErrGone, why, code)
	}
	return fmt.Errorf("%s: Discord refuses it (%s): %w", what, reasonsOf(refusal), refusal)
}

// outcome is what an error of Discord's means for what was asked.
type outcome int

const (
	final   outcome = iota // refused for good: nothing happened
	gone                   // the place is not there for the bot
	refused                // the bot is refused
	busy                   // nothing happened; again soon
	later                  // nothing happened; again in a while
)

// outcomes are the numbers of Discord's that mean more than that a call was
// wrong: docs.discord.com, "Opcodes and status codes", "JSON error codes".
var outcomes = map[int]outcome{
	10003: gone, 10004: gone, 10008: gone, 10013: gone, // unknown channel, server, message, person
	20009: gone, 40333: later, // explicit content; Cloudflare
	50001: gone, 50007: gone, 50008: gone, 50009: gone, 50013: gone, // no access, no direct messages, no texts, verification, no permission
	50021: gone, 50005: gone, 50024: gone, 50033: gone, 50055: gone, 50083: gone, 50278: gone, // system message, another's, kind of channel, recipient, server, archive, no server in common
	160002: gone, 160005: gone, // no history to reply to; locked

	40001: refused, 40002: refused, 50014: refused, // unauthorized, unverified, token

	20016: busy, 20022: busy, 20028: busy, 20029: busy, 40062: busy, 40004: later, 130000: busy, // slow mode and limits of writing
	30046: later, 160006: later, 160007: later, // too many edits of an old message; too many threads
}
