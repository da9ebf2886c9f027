package redis

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
)

// Runs implements agent.Archive.
func (s *Store) Runs(ctx context.Context) ([]agent.RunInfo, error) {
	var all []agent.RunInfo
	for shard := range s.tags {
		ids, err := s.client.ZRange(ctx, s.runs(shard), 0, -1).Result()
		if err != nil {
			return nil, s.failed(ctx, "list runs", err)
		}
		for some := range slices.Chunk(ids, page) {
			infos, err := s.infos(ctx, some)
			if err != nil {
				return nil, s.failed(ctx, "list runs", err)
			}
			all = append(all, infos...)
		}
	}
	slices.SortStableFunc(all, func(a, b agent.RunInfo) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Run, b.Run))
	})
	return all, nil
}

// infos asks for some runs in one round trip. A run that expired meanwhile is
// left out.
func (s *Store) infos(ctx context.Context, ids []string) ([]agent.RunInfo, error) {
	line := s.client.Pipeline()
	replies := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		replies[i] = line.HMGet(ctx, s.run(agent.RunID(id)), "head", "started", "ended")
	}
	if _, err := line.Exec(ctx); err != nil {
		return nil, err
	}
	var infos []agent.RunInfo
	for i, reply := range replies {
		fields := reply.Val()
		head, ok := fields[0].(string)
		if !ok {
			continue
		}
		length, err := parseHead(head)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", ids[i], err)
		}
		info := agent.RunInfo{Run: agent.RunID(ids[i]), Length: length}
		for field, into := range map[int]*time.Time{1: &info.Started, 2: &info.Ended} {
			text, ok := fields[field].(string)
			if !ok {
				continue
			}
			micro, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("run %s: stamp %q: %w", ids[i], text, agent.ErrDamaged)
			}
			*into = stampTime(micro)
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// Snapshot implements agent.Archive.
func (s *Store) Snapshot(ctx context.Context, run agent.RunID) (uint64, []byte, error) {
	fields, err := s.client.HMGet(ctx, s.snapshot(run), "seq", "data").Result()
	if err != nil {
		return 0, nil, s.failed(ctx, "read the snapshot of run "+string(run), err)
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
		return s.failed(ctx, "keep a snapshot of run "+string(run), err)
	}
	if reply == int64(0) {
		return fmt.Errorf("keep a snapshot of run %s: %w", run, agent.ErrNoRun)
	}
	return nil
}

// Expire implements agent.Archive.
func (s *Store) Expire(ctx context.Context, endedBefore time.Time) (int, error) {
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
			return n, s.failed(ctx, "expire runs", err)
		}
		for _, id := range ids {
			run := agent.RunID(id)
			// First the names: whoever dies in between leaves a run that is expired again.
			if err := s.forget(ctx, run); err != nil {
				return n, s.failed(ctx, "expire run "+id, err)
			}
			reply, err := s.pipe.run(ctx, &call{
				script: dropScript, args: []any{id, before},
				keys: []string{s.ended(shard), s.runs(shard), s.due(shard), s.run(run), s.journal(run), s.snapshot(run), s.spent(run)},
			})
			if err != nil {
				return n, s.failed(ctx, "expire run "+id, err)
			}
			if reply == int64(1) {
				n++
			}
		}
	}
	return n, nil
}

// PutBlob implements agent.Archive.
func (s *Store) PutBlob(ctx context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	err := s.client.SetArgs(ctx, blobKey(hash), data, redis.SetArgs{Mode: "NX"}).Err()
	if err != nil && !errors.Is(err, redis.Nil) { // Nil: it is there
		return "", s.failed(ctx, "keep artifact "+hash, err)
	}
	return hash, nil
}

// Blob implements agent.Archive.
func (s *Store) Blob(ctx context.Context, hash string) ([]byte, error) {
	data, err := s.client.Get(ctx, blobKey(hash)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("artifact %s: %w", hash, agent.ErrNoBlob)
	}
	if err != nil {
		return nil, s.failed(ctx, "read artifact "+hash, err)
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
		return 0, s.failed(ctx, "read counter "+counter, err)
	}
	return n, nil
}
