package sqlite

// Names and their values.

import (
	"context"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// setName sets one name. An empty value removes it.
func (t *txn) setName(ctx context.Context, row nameRow) error {
	if row.value == "" {
		_, err := t.exec(ctx, dropName, row.name)
		return err
	}
	_, err := t.exec(ctx, putName, row.name, row.value)
	return err
}

// NewRun implements agent.Store: everything is in one place.
func (s *Store) NewRun(string) agent.RunID { return agent.RunID(agent.NewID()) }

// SetValue gives a name a value; see agent.Archive. Guests may.
func (s *Store) SetValue(ctx context.Context, name, value string) error {
	if err := memory.CheckName(name, value); err != nil {
		return fmt.Errorf("set a name: %w", err)
	}
	err := s.writer.do(ctx, false, func(ctx context.Context, t *txn) error {
		return t.setName(ctx, nameRow{name, value})
	})
	return s.explain("set name "+name, err)
}

// Value returns the newest value of a name, empty if it has none.
func (s *Store) Value(ctx context.Context, name string) (value string, err error) {
	err = s.find(ctx, "SELECT value FROM names WHERE name = ?", name, &value)
	return value, err
}

// Values lists the names that begin with the prefix, with their values.
func (s *Store) Values(ctx context.Context, prefix string) (map[string]string, error) {
	query, args := findNames(prefix)
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.explain("list names "+prefix, err)
	}
	all, err := collect(rows, func(row *nameRow) error { return rows.Scan(&row.name, &row.value) })
	if err != nil {
		return nil, s.explain("list names "+prefix, err)
	}
	values := make(map[string]string, len(all))
	for _, row := range all {
		values[row.name] = row.value
	}
	return values, nil
}

// findNames asks for a range of names: LIKE and GLOB know characters with a
// meaning of their own, and LIKE no capitals.
func findNames(prefix string) (query string, args []any) {
	query, args = "SELECT name, value FROM names WHERE name >= ?", []any{prefix}
	if end := memory.PrefixEnd(prefix); end != "" {
		query, args = query+" AND name < ?", append(args, end)
	}
	return query, args
}
