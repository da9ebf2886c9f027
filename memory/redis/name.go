package redis

// Names and their values, and records.

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// nameArgs are names as scripts take them, each with its value behind it.
func nameArgs(set map[string]string) ([]any, error) {
	if len(set) == 0 {
		return nil, nil
	}
	args := make([]any, 0, 2*len(set))
	for name, value := range set {
		if err := memory.CheckName(name, value); err != nil {
			return nil, err
		}
		args = append(args, name, value)
	}
	return args, nil
}

// setNames sets names in scripts of their own, one for each shard.
func (s *Store) setNames(ctx context.Context, set map[string]string) error {
	shards := map[string][]any{}
	for name, value := range set {
		args, err := nameArgs(map[string]string{name: value})
		if err != nil {
			return fmt.Errorf("set names: %w", err)
		}
		key := s.names(s.nameShard(name))
		shards[key] = append(shards[key], args...)
	}
	for key, args := range shards {
		if _, err := s.pipe.run(ctx, &call{script: setScript, keys: []string{key}, args: args, confirm: true}); err != nil {
			return s.explain(ctx, "set names", err)
		}
	}
	return nil
}

// NewRun implements agent.Store: in a Cluster the run is in the shard of the
// anchor, after as many draws on average as there are shards.
func (s *Store) NewRun(anchor string) agent.RunID {
	for {
		run := agent.RunID(agent.NewID())
		if !s.cluster || anchor == "" || s.shard(run) == s.shardOf(anchor) {
			return run
		}
	}
}

// SetValue implements agent.Archive.
func (s *Store) SetValue(ctx context.Context, name, value string) error {
	return s.setNames(ctx, map[string]string{name: value})
}

// Value implements agent.Archive.
func (s *Store) Value(ctx context.Context, name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", nil // no name has a zero byte
	}
	found, err := s.client.ZRangeArgs(ctx, redis.ZRangeArgs{
		Key: s.names(s.nameShard(name)), ByLex: true, Start: "[n" + name + "\x00", Stop: "(n" + name + "\x01",
	}).Result()
	if err != nil {
		return "", s.explain(ctx, "read name "+name, err)
	}
	if len(found) == 0 {
		return "", nil
	}
	_, value, err := nameEntry(found[0])
	return value, err
}

// Values implements agent.Archive. Names that are set while a long list is read
// have their value of before or of after.
func (s *Store) Values(ctx context.Context, prefix string) (map[string]string, error) {
	all := map[string]string{}
	if strings.ContainsRune(prefix, 0) {
		return all, nil // no name has a zero byte
	}
	for _, shard := range s.nameShards(prefix) {
		if err := s.listNames(ctx, s.names(shard), prefix, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listNames adds the names of one key that begin with the prefix.
func (s *Store) listNames(ctx context.Context, key, prefix string, all map[string]string) error {
	from, until := "[n"+prefix, "("+memory.PrefixEnd("n"+prefix)
	for {
		found, err := s.client.ZRangeArgs(ctx, redis.ZRangeArgs{
			Key: key, ByLex: true, Start: from, Stop: until, Count: page,
		}).Result()
		if err != nil {
			return s.explain(ctx, "list names "+prefix, err)
		}
		for _, entry := range found {
			name, value, err := nameEntry(entry)
			if err != nil {
				return err
			}
			all[name] = value
			from = "(" + entry
		}
		if len(found) < page {
			return nil
		}
	}
}

// nameEntry takes an entry apart (see script/name.lua).
func nameEntry(entry string) (name, value string, err error) {
	rest, is := strings.CutPrefix(entry, "n")
	name, value, ok := strings.Cut(rest, "\x00")
	if !is || !ok {
		return "", "", fmt.Errorf("entry %q of names: %w", entry, agent.ErrDamaged)
	}
	return name, value, nil
}

// forgetNames removes the names that go with the run.
func (s *Store) forgetNames(ctx context.Context, run agent.RunID) error {
	prefix := agent.OfRun(run)
	for _, shard := range s.nameShards("") {
		_, err := s.pipe.run(ctx, &call{
			script: unnameScript, keys: []string{s.names(shard)}, args: []any{string(run), prefix, memory.PrefixEnd(prefix)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Records: what is remembered. All are in one slot, so that a write of several
// is one step in a Cluster, too.

// The keys of the records.
//
//	deckhand:{records}:data   hash   the records by id; what was removed is not there
//	deckhand:{records}:order  ZSET   ids by the seq of their last write, the removed ones, too
const (
	recordData  = "deckhand:{records}:data"
	recordOrder = "deckhand:{records}:order"
)

// WriteRecords implements agent.Records.
func (s *Store) WriteRecords(ctx context.Context, writes []agent.RecordWrite) ([]bool, error) {
	if err := memory.CheckRecords(writes); err != nil {
		return nil, fmt.Errorf("write records: %w: %w", agent.ErrPermanent, err)
	}
	if len(writes) == 0 {
		return nil, nil
	}
	args := make([]any, 0, 3*len(writes))
	for _, w := range writes {
		seen := "any"
		if w.Seen != agent.AnyRecord {
			seen = strconv.FormatUint(w.Seen, 10)
		}
		args = append(args, w.ID, seen, w.Data)
	}
	reply, err := s.pipe.run(ctx, &call{script: recordScript, keys: []string{recordData, recordOrder}, args: args, confirm: true})
	if err != nil {
		return nil, s.explain(ctx, "write records", err)
	}
	list, is := reply.([]any)
	if !is || len(list) != len(writes) {
		return nil, fmt.Errorf("write records: the reply is %v: %w", reply, agent.ErrDamaged)
	}
	applied := make([]bool, len(writes))
	for i, did := range list {
		applied[i] = did == int64(1)
	}
	return applied, nil
}

// recordsAtOnce is how many records one round trip reads.
const recordsAtOnce = 1000

// ReadRecords implements agent.Records.
func (s *Store) ReadRecords(ctx context.Context, after uint64, most int) (list []agent.RecordRow, state agent.RecordState, err error) {
	for most <= 0 || len(list) < most {
		count := recordsAtOnce
		if most > 0 {
			count = min(count, most-len(list))
		}
		page, now, err := s.readRecords(ctx, after, count)
		if err != nil {
			return nil, state, s.explain(ctx, "read records", err)
		}
		list, state = append(list, page...), now
		if len(page) < count {
			break
		}
		after = page[len(page)-1].Seq
	}
	return list, state, nil
}

func (s *Store) readRecords(ctx context.Context, after uint64, count int) (list []agent.RecordRow, state agent.RecordState, err error) {
	reply, err := s.pipe.run(ctx, &call{script: recordsScript, keys: []string{recordData, recordOrder}, args: []any{after, count}})
	if err != nil {
		return nil, state, err
	}
	values, is := reply.([]any)
	if !is || len(values) < 2 || len(values)%3 != 2 {
		return nil, state, fmt.Errorf("the reply is %v: %w", reply, agent.ErrDamaged)
	}
	head, err := strconv.ParseUint(fmt.Sprint(values[0]), 10, 64)
	if err != nil {
		return nil, state, fmt.Errorf("%w: %w", agent.ErrDamaged, err)
	}
	live, _ := values[1].(int64)
	state = agent.RecordState{Head: head, Live: int(live)}
	for i := 2; i < len(values); i += 3 {
		row := agent.RecordRow{ID: fmt.Sprint(values[i])}
		if row.Seq, err = strconv.ParseUint(fmt.Sprint(values[i+1]), 10, 64); err != nil {
			return nil, state, fmt.Errorf("%w: %w", agent.ErrDamaged, err)
		}
		if data, is := values[i+2].(string); is && data != "" {
			row.Data = []byte(data)
		}
		list = append(list, row)
	}
	return list, state, nil
}

var _ agent.Records = (*Store)(nil)

var (
	recordScript  = redis.NewScript(recordLua)
	recordsScript = redis.NewScript(recordsLua)
)
