package redis

// What an older build kept for ever gets an age.

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/memory"
)

const (
	// oldArtifactKept is how long an artifact is kept that an older build wrote
	// and that is on no run's list. Only a run that lives needs one.
	oldArtifactKept = 100 * 24 * time.Hour
	// Each call of Expire looks at about scanSteps * scanCount keys of a server,
	// and the next one goes on where it stopped.
	scanSteps = 200
	scanCount = 1000
)

// scans is how far the keys of each server were looked through.
type scans struct {
	sync.Mutex
	at map[string]uint64
}

// ageOldKeys looks through a part of the keys for artifacts and counters without
// an end and gives them one. Replicas of an older build that run beside this
// one write more of them.
func (s *scans) ageOldKeys(ctx context.Context, of server) error {
	cluster, is := of.client.(*redis.ClusterClient)
	if !is {
		return s.ageKeysOf(ctx, of.client, of.address)
	}
	return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		return s.ageKeysOf(ctx, master, master.Options().Addr)
	})
}

func (s *scans) ageKeysOf(ctx context.Context, client redis.Cmdable, address string) error {
	s.Lock()
	at := s.at[address]
	s.Unlock()
	for range scanSteps {
		// One pattern for both kinds: deckhand:blob:… and deckhand:{counter/…
		keys, next, err := client.Scan(ctx, at, "deckhand:[b{][lc]o*", scanCount).Result()
		if err != nil {
			return err
		}
		if err := giveEnds(ctx, client, keys); err != nil {
			return err
		}
		if at = next; at == 0 {
			break
		}
	}
	s.Lock()
	defer s.Unlock()
	s.at[address] = at
	return nil
}

// giveEnds gives the keys among these that have no end their age.
func giveEnds(ctx context.Context, client redis.Cmdable, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	line := client.Pipeline()
	for _, key := range keys {
		switch {
		case strings.HasPrefix(key, blobKey("")):
			line.ExpireNX(ctx, key, oldArtifactKept)
		case strings.HasPrefix(key, counterKey):
			line.ExpireNX(ctx, key, memory.CounterKept)
		}
	}
	if line.Len() == 0 {
		return nil
	}
	_, err := line.Exec(ctx)
	return err
}
