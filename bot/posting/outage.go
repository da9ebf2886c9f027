package posting

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Places that take nothing: who is told, and that they are back.

// tellAgain is how long this process keeps to itself that a place is still away.
const tellAgain = time.Minute

// outages are the places that took nothing of this process's.
type outages struct {
	places Places
	mu     sync.Mutex
	since  map[string]time.Time // told last, by place
}

// noteEdited notes whether the place of a message took an edit: a message's own
// address may name its thread for a channel.
func (v *Poster) noteEdited(ctx context.Context, r agent.Run, key string, err error) {
	if at, noPlace := bot.ParseAddress(r.Shown[key].Thread); noPlace == nil {
		v.noteReach(ctx, at, err)
	}
}

// noteReach notes whether the place took what was posted or edited there.
func (v *Poster) noteReach(ctx context.Context, at bot.Address, err error) {
	o := &v.outages
	if o.places == nil || err != nil && !errors.Is(err, bot.ErrBarred) {
		return
	}
	place, now := at.Place(), time.Now()
	o.mu.Lock()
	told, away := o.since[place]
	switch {
	case err == nil:
		delete(o.since, place)
	case away && now.Sub(told) < tellAgain:
		o.mu.Unlock()
		return
	default:
		if o.since == nil {
			o.since = map[string]time.Time{}
		}
		o.since[place] = now
	}
	o.mu.Unlock()
	if err != nil {
		o.places.Away(ctx, at, err)
		return
	}
	if away {
		err = o.places.Back(ctx, at)
	}
	if err != nil {
		v.log.Warn("others are not told that a place takes posts again; they find out by themselves", "place", place, "err", err)
	}
}
