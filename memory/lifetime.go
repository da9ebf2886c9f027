package memory

// How long a store knows what belongs to no run.

import "time"

// The lifetimes. AttemptKept: the attempt id of a fact; the same commit sent
// again later is a new one. OnceKept: a once-key, which is longer than any
// platform sends a message again. CounterKept: a counter that is no run's own,
// since it last changed; those are of a month, and are looked at in that month.
const (
	AttemptKept = 24 * time.Hour
	OnceKept    = 8 * 24 * time.Hour
	CounterKept = 62 * 24 * time.Hour
)
