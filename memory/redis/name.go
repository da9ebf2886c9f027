package redis

// Names and their values.

import (
	"context"
	"fmt"
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
