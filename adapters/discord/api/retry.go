package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

// Discord answers most calls at the first attempt. What is repeated here is only
// what changes nothing when it happens twice, or what did not happen at all.
const (
	// ReadRepeats is how often a read is repeated where Discord does not answer.
	ReadRepeats = 2
	readPause   = 100 * time.Millisecond

	retryAttempts = 6
	// FirstPause is the shortest pause between two attempts.
	FirstPause = 50 * time.Millisecond
)

// Read asks for something. Where Discord does not answer it asks again, after a
// growing pause.
func (c *Client) Read(ctx context.Context, endpoint string, out any) error {
	for n := 0; ; n++ {
		once, cancel := context.WithTimeout(ctx, c.timeout)
		err := c.Call(once, http.MethodGet, endpoint, nil, out)
		cancel()
		if err == nil || n == ReadRepeats || !Unanswered(err) || !wait.Sleep(ctx, readPause<<n) {
			return err
		}
	}
}

// Retry does a call again while Discord is busy or does not know of the first
// response yet: one that went over HTTP is on its way still. What is harmless
// to repeat is repeated also where no answer came.
func Retry(ctx context.Context, harmless bool, call func() error) error {
	pause := FirstPause
	for attempt := 1; ; attempt++ {
		err := call()
		if err == nil {
			return nil
		}
		pauseAsked, again := Wait(err)
		if code := Code(err); code == discordgo.ErrCodeUnknownWebhook || code == discordgo.ErrCodeUnknownMessage || harmless && Unanswered(err) {
			pauseAsked, again = pause, true
			pause *= 2
		}
		if !again || attempt == retryAttempts || !wait.Sleep(ctx, pauseAsked) {
			return err
		}
	}
}

// Wait is how long Discord asks to wait.
func Wait(err error) (time.Duration, bool) {
	var busy *bot.BusyError
	if !errors.As(err, &busy) {
		return 0, false
	}
	return max(busy.After, FirstPause), true
}
