package memory

// How far ahead of its time a turn at a pace may be taken.

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// ErrPace is a pace that no store can keep.
var ErrPace = errors.New("not a pace")

// Slack returns how far ahead of its time a turn at the pace may be taken:
// (Burst - 1 - Leave) * Every, where a Burst below 1 counts as 1 and Leave is
// at least 0 and at most Burst - 1. A pace without a name or with a negative
// Every is ErrPace; one whose Every is 0 never waits.
//
// Both stores use the generic cell rate algorithm (GCRA; the I.371 rule of the
// ITU, as a virtual schedule). Of a name they keep the time at which all turns
// that were taken will have been earned, or now where that has passed. A turn
// is free when this time is no further ahead than the slack, else it is free
// after the rest; and each turn taken adds Every to it.
func Slack(p agent.Pace) (time.Duration, error) {
	switch {
	case p.Name == "":
		return 0, fmt.Errorf("%w: it has no name", ErrPace)
	case p.Every < 0:
		return 0, fmt.Errorf("%w: %s has a turn each %v: write 0 or more", ErrPace, p.Name, p.Every)
	}
	burst := max(p.Burst, 1)
	early := int64(burst - 1 - min(max(p.Leave, 0), burst-1))
	if p.Every > 0 && early > math.MaxInt64/int64(p.Every) {
		return math.MaxInt64, nil
	}
	return time.Duration(early) * p.Every, nil
}
