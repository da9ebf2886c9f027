package data

// Tables by JSON Schemas, and rows put into them.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// schemaTable keeps the schema of each table in the dataset itself.
const schemaTable = "_schema"

// tableName is what a table may be called.
var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// shape is a table's schema, read.
type shape struct {
	columns  []string
	types    map[string]string
	required map[string]bool
	check    *jsonschema.Resolved
}

// readShape reads the JSON Schema of a table's rows.
func readShape(raw json.RawMessage) (shape, []string, error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Key        []string        `json:"x-key"` // columns that no two rows have alike
		Required   []string        `json:"required"`
	}
	var whole jsonschema.Schema
	if err := errors.Join(json.Unmarshal(raw, &s), json.Unmarshal(raw, &whole)); err != nil {
		return shape{}, nil, fmt.Errorf("it is no JSON Schema: %w", err)
	}
	sh := shape{columns: keysOf(s.Properties), types: map[string]string{}, required: map[string]bool{}}
	if whole.Type != "object" || len(sh.columns) == 0 {
		return shape{}, nil, errors.New(`the schema of a row is {"type": "object", "properties": {COLUMN: {"type": …}}}`)
	}
	if len(sh.columns) > maxColumns {
		return shape{}, nil, fmt.Errorf("it has %d columns, at most %d are kept", len(sh.columns), maxColumns)
	}
	for name, p := range whole.Properties {
		sh.types[name] = p.Type
	}
	for _, name := range s.Required {
		sh.required[name] = true
	}
	for _, name := range append(s.Key, s.Required...) {
		if !slices.Contains(sh.columns, name) {
			return shape{}, nil, fmt.Errorf("%q is no column of it", name)
		}
	}
	whole.ID, whole.Schema = "", ""
	var err error
	sh.check, err = whole.Resolve(nil)
	return sh, s.Key, err
}

// Create makes a table for rows of the JSON Schema. Columns named by "x-key" are
// its key.
func (s *Set) Create(table string, schema json.RawMessage) error {
	if !tableName.MatchString(table) {
		return fmt.Errorf("a table may not be called %q: a letter, then letters, digits and _", table)
	}
	sh, key, err := readShape(schema)
	if err != nil {
		return fmt.Errorf("the table %s: %w", table, err)
	}
	var parts []string
	for _, c := range sh.columns {
		column := quoted(c) + " " + map[string]string{"integer": "INTEGER", "boolean": "INTEGER", "number": "REAL", "string": "TEXT", "array": "TEXT", "object": "TEXT"}[sh.types[c]]
		if sh.required[c] {
			column += " NOT NULL"
		}
		parts = append(parts, column)
	}
	if len(key) > 0 {
		names := make([]string, len(key))
		for i, k := range key {
			names[i] = quoted(k)
		}
		parts = append(parts, "PRIMARY KEY ("+strings.Join(names, ", ")+")")
	}
	if _, err := s.Exec("CREATE TABLE IF NOT EXISTS "+schemaTable+" (name TEXT PRIMARY KEY, schema TEXT)", nil); err != nil {
		return err
	}
	if _, err := s.Exec("CREATE TABLE "+quoted(table)+" ("+strings.Join(parts, ", ")+")", nil); err != nil {
		return fmt.Errorf("the table %s: %w", table, err)
	}
	_, err = s.Exec("INSERT INTO "+schemaTable+" VALUES (:name, :schema)", map[string]any{"name": table, "schema": string(schema)})
	return err
}

// Schema is the schema that a table was made by, nil: none is known.
func (s *Set) Schema(table string) json.RawMessage {
	r, err := s.Query("SELECT schema FROM "+schemaTable+" WHERE name = :name", map[string]any{"name": table}, 1)
	if err != nil || len(r.Values) == 0 {
		return nil
	}
	text, _ := r.Values[0][0].(string)
	return json.RawMessage(text)
}

// Has reports whether there is a table of the name.
func (s *Set) Has(table string) (bool, error) {
	r, err := s.Query("SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = :name COLLATE NOCASE", map[string]any{"name": table}, 1)
	return len(r.Values) > 0, err
}

// Insert puts rows into a table, all or none. A row that does not fit the table's
// schema is named.
func (s *Set) Insert(table string, rows []Row) error {
	columns, sh, err := s.columns(table)
	if err != nil {
		return err
	}
	names, marks := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], marks[i] = quoted(c), "?"
	}
	tx, err := s.conn.BeginTx(s.ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing once it is committed

	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quoted(table), strings.Join(names, ", "), strings.Join(marks, ", ")) //nolint:gosec // names are quoted
	insert, err := tx.PrepareContext(s.ctx, statement)
	if err != nil {
		return s.explain(err)
	}
	defer func() { _ = insert.Close() }()
	for i, row := range rows {
		if err := fits(row, columns, sh); err != nil {
			return fmt.Errorf("row %d of %s: %w", i+1, table, err)
		}
		values := make([]any, len(columns))
		for k, c := range columns {
			values[k] = cell(row[c])
		}
		if _, err := insert.ExecContext(s.ctx, values...); err != nil {
			return fmt.Errorf("row %d of %s: %w", i+1, table, s.explain(err))
		}
	}
	return tx.Commit()
}

// columns are the columns of a table, with its schema where one is known.
func (s *Set) columns(table string) ([]string, shape, error) {
	r, err := s.Query("SELECT name FROM pragma_table_info(:name)", map[string]any{"name": table}, maxColumns)
	if err != nil {
		return nil, shape{}, err
	}
	list := make([]string, len(r.Values))
	for i, v := range r.Values {
		list[i] = fmt.Sprint(v[0])
	}
	if len(list) == 0 {
		return nil, shape{}, fmt.Errorf("there is no table %s", table)
	}
	var sh shape
	if raw := s.Schema(table); raw != nil {
		if sh, _, err = readShape(raw); err != nil {
			return nil, shape{}, err
		}
	}
	return list, sh, nil
}

// fits says what of a row its table cannot take.
func fits(row Row, columns []string, sh shape) error {
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("there is no column %q%s", name, near(name, columns))
		}
	}
	if sh.check == nil {
		return nil
	}
	value := make(map[string]any, len(row))
	for name, v := range row {
		if v == nil && !sh.required[name] {
			continue
		}
		if n, is := v.(json.Number); is {
			if f, err := n.Float64(); err == nil {
				v = f
			}
		}
		if n, is := v.(int64); is {
			v = float64(n)
		}
		value[name] = v
	}
	if err := sh.check.Validate(value); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "validating root: ", ""))
	}
	return nil
}

func near(name string, known []string) string {
	if n := format.Nearest(name, known, 3); n != "" {
		return fmt.Sprintf(", did you mean %q?", n)
	}
	return ""
}
