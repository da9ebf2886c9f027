package data

// What a dataset holds, for a model.

import (
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Bounds of a description.
const (
	maxTables = 100
	samples   = 3
)

// Describe tells the tables of a dataset, their columns and schemas, how many rows
// they have and the first ones.
func (s *Set) Describe() (string, error) {
	tables, err := s.Query("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' AND name <> '"+schemaTable+"' ORDER BY name", nil, maxTables)
	if err != nil {
		return "", err
	}
	if len(tables.Values) == 0 {
		return "it has no tables", nil
	}
	var b strings.Builder
	for _, t := range tables.Values {
		name := fmt.Sprint(t[0])
		if err := s.describe(&b, name); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return strings.TrimSpace(b.String()), nil
}

func (s *Set) describe(b *strings.Builder, table string) error {
	n, err := s.Query("SELECT count(*) AS n FROM "+quoted(table), nil, 1)
	if err != nil {
		return err
	}
	columns, err := s.Query("SELECT name, lower(type) AS type FROM pragma_table_info(:name)", map[string]any{"name": table}, maxColumns)
	if err != nil {
		return err
	}
	list := make([]string, len(columns.Values))
	for i, c := range columns.Values {
		list[i] = strings.TrimSpace(fmt.Sprint(c[0], " ", c[1]))
	}
	fmt.Fprintf(b, "table %s (%s): %s\n", table, rowsOf(n), strings.Join(list, ", "))
	if schema := s.Schema(table); schema != nil {
		fmt.Fprintf(b, "  schema of a row: %s\n", format.Cut(string(schema), 2000))
	}
	first, err := s.Query("SELECT * FROM "+quoted(table), nil, samples)
	if err != nil {
		return err
	}
	for _, o := range first.Objects() {
		fmt.Fprintf(b, "  %s\n", format.Cut(string(o), 500))
	}
	return nil
}

func rowsOf(n Rows) string {
	count, _ := n.Values[0][0].(int64)
	return format.Count(int(count), "row")
}
