package slack

import (
	"context"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
)

// seenName is the name under which a store keeps how far the channels were read.
func (s *Slack) seenName() string { return "seen/" + Platform + ":" + s.team }

// stamps are Slack's timestamps as positions: microseconds.
var stamps = ingest.Positions{
	Write: func(us int64) string { return stampOf(time.UnixMicro(us)) },
	Read: func(ts string) int64 {
		if at := timeOf(ts); !at.IsZero() {
			return at.UnixMicro()
		}
		return 0
	},
}

// begin notes that something of a channel arrived.
func (s *Slack) begin(n *notice) { s.in.marks.Begin(n.channel, stamps.Read(n.ts)) }

// end notes that it is written down, or is not.
func (s *Slack) end(n *notice, ok bool) { s.in.marks.End(n.channel, stamps.Read(n.ts), ok) }

// skip notes what there is nothing to hear in.
func (s *Slack) skip(n *notice) { s.in.marks.Skip(n.channel, stamps.Read(n.ts)) }

// keepMarks saves the marks every few seconds.
func (s *Slack) keepMarks(ctx context.Context) {
	for ingest.Sleep(ctx, s.in.times.save) {
		s.saveMarks(ctx, s.connected())
	}
}

// saveMarks writes down how far was read, and when all was well.
func (s *Slack) saveMarks(ctx context.Context, connected bool) {
	online := int64(0)
	if connected {
		online = time.Now().UnixMicro()
	}
	if err := s.in.marks.Save(ctx, online); err != nil {
		s.in.quiet.Warn(s.log, "how far was read could not be saved", "error", err)
	}
}
