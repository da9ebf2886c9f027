package redis

// The list of runs.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
)

// Runs implements agent.Archive: one round trip for what is there, and one for
// every page of runs.
func (s *Store) Runs(ctx context.Context) ([]agent.RunInfo, error) {
	line := s.client.Pipeline()
	clock := line.Time(ctx)
	ids := make([]*redis.StringSliceCmd, len(s.tags))
	dues := make([]*redis.ZSliceCmd, len(s.tags))
	for shard := range s.tags {
		ids[shard] = line.ZRange(ctx, s.runs(shard), 0, -1)
		dues[shard] = line.ZRangeWithScores(ctx, s.due(shard), 0, -1)
	}
	if _, err := line.Exec(ctx); err != nil {
		return nil, s.explain(ctx, "list runs", err)
	}
	l := listing{now: clock.Val().UnixMicro(), scores: map[string][]score{}}
	var all []agent.RunInfo
	for shard := range s.tags {
		l.add(dues[shard].Val())
		for some := range slices.Chunk(ids[shard].Val(), page) {
			infos, err := s.runInfos(ctx, l, some)
			if err != nil {
				return nil, s.explain(ctx, "list runs", err)
			}
			all = append(all, infos...)
		}
	}
	slices.SortStableFunc(all, func(a, b agent.RunInfo) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Run, b.Run))
	})
	return all, nil
}

// runInfos asks for some runs in one round trip. A run that expired meanwhile is
// left out.
func (s *Store) runInfos(ctx context.Context, l listing, ids []string) ([]agent.RunInfo, error) {
	line := s.client.Pipeline()
	replies := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		replies[i] = line.HMGet(ctx, s.run(agent.RunID(id)), l.fields(id)...)
	}
	if _, err := line.Exec(ctx); err != nil {
		return nil, err
	}
	var infos []agent.RunInfo
	for i, reply := range replies {
		info, found, err := l.info(ids[i], reply.Val())
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", ids[i], err)
		}
		if found {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// listing is what is on the clock: by run, the strands but the voice with their
// scores, which are in µs of the server's clock.
type listing struct {
	now    int64
	scores map[string][]score
}

type score struct {
	strand string
	at     int64
}

func (l listing) add(found []redis.Z) {
	for _, z := range found {
		member, _ := z.Member.(string)
		if run, strand, ok := strings.Cut(member, "/"); ok && strand != string(agent.Voice) {
			l.scores[run] = append(l.scores[run], score{strand: strand, at: int64(z.Score)})
		}
	}
}

// fields are those of a run's hash that a RunInfo is made of. A strand on the
// clock is asked whether it is leased: its score is the lease's end then.
func (l listing) fields(run string) []string {
	fields := []string{"head", "started", "ended"}
	for _, at := range l.scores[run] {
		fields = append(fields, "strand:"+at.strand)
	}
	return fields
}

// info reads the values of the fields; found is false for a run that is gone.
func (l listing) info(run string, values []any) (info agent.RunInfo, found bool, err error) {
	head, found := values[0].(string)
	if !found {
		return info, false, nil
	}
	info.Run = agent.RunID(run)
	if info.Length, info.Last, err = parseStampedHead(head); err != nil {
		return info, false, err
	}
	if info.Started, err = parseStamp(values[1]); err != nil {
		return info, false, err
	}
	if info.Ended, err = parseStamp(values[2]); err != nil {
		return info, false, err
	}
	soonest := int64(math.MaxInt64)
	for i, on := range l.scores[run] {
		at := on.at
		if packed, _ := values[3+i].(string); leased(packed) {
			at = min(at, l.now)
		}
		soonest = min(soonest, at)
	}
	if soonest != math.MaxInt64 {
		info.Due = stampTime(soonest)
	}
	return info, true, nil
}

// leased reads the third word of a strand's field (see script/strand.lua).
func leased(packed string) bool {
	words := strings.SplitN(packed, " ", 4)
	return len(words) == 4 && words[2] == "1"
}

// parseStampedHead reads "SEQ AT" of a run's hash.
func parseStampedHead(head string) (length uint64, last time.Time, err error) {
	if length, err = parseHead(head); err != nil {
		return 0, time.Time{}, err
	}
	_, at, _ := strings.Cut(head, " ")
	last, err = parseStamp(at)
	return length, last, err
}

// parseStamp reads a stamp of the run's hash, zero for a field that is not there.
func parseStamp(field any) (time.Time, error) {
	text, ok := field.(string)
	if !ok {
		return time.Time{}, nil
	}
	micro, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("stamp %q: %w", text, agent.ErrDamaged)
	}
	return stampTime(micro), nil
}
