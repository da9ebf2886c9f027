package redis

// This file implements most of agent.Archive on Redis: snapshots, artifacts
// and counters, and the removal of runs that ended long ago.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// Snapshot implements agent.Archive.
func (s *Store) Snapshot(ctx context.Context, run agent.RunID) (uint64, []byte, error) {
	fields, err := s.client.HMGet(ctx, s.snapshot(run), "seq", "data").Result()
	if err != nil {
		return 0, nil, s.explain(ctx, "read the snapshot of run "+string(run), err)
	}
	text, ok := fields[0].(string)
	if !ok {
		return 0, nil, nil
	}
	seq, err := strconv.ParseUint(text, 10, 64)
	data, ok := fields[1].(string)
	if err != nil || !ok {
		return 0, nil, fmt.Errorf("snapshot of run %s at %q: %w", run, text, agent.ErrDamaged)
	}
	return seq, []byte(data), nil
}

// KeepSnapshot implements agent.Archive; a run without a journal is ErrNoRun.
func (s *Store) KeepSnapshot(ctx context.Context, run agent.RunID, seq uint64, data []byte) error {
	reply, err := s.pipe.run(ctx, &call{
		script: keepScript, keys: []string{s.run(run), s.snapshot(run)}, args: []any{seq, data},
	})
	if err != nil {
		return s.explain(ctx, "keep a snapshot of run "+string(run), err)
	}
	if reply == int64(0) {
		return fmt.Errorf("keep a snapshot of run %s: %w", run, agent.ErrNoRun)
	}
	return nil
}

// Expire implements agent.Archive. Once-keys and counters expire by themselves.
func (s *Store) Expire(ctx context.Context, endedBefore time.Time) (int, error) {
	n, err := s.expireRuns(ctx, endedBefore)
	if err != nil {
		return n, err
	}
	if err := s.scans.ageOldKeys(ctx, s.server); err != nil {
		return n, s.explain(ctx, "give what an older build kept an age", err)
	}
	return n, nil
}

func (s *Store) expireRuns(ctx context.Context, endedBefore time.Time) (int, error) {
	before := endedBefore.UnixMicro()
	if endedBefore.After(stampTime(before)) {
		before++ // stamps are whole microseconds
	}
	n := 0
	for shard := range s.tags {
		ids, err := s.client.ZRangeArgs(ctx, redis.ZRangeArgs{
			Key: s.ended(shard), ByScore: true, Start: "-inf", Stop: "(" + strconv.FormatInt(before, 10),
		}).Result()
		if err != nil {
			return n, s.explain(ctx, "expire runs", err)
		}
		for _, id := range ids {
			run := agent.RunID(id)
			// First the names: whoever dies in between leaves a run that is expired again.
			if err := s.forgetNames(ctx, run); err != nil {
				return n, s.explain(ctx, "expire run "+id, err)
			}
			reply, err := s.pipe.run(ctx, &call{
				script: dropScript, args: []any{id, before},
				keys: []string{s.ended(shard), s.runs(shard), s.due(shard), s.run(run), s.journal(run), s.snapshot(run), s.spent(run), s.live(shard), s.artifacts(run)},
			})
			if err != nil {
				return n, s.explain(ctx, "expire run "+id, err)
			}
			if reply == int64(1) {
				n++
			}
		}
	}
	return n, nil
}

// oldBlobKept is how long an artifact is kept where replicas of an older build
// look for it, which may take over the run's strands during an upgrade.
const oldBlobKept = time.Hour

// PutBlob implements agent.Archive. A run's artifacts are one hash in the run's
// slot: they go with it.
func (s *Store) PutBlob(ctx context.Context, run agent.RunID, data []byte) (string, error) {
	hash := memory.BlobHash(data)
	kept, err := s.pipe.number(ctx, &call{
		script: artifactScript, keys: []string{s.run(run), s.artifacts(run)}, args: []any{hash, data}, confirm: true,
	})
	if err == nil && kept == 1 && !s.cluster { // there no older build works beside this one (see move.go)
		err = s.client.SetArgs(ctx, blobKey(hash), data, redis.SetArgs{Mode: "NX", TTL: oldBlobKept}).Err()
	}
	switch {
	case err != nil && !errors.Is(err, redis.Nil): // Nil: it is there
		return "", s.explain(ctx, "keep artifact "+hash, err)
	case kept == 0:
		return "", fmt.Errorf("keep artifact %s of run %s: %w", hash, run, agent.ErrNoRun)
	}
	return hash, nil
}

// Blob implements agent.Archive. What is not among the artifacts of a run that
// exists was kept by an older build.
func (s *Store) Blob(ctx context.Context, run agent.RunID, hash string) ([]byte, error) {
	data, err := s.client.HGet(ctx, s.artifacts(run), hash).Bytes()
	if errors.Is(err, redis.Nil) {
		var known int64
		if known, err = s.client.Exists(ctx, s.run(run)).Result(); err == nil && known == 1 {
			data, err = s.client.Get(ctx, blobKey(hash)).Bytes()
		} else if err == nil {
			err = redis.Nil
		}
	}
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("artifact %s: %w", hash, agent.ErrNoBlob)
	}
	if err != nil {
		return nil, s.explain(ctx, "read artifact "+hash, err)
	}
	return data, nil
}

// Spent implements agent.Archive.
func (s *Store) Spent(ctx context.Context, counter string) (int64, error) {
	key, field := s.counter(counter)
	var reply *redis.StringCmd
	if field == "" {
		reply = s.client.Get(ctx, key)
	} else {
		reply = s.client.HGet(ctx, key, field)
	}
	n, err := reply.Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, s.explain(ctx, "read counter "+counter, err)
	}
	return n, nil
}

var _ agent.Trail = (*Store)(nil)

// trail is a store's part that implements agent.Trail.
type trail struct{ of *Store }

// AppendTrail implements agent.Trail: one hash for all shards, as its lines are
// few and their order is that of the store.
func (t trail) AppendTrail(ctx context.Context, after uint64, lines []string) error {
	args := []any{after}
	for _, line := range lines {
		args = append(args, line)
	}
	done, err := t.of.pipe.number(ctx, &call{script: trailScript, keys: []string{trailKey}, args: args, confirm: true})
	if err != nil {
		return t.of.explain(ctx, "append to the trail", err)
	}
	if done == 0 {
		return fmt.Errorf("the trail does not end at line %d: %w", after, agent.ErrStale)
	}
	return nil
}

// TrailEnd implements agent.Trail.
func (t trail) TrailEnd(ctx context.Context) (uint64, error) {
	end, err := t.of.client.HGet(ctx, trailKey, "end").Uint64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, t.of.explain(ctx, "read the trail", err)
	}
	return end, nil
}

// ReadTrail implements agent.Trail.
func (t trail) ReadTrail(ctx context.Context, after uint64, n int) ([]string, error) {
	end, err := t.TrailEnd(ctx)
	if err != nil || after >= end {
		return nil, err
	}
	fields := make([]string, min(uint64(n), end-after))
	for i := range fields {
		fields[i] = strconv.FormatUint(after+uint64(i)+1, 10)
	}
	found, err := t.of.client.HMGet(ctx, trailKey, fields...).Result()
	if err != nil {
		return nil, t.of.explain(ctx, "read the trail", err)
	}
	lines := make([]string, len(found))
	for i, line := range found {
		lines[i], _ = line.(string) // nil: it is missing
	}
	return lines, nil
}

// cutAtOnce is how many lines of the trail are removed by one command.
const cutAtOnce = 1000

// CutTrail implements agent.Trail.
func (t trail) CutTrail(ctx context.Context, upto uint64) error {
	end, err := t.TrailEnd(ctx)
	if err != nil || end == 0 {
		return err
	}
	for from, last := uint64(1), min(upto, end-1); from <= last; from += cutAtOnce {
		var fields []string
		for n := from; n <= min(last, from+cutAtOnce-1); n++ {
			fields = append(fields, strconv.FormatUint(n, 10))
		}
		if err := t.of.client.HDel(ctx, trailKey, fields...).Err(); err != nil {
			return t.of.explain(ctx, "cut the trail", err)
		}
	}
	return nil
}
