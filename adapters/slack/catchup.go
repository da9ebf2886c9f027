package slack

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
)

// overlap is how far before the last good moment is read again: the time of the
// connection is saved now and then only.
const overlap = time.Minute

// catchUp reads every channel since it was read last, and hears what concerns
// the bot in the order in which it was said. Where nothing is known of earlier
// times, there is nothing to catch up.
func (s *Slack) catchUp(ctx, late context.Context, h hearer) error {
	began, err := ingest.Now(ctx, s.cfg.Clock)
	if err != nil {
		return err
	}
	s.in.SaveMarks(ctx, false)
	b := &backlog{Slack: s, began: began}
	channels, err := b.channels(ctx)
	if err != nil || len(channels) == 0 {
		return err
	}
	if err := b.addThreads(ctx, channels); err != nil {
		return err
	}
	parts := make([]*part, len(channels))
	for i, c := range channels {
		parts[i] = &part{channelBacklog: c, after: c.oldest}
	}
	return ingest.Replay[*part, *wire.Update]{
		Read:  func(p *part) ([]*wire.Update, []*part, error) { return b.read(ctx, p) },
		Order: inOrder,
		Hear:  func(u *wire.Update) error { return s.hearMissed(late, h, began, u) },
		Done:  b.done,
	}.All(ctx, parts)
}

// inOrder are messages in the order in which they were said, each once.
func inOrder(found []*wire.Update) []*wire.Update {
	slices.SortStableFunc(found, func(a, b *wire.Update) int { return a.In.At.Compare(b.In.At) })
	return slices.CompactFunc(found, func(a, b *wire.Update) bool { return a.In.Message == b.In.Message })
}

// hearMissed hears a message that was found. What was said since the bot is
// back is not missed: it only came another way.
func (s *Slack) hearMissed(late context.Context, h hearer, began time.Time, u *wire.Update) error {
	u.Again = true
	u.In.Missed = u.In.At.Before(began)
	r := response{Slack: s, u: u}
	if err := s.in.HearMissed(late, markOf(u), h.hearing(u, &r.answer)); err != nil {
		return fmt.Errorf("write down what was said at %s: %w", u.In.Message, err)
	}
	r.give(late)
	return nil
}
