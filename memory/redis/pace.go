package redis

// Turns at a pace, and lines in front of endpoints whose limits are shared.

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// farMicro is the last time that a pace reckons with, in µs since 1970 (the year
// 2255): whole numbers in Lua, and waits in nanoseconds, end soon after it.
const farMicro = 9_000_000_000_000_000

// Take implements agent.Archive. Every counts in whole microseconds, rounded
// up. A failover may forget turns that were taken.
func (s *Store) Take(ctx context.Context, p agent.Pace) (time.Duration, error) {
	p.Every = min(p.Every, math.MaxInt64-time.Microsecond) // room to round up
	if rest := p.Every % time.Microsecond; rest > 0 {
		p.Every += time.Microsecond - rest
	}
	slack, err := memory.Slack(p)
	if err != nil {
		return 0, fmt.Errorf("take a turn: %w", err)
	}
	wait, err := s.pipe.number(ctx, &call{
		script: paceScript, keys: s.clocked(paceKey(p.Name)),
		args: []any{p.Every.Microseconds(), slack.Microseconds(), flag(p.Book)},
	})
	if err != nil {
		return 0, s.explain(ctx, "take a turn of "+p.Name, err)
	}
	if wait < 0 || wait > farMicro {
		return 0, errReply
	}
	return time.Duration(wait) * time.Microsecond, nil
}

// clocked adds the key that the store's clock is found by. In a Cluster that is
// in another slot, and the script goes by the server's own clock.
func (k keys) clocked(names ...string) []string {
	if k.slots {
		return names
	}
	return append(names, k.idle(0))
}

// Admit implements agent.Archive. Times count in whole microseconds. A failover
// may forget who waited, and what was taken.
func (s *Store) Admit(ctx context.Context, a agent.Admission) (time.Duration, error) {
	if err := memory.CheckAdmission(a); err != nil {
		return 0, fmt.Errorf("admit a call: %w", err)
	}
	member, class := "", 0
	if a.Strand != "" {
		member = a.Member()
	}
	if a.Background {
		class = 1
	}
	args := []any{member, class, agent.MaxAdmissionWait.Microseconds(), agent.AdmissionGrace.Microseconds(), agent.MaxAdmissionDebt.Microseconds()}
	for _, c := range a.Charges {
		args = append(args, c.Limit, c.Takes.Microseconds(), c.Ahead.Microseconds(), c.Hold.Microseconds())
	}
	key := endpointKey(a.Endpoint)
	wait, err := s.pipe.number(ctx, &call{script: admitScript, keys: s.clocked(key, key+":line"), args: args})
	if err != nil {
		return 0, s.explain(ctx, "admit a call to "+a.Endpoint, err)
	}
	return time.Duration(wait) * time.Microsecond, nil
}
