package redis

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Rights are the commands that the store's user needs.
var Rights = rights

// Mine lets the client of a store panic in its next round trips, as often as
// that is still to happen.
func Mine(s *Store, left *atomic.Int32) { s.client.AddHook(mine{left}) }

type mine struct{ left *atomic.Int32 }

func (m mine) DialHook(next redis.DialHook) redis.DialHook { return next }

func (m mine) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (m mine) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if m.left.Add(-1) >= 0 {
			panic("a round trip")
		}
		return next(ctx, cmds)
	}
}
