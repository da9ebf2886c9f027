package loop

import (
	"context"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Bounds of what the voice does.
const (
	noPosterPause = time.Second      // of a strand that this process has no voice for
	showTimeout   = 20 * time.Second // of one look after the card
)

// posts makes the voice's posts and looks after the card.
type posts struct{ *turn }

// speak journals the intent of a post; the next move makes it.
func (ps posts) speak(ctx context.Context, view *agent.Run, p agent.Post) error {
	if ps.Poster == nil {
		return ps.rest(ctx, noPosterPause) // somebody with a voice may serve this store too
	}
	wait, err := ps.Poster.May(ctx, *view, p)
	if err != nil {
		ps.Log.Warn("cannot take a turn to post; trying again", "run", view.ID, "post", p.Key, "err", err)
		wait = retryPause
	}
	if wait > 0 {
		return ps.rest(ctx, wait)
	}
	in := p.Intent(ps.deadline(p))
	ps.event(in)
	ps.fresh[in.Effect] = true
	return nil
}

// deadline is when a post's request has certainly ended; what may be repeated
// has none.
func (ps posts) deadline(p agent.Post) time.Time {
	if p.Repeat() == agent.RepeatIdempotent {
		return time.Time{}
	}
	return ps.now().Add(ps.Poster.Deadline(p))
}

// showCard looks after the card and says when the strand is due again. Without a
// lease the card is left alone: the next holder may have shown something newer.
func (ps posts) showCard(ctx context.Context, view *agent.Run, wake time.Time) (due time.Time, err error) {
	again := noPosterPause
	if ps.Poster != nil {
		if !ps.leases.Valid(ps.held) {
			return due, errLeaseGone
		}
		bound, cancel := context.WithTimeout(ctx, showTimeout)
		defer cancel()
		again = ps.Poster.Show(bound, *view)
	}
	if again <= 0 {
		return wake, nil
	}
	if at := ps.now().Add(again); wake.IsZero() || at.Before(wake) {
		return at, nil
	}
	return wake, nil
}

// post is one of the voice's posts in the shape of a tool.
type post struct {
	poster Poster
	run    agent.Run
	what   agent.Post
	in     agent.ToolIntent
}

// Spec bounds the post.
func (p post) Spec() agent.ToolSpec {
	s := agent.ToolSpec{Name: p.in.Tool, Repeat: p.what.Repeat()}
	if s.Repeat != agent.RepeatIdempotent {
		s.Deadline = p.poster.Deadline(p.what)
	}
	return s
}

// Run makes the post.
func (p post) Run(ctx context.Context, c agent.Call) agent.Result {
	return p.poster.Post(ctx, p.run, p.what, c)
}

// Probe looks for it.
func (p post) Probe(ctx context.Context, _ agent.Call) (bool, agent.Result, error) {
	return p.poster.Find(ctx, p.run, p.what, p.in)
}

// errNoPoster hands a post back in a process that has no voice.
var errNoPoster = errors.New("this process has no platform to post to")
