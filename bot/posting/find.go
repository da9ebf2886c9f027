package posting

import (
	"context"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Looking for a post whose answer was lost, so that nothing is posted twice.

// clockSlack is how far the clocks of the store and of a platform may be apart.
const clockSlack = time.Minute

// Find looks whether an earlier attempt of a post was made: at its place, and
// with the requester, who gets what the place does not take.
func (v *Poster) Find(ctx context.Context, r agent.Run, p agent.Post, in agent.ToolIntent) (done bool, result agent.Result, err error) {
	if p.Repeat() == agent.RepeatIdempotent {
		return false, agent.Result{}, nil
	}
	platform, to, err := v.placed(ctx, r, p)
	if errors.Is(err, errElsewhere) || undetermined(err) {
		return false, agent.Result{}, err
	}
	if err != nil {
		return false, agent.Result{}, nil //nolint:nilerr // it had no place to go to: it was not made
	}
	since := r.Started
	if !in.Deadline.IsZero() {
		since = in.Deadline.Add(-v.Deadline(p) - clockSlack)
	}
	posted, found, err := v.look(ctx, platform, r, p, to, since)
	if err != nil || !found {
		return false, agent.Result{}, err
	}
	return true, agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: shownBy(p, posted).Text()}, nil
}

func (v *Poster) look(ctx context.Context, platform bot.Platform, r agent.Run, p agent.Post, to bot.Address, since time.Time) (bot.Posted, bool, error) {
	if p.Kind == agent.PostUpload {
		filer, can := platform.(bot.Filer)
		if !can {
			return bot.Posted{}, false, nil
		}
		posted, found, err := filer.FindUpload(ctx, to, uploadName(r, p.About), since)
		return posted, found, missing(err)
	}
	key := bot.Key{Run: r.ID, Name: p.Key, Kind: p.Kind}
	posted, found, err := platform.Find(ctx, to, key, since)
	if found || missing(err) != nil || p.Kind == agent.PostScheduled {
		return posted, found, missing(err)
	}
	to, err = requesterOf(ctx, platform, r)
	if err != nil {
		if undetermined(err) {
			return bot.Posted{}, false, err
		}
		return bot.Posted{}, false, nil // nobody there to have been told
	}
	posted, found, err = platform.Find(ctx, to, key, since)
	return posted, found, missing(err)
}
