package redis

// The list of runs.

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// Runs implements agent.Archive: one round trip for what is there, and one for
// every page of runs that are listed; both again where runs end meanwhile and a
// bounded list would be short of others.
func (s *Store) Runs(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error) {
	all, err := lists{s}.all(ctx, f)
	if err != nil {
		return nil, s.explain(ctx, "list runs", err)
	}
	return all, nil
}

// lists reads what lists of runs are made of.
type lists struct{ *Store }

// spareRuns is how many more runs are looked at, at first, where those of a
// bounded list leave it while it is made.
const spareRuns = 16

func (s lists) all(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error) {
	wider := f
	for spare := spareRuns; ; spare *= spareRuns {
		looked, all, err := s.some(ctx, wider)
		if err != nil {
			return nil, err
		}
		// What began, ended or expired meanwhile is listed as it is now; others
		// may stand behind those that left.
		all = slices.DeleteFunc(all, func(r agent.RunInfo) bool { return !f.Holds(r) })
		if f.Most > 0 && f.Only == nil && len(all) < f.Most && looked == wider.Most {
			wider.Most = f.Most + spare
			continue
		}
		slices.SortStableFunc(all, func(a, b agent.RunInfo) int { return compareRuns(f, a, b) })
		all = slices.CompactFunc(all, func(a, b agent.RunInfo) bool { return a.Run == b.Run })
		if f.Most > 0 {
			all = all[:min(f.Most, len(all))]
		}
		return all, nil
	}
}

// some reads the runs that the filter may list; looked says how many those were.
func (s lists) some(ctx context.Context, f agent.RunFilter) (looked int, all []agent.RunInfo, err error) {
	l, ids, err := s.candidates(ctx, f)
	if err != nil {
		return 0, nil, err
	}
	for some := range slices.Chunk(ids, page) {
		infos, err := s.runInfos(ctx, l, some)
		if err != nil {
			return 0, nil, err
		}
		all = append(all, infos...)
	}
	return len(ids), all, nil
}

// compareRuns is the order of a list.
func compareRuns(f agent.RunFilter, a, b agent.RunInfo) int {
	if !f.EndedAfter.IsZero() && (!a.Ended.IsZero() || !b.Ended.IsZero()) {
		if a.Ended.IsZero() {
			return -1
		}
		if b.Ended.IsZero() {
			return 1
		}
		return cmp.Or(b.Ended.Compare(a.Ended), cmp.Compare(a.Run, b.Run))
	}
	return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Run, b.Run))
}

// candidates finds out which runs the filter may list, in the list's order as
// far as that decides which ones, and what is on the clock.
func (s lists) candidates(ctx context.Context, f agent.RunFilter) (listing, []string, error) {
	var live []redis.Z
	if f.Only == nil && (f.Live || !f.EndedAfter.IsZero()) {
		var err error
		if _, live, err = s.liveRuns(ctx, f.Most); err != nil {
			return listing{}, nil, err
		}
	}
	now, err := s.Now(ctx)
	if err != nil {
		return listing{}, nil, err
	}
	line := s.client.Pipeline()
	dues, more := make([]*redis.ZSliceCmd, len(s.tags)), make([]*redis.ZSliceCmd, len(s.tags))
	for shard := range s.tags {
		dues[shard] = line.ZRangeWithScores(ctx, s.due(shard), 0, -1)
		switch {
		case f.Only != nil || f.Live:
		case f.EndedAfter.IsZero():
			more[shard] = line.ZRevRangeWithScores(ctx, s.runs(shard), 0, int64(f.Most)-1)
		default:
			more[shard] = line.ZRevRangeByScoreWithScores(ctx, s.ended(shard), &redis.ZRangeBy{Max: "+inf", Min: endedAfter(f), Count: int64(f.Most)})
		}
	}
	if _, err := line.Exec(ctx); err != nil {
		return listing{}, nil, err
	}
	l := listing{now: now.UnixMicro(), scores: map[string][]score{}}
	var found []redis.Z
	for shard := range s.tags {
		l.add(dues[shard].Val())
		if more[shard] != nil {
			found = append(found, more[shard].Val()...)
		}
	}
	if f.Only != nil {
		return l, bounded(idTexts(f.Only), f.Most), nil
	}
	return l, bounded(append(newest(live), newest(found)...), f.Most), nil
}

// endedAfter is the least score of runs that the filter lists though they ended.
func endedAfter(f agent.RunFilter) string {
	return "(" + strconv.FormatInt(f.EndedAfter.UnixMicro(), 10)
}

// newest are the members with the highest scores, the highest first.
func newest(found []redis.Z) []string {
	slices.SortStableFunc(found, func(a, b redis.Z) int { return cmp.Compare(b.Score, a.Score) })
	list := make([]string, 0, len(found))
	for _, z := range found {
		id, _ := z.Member.(string)
		list = append(list, id)
	}
	return list
}

func bounded(list []string, most int) []string {
	if most > 0 && len(list) > most {
		return list[:most]
	}
	return list
}

func idTexts(runs []agent.RunID) []string {
	list := make([]string, len(runs))
	for i, run := range runs {
		list[i] = string(run)
	}
	return list
}

// CountRuns implements agent.Archive.
func (s *Store) CountRuns(ctx context.Context, f agent.RunFilter) (n int, err error) {
	if f.Live || !f.EndedAfter.IsZero() {
		n, _, err = lists{s}.liveRuns(ctx, -1)
		if err != nil {
			return 0, s.explain(ctx, "count runs", err)
		}
	}
	if f.Live {
		return n, nil
	}
	line := s.client.Pipeline()
	counts := make([]*redis.IntCmd, len(s.tags))
	for shard := range s.tags {
		if f.EndedAfter.IsZero() {
			counts[shard] = line.ZCard(ctx, s.runs(shard))
		} else {
			counts[shard] = line.ZCount(ctx, s.ended(shard), endedAfter(f), "+inf")
		}
	}
	if _, err := line.Exec(ctx); err != nil {
		return 0, s.explain(ctx, "count runs", err)
	}
	for _, c := range counts {
		n += int(c.Val())
	}
	return n, nil
}

// liveRuns counts the live runs, and finds the newest of each shard: so many (0:
// all, -1: none).
func (s lists) liveRuns(ctx context.Context, most int) (n int, found []redis.Z, err error) {
	var calls []*call
	for shard := range s.tags {
		if shard == 0 || s.slots {
			calls = append(calls, &call{script: liveScript, args: []any{most}})
		}
		c := calls[len(calls)-1]
		c.keys = append(c.keys, s.runs(shard), s.ended(shard), s.live(shard))
	}
	replies, errs := make([]any, len(calls)), make([]error, len(calls))
	var group sync.WaitGroup
	for i, c := range calls {
		group.Go(func() {
			errs[i] = guard.Do(s.log, "a list of runs", func() (err error) {
				replies[i], err = s.pipe.run(ctx, c)
				return err
			})
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, nil, err
	}
	for _, reply := range replies {
		list, _ := reply.([]any)
		for i := 1; i < len(list); i += 2 {
			count, known := list[i-1].(int64)
			members, both := list[i].([]any)
			if !known || !both {
				return 0, nil, errReply
			}
			n += int(count)
			for m := 1; m < len(members); m += 2 {
				text, _ := members[m].(string)
				score, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return 0, nil, errReply
				}
				found = append(found, redis.Z{Member: members[m-1], Score: score})
			}
		}
	}
	return n, found, nil
}

// runInfos asks for some runs in one round trip. A run that expired meanwhile is
// left out. One whose hash is damaged is listed with what can be read: its
// journal cannot, which whoever looks after the runs says of it.
func (s lists) runInfos(ctx context.Context, l listing, ids []string) ([]agent.RunInfo, error) {
	line := s.client.Pipeline()
	replies := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		replies[i] = line.HMGet(ctx, s.run(agent.RunID(id)), l.fields(id)...)
	}
	_, _ = line.Exec(ctx) // each command carries its own error
	var infos []agent.RunInfo
	for i, reply := range replies {
		err := reply.Err()
		if err != nil && !lasts(err) {
			return nil, err
		}
		if err != nil { // a key of another type
			infos = append(infos, agent.RunInfo{Run: agent.RunID(ids[i])})
		} else if info, found := l.info(ids[i], reply.Val()); found {
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
// What is damaged stays zero.
func (l listing) info(run string, values []any) (info agent.RunInfo, found bool) {
	head, found := values[0].(string)
	if !found {
		return info, false
	}
	newest, _ := parseReceipt(head)
	info = agent.RunInfo{Run: agent.RunID(run), Length: newest.Seq, Last: newest.At, Started: parseStamp(values[1]), Ended: parseStamp(values[2])}
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
	return info, true
}

// leased reads the third word of a strand's field (see script/strand.lua).
func leased(packed string) bool {
	words := strings.SplitN(packed, " ", 4)
	return len(words) == 4 && words[2] == "1"
}

// parseStamp reads a stamp of the run's hash, zero for a field that is not there
// or is none.
func parseStamp(field any) time.Time {
	text, _ := field.(string)
	micro, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return stampTime(micro)
}
