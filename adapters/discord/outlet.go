package discord

import "sync/atomic"

// outlet is the state of the showing side: what Discord was found not to take,
// for as long as the process lives.
type outlet struct {
	plain atomic.Bool // no components of the new kind: embeds instead
}

func (o *outlet) open() { o.plain.Store(false) }
