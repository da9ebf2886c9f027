package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

const postAttempts = 5

// CardPoster is the part of a platform that posts cards and finds them again.
type CardPoster interface {
	Post(ctx context.Context, to bot.Address, card bot.Card) (bot.Posted, error)
	Find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (p bot.Posted, is bool, err error)
}

// PostOnce answers an event with a card, once: where an earlier attempt may have
// arrived it is looked for first, at the beginning too if the event came again.
// After an attempt without an answer it waits for as long as that may take.
func PostOnce(ctx context.Context, p CardPoster, in bot.Inbound, again bool, card bot.Card, answerWithin time.Duration) (err error) {
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
