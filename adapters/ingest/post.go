package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

const postAttempts = 5

// PostOnce answers an event with a card, once: where an earlier attempt may have
// arrived it is looked for first, at the beginning too if the event came again.
// After an attempt without an answer it waits for as long as that may take.
func PostOnce(ctx context.Context, p bot.Platform, in bot.Inbound, again bool, card bot.Card, answerWithin time.Duration) (err error) {
	look := again
	for range postAttempts {
		var found bool
		if err = nil; look {
			_, found, err = p.Find(ctx, in.Where, card.Key, in.At)
		}
		if err == nil && !found {
			_, err = p.Post(ctx, in.Where, card)
		}
		if err == nil {
			return nil
		}
		pause := answerWithin
		busy, is := errors.AsType[*bot.BusyError](err)
		switch {
		case is:
			pause = busy.After
		case errors.Is(err, bot.ErrLost):
			look = true
		default:
			return err
		}
		if !wait.Sleep(ctx, pause) {
			return err
		}
	}
	return err
}
