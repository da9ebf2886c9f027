package slack

// This file says where a message stands in its channel, as what was heard is
// noted and read back: by Slack's timestamps.

import (
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
)

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
