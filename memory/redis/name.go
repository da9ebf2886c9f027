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

// setNames sets names in a script of their own.
func (s *Store) setNames(ctx context.Context, set map[string]string) error {
	args, err := nameArgs(set)
	if err != nil {
		return fmt.Errorf("set names: %w", err)
	}
	if len(args) == 0 {
		return nil
	}
	if _, err := s.pipe.run(ctx, &call{script: setScript, keys: []string{namesKey}, args: args, confirm: true}); err != nil {
		return s.explain(ctx, "set names", err)
	}
	return nil
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
		Key: namesKey, ByLex: true, Start: "[n" + name + "\x00", Stop: "(n" + name + "\x01",
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
	from, until := "[n"+prefix, "("+memory.PrefixEnd("n"+prefix)
	for {
		found, err := s.client.ZRangeArgs(ctx, redis.ZRangeArgs{
			Key: namesKey, ByLex: true, Start: from, Stop: until, Count: page,
		}).Result()
		if err != nil {
			return nil, s.explain(ctx, "list names "+prefix, err)
		}
		for _, entry := range found {
			name, value, err := nameEntry(entry)
			if err != nil {
				return nil, err
			}
			all[name] = value
			from = "(" + entry
		}
		if len(found) < page {
			return all, nil
		}
	}
}

// nameEntry takes an entry apart (see script/name.lua).
func nameEntry(entry string) (name, value string, err error) {
	rest, is := strings.CutPrefix(entry, "n")
	name, value, ok := strings.Cut(rest, "\x00")
	if !is || !ok {
		return "", "", fmt.Errorf("entry %q of %s: %w", entry, namesKey, agent.ErrDamaged)
	}
	return name, value, nil
}

// forgetNames removes the names that go with the run.
func (s *Store) forgetNames(ctx context.Context, run agent.RunID) error {
	prefix := agent.OfRun(run)
	_, err := s.pipe.run(ctx, &call{script: unnameScript, keys: []string{namesKey}, args: []any{string(run), prefix, memory.PrefixEnd(prefix)}})
	return err
}
