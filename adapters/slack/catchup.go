package slack

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// overlap is how far before the last good moment is read again: the time of the
// connection is saved now and then only.
const overlap = time.Minute

// stamps are Slack's timestamps as positions: microseconds.
var stamps = ingest.Positions{
	Write: func(us int64) string { return wire.StampOf(time.UnixMicro(us)) },
	Read: func(ts string) int64 {
		if at := wire.TimeOf(ts); !at.IsZero() {
			return at.UnixMicro()
		}
		return 0
	},
}

// marksName is the name under which a store keeps how far the channels were read.
func (s *Slack) marksName() string { return "seen/" + Platform + ":" + s.Team }

// markOf is where a message stands in its channel.
func markOf(u *wire.Update) ingest.Mark {
	return ingest.Mark{Place: u.Channel, At: stamps.Read(u.TS), Lane: u.Keys()[0]}
}

// catchUp reads every channel since it was read last, and hears what concerns
// the bot in the order in which it was said. Where nothing is known of earlier
// times, there is nothing to catch up.
func (s *Slack) catchUp(ctx, late context.Context, hear bot.Hear) error {
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
		Hear:  func(u *wire.Update) error { return s.hearMissed(late, hear, began, u) },
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
func (s *Slack) hearMissed(late context.Context, hear bot.Hear, began time.Time, u *wire.Update) error {
	u.Again = true
	u.In.Missed = u.In.At.Before(began)
	var answer bot.Answer
	err := s.in.HearMissed(late, markOf(u), s.hearing(hear, u, &answer))
	if err != nil {
		return fmt.Errorf("write down what was said at %s: %w", u.In.Message, err)
	}
	s.answer(late, u, answer)
	return nil
}
