package redis

// What the release before wrote on a Cluster, where all names were in one key
// and once-keys in slots of their own, is taken over at the first start.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
)

const (
	moverKey = metaKey + ":mover" // string: somebody moves the names; expires
	moveTime = time.Minute
	// oldHold is how long the release before held a once-key that it had not
	// used yet. What it had used is kept longer.
	oldHold = time.Minute
	// silence is how long no worker may have been heard before names are moved,
	// where that is more than two leases.
	silence = 30 * time.Second
)

// mover knows where the release before kept things on a Cluster.
type mover struct{ *Store }

// takeOver moves the names of layout 1 into their shards. A replica of the
// release before reads and writes them at the old place only, and no order of
// writes keeps two places in step: while one works, the store is refused. It
// refuses the new layout itself, from its next start on.
func (s mover) takeOver(ctx context.Context) error {
	meta, err := s.client.HGetAll(ctx, metaKey).Result()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	if meta["layout"] == clusterLayout && meta["moving"] == "" {
		if moved, err := strconv.ParseInt(meta["moved"], 10, 64); err == nil {
			s.oldOnce = time.Now().Add(onceTTL - now.Sub(stampTime(moved)))
		}
		return nil
	}
	if meta["layout"] == layout {
		if err := s.silent(ctx, now); err != nil {
			return err
		}
	}
	got, err := s.client.SetArgs(ctx, moverKey, now.UnixMicro(), redis.SetArgs{Mode: "NX", TTL: moveTime}).Result()
	if errors.Is(err, redis.Nil) || err == nil && got != "OK" {
		return fmt.Errorf("%w: %s: another replica moves its names to layout %s just now; start this one again in a minute", ErrLayout, s.address, clusterLayout)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	if err := s.client.HSet(ctx, metaKey, "layout", clusterLayout, "moving", "1", "moved", now.UnixMicro()).Err(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	if err := s.moveNames(ctx); err != nil {
		return fmt.Errorf("%w: %s: moving its names to layout %s stopped and goes on at the next start: %w", ErrLayout, s.address, clusterLayout, err)
	}
	s.oldOnce = time.Now().Add(onceTTL)
	return nil
}

// silent returns ErrLayout where a worker was heard a short while ago.
func (s mover) silent(ctx context.Context, now time.Time) error {
	least := max(silence, 2*s.lease)
	for shard := range s.tags {
		stamp, err := s.client.Get(ctx, s.alive(shard)).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
		}
		heard, err := parseHead(stamp) // "SEEN BACK"
		if err != nil {
			return fmt.Errorf("%w: %s: %s is damaged: %w", ErrLayout, s.address, s.alive(shard), err)
		}
		if ago := now.Sub(stampTime(int64(heard))); ago < least {
			return fmt.Errorf("%w: %s has layout %s, and a replica of the release that wrote it was heard %s ago; stop all replicas of that release, then start this one after %s",
				ErrLayout, s.address, layout, ago.Round(time.Second), least)
		}
	}
	return nil
}

// moveNames copies names to their shards where they have no value there, and
// then removes the old ones. It may be repeated.
func (s mover) moveNames(ctx context.Context) error {
	old := map[string]string{}
	if err := s.listNames(ctx, namesKey, "", old); err != nil {
		return err
	}
	for name, value := range old {
		there, err := s.Value(ctx, name)
		if err == nil && there == "" {
			err = s.setNames(ctx, map[string]string{name: value})
		}
		if err != nil {
			return err
		}
	}
	if err := s.client.Unlink(ctx, namesKey).Err(); err != nil {
		return err
	}
	if err := s.client.HDel(ctx, metaKey, "moving").Err(); err != nil {
		return err
	}
	return s.client.Del(ctx, moverKey).Err()
}

// usedBefore returns ErrSeen for a once-key that the release before has used,
// as long as such keys are kept.
func (s mover) usedBefore(ctx context.Context, once []string) error {
	if len(once) == 0 || time.Now().After(s.oldOnce) {
		return nil
	}
	line := s.client.Pipeline()
	left := make([]*redis.DurationCmd, len(once))
	for i, name := range once {
		left[i] = line.PTTL(ctx, oldOnceKey(name))
	}
	if _, err := line.Exec(ctx); err != nil {
		return s.explain(ctx, "look for once-keys of the release before", err)
	}
	for _, reply := range left {
		switch ttl := reply.Val(); {
		case ttl > oldHold:
			return agent.ErrSeen
		case ttl > 0:
			return agent.ErrBusy
		}
	}
	return nil
}
