package data

// One dataset in memory.

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite" // the driver "sqlite"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Bounds of a dataset and of what is done with it.
const (
	MaxBytes  = 64 << 20 // of a dataset
	MaxRows   = 1000     // that a query returns
	maxResult = 256 << 10
	maxCell   = 1 << 20 // bytes of one value
	maxTime   = 10 * time.Second
	atOnce    = 4 // datasets open in this process; others wait
)

// The numbers of sqlite3_limit.
const (
	limitLength   = 0
	limitAttached = 7
)

// ErrDataset is wrapped by what goes wrong with a dataset; its text is for a model.
var ErrDataset = errors.New("the dataset")

// slots bound how many datasets are in memory at once.
var slots = make(chan struct{}, atOnce)

// Set is a dataset open in memory. It is used from one goroutine, and closed.
type Set struct {
	db   *sql.DB
	conn *sql.Conn
	end  context.CancelFunc
	ctx  context.Context //nolint:containedctx // the time that all of its work may take
}

// Open opens a dataset from its image, empty: a new one. All that is done with it
// may take 10 s.
func Open(ctx context.Context, image []byte) (*Set, error) {
	if len(image) > MaxBytes {
		return nil, fmt.Errorf("%w has %d MiB, at most %d MiB are opened", ErrDataset, len(image)>>20, MaxBytes>>20)
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s, err := open(ctx, image)
	if err != nil {
		<-slots
		return nil, fmt.Errorf("%w cannot be opened: %w", ErrDataset, err)
	}
	return s, nil
}

func open(ctx context.Context, image []byte) (*Set, error) {
	db, err := sql.Open("sqlite", ":memory:?_defensive=1")
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithTimeout(ctx, maxTime)
	s := &Set{db: db, ctx: ctx, end: end}
	if s.conn, err = db.Conn(ctx); err == nil {
		err = s.fill(ctx, image)
	}
	if err != nil {
		s.end()
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// fill puts the image into the database and shuts all ways out of it.
func (s *Set) fill(ctx context.Context, image []byte) error {
	if len(image) > 0 {
		image = rollbackJournal(image)
		err := s.conn.Raw(func(c any) error {
			d, can := c.(interface{ Deserialize(image []byte) error })
			if !can {
				return errors.New("this build's driver takes no images")
			}
			return d.Deserialize(image)
		})
		if err != nil {
			return err
		}
	}
	var size int64
	if err := s.conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size); err != nil {
		return err
	}
	pages := strconv.FormatInt(MaxBytes/max(size, 512), 10)
	for _, p := range []string{"trusted_schema=OFF", "secure_delete=ON", "max_page_count=" + pages, "temp.max_page_count=" + pages} {
		if _, err := s.conn.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	_, e1 := sqlite.Limit(s.conn, limitAttached, 0) // no other file
	_, e2 := sqlite.Limit(s.conn, limitLength, maxCell)
	if len(image) > 0 { // it is one only if it can be read
		_, e3 := s.conn.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema")
		return errors.Join(e1, e2, e3)
	}
	return errors.Join(e1, e2)
}

// rollbackJournal is an image that says nothing of a write-ahead log: memory has
// none.
func rollbackJournal(image []byte) []byte {
	if len(image) > 100 && (image[18] == 2 || image[19] == 2) {
		image = bytes.Clone(image)
		image[18], image[19] = 1, 1
	}
	return image
}

// Close forgets the dataset.
func (s *Set) Close() error {
	s.end()
	err := errors.Join(s.conn.Close(), s.db.Close())
	<-slots
	return err
}

// Image is the dataset as a file holds it.
func (s *Set) Image() (image []byte, err error) {
	err = s.conn.Raw(func(c any) error {
		d, can := c.(interface{ Serialize() ([]byte, error) })
		if !can {
			return errors.New("this build's driver gives no images")
		}
		image, err = d.Serialize()
		return err
	})
	if err == nil && len(image) > MaxBytes {
		return nil, fmt.Errorf("%w would have %d MiB, at most %d MiB are kept", ErrDataset, len(image)>>20, MaxBytes>>20)
	}
	return image, err
}

// Exec runs statements that change the dataset. Arguments are named, ":name".
func (s *Set) Exec(statement string, args map[string]any) (changed int64, err error) {
	r, err := s.conn.ExecContext(s.ctx, statement, s.bind(args)...)
	if err != nil {
		return 0, s.explain(err)
	}
	n, err := r.RowsAffected()
	return n, err
}

// Keep takes out of the dataset what the person may not see: of each table that has
// a rule (a condition in SQL with :person) the rows for which it does not hold. The
// rules see the whole dataset.
func (s *Set) Keep(rules map[string]string, person string) error {
	tables := slices.Sorted(maps.Keys(rules))
	who := sql.Named("person", person)
	for i, t := range tables {
		_, err := s.conn.ExecContext(s.ctx, fmt.Sprintf("CREATE TEMP TABLE keep_%d AS SELECT rowid AS r FROM main.%s WHERE (%s)", i, quoted(t), rules[t]), who)
		if err != nil {
			return fmt.Errorf("the rule for rows of %s: %w", t, s.explain(err))
		}
	}
	for i, t := range tables {
		_, err := s.conn.ExecContext(s.ctx, fmt.Sprintf("DELETE FROM main.%s WHERE rowid NOT IN (SELECT r FROM temp.keep_%d)", quoted(t), i))
		if err == nil {
			_, err = s.conn.ExecContext(s.ctx, fmt.Sprintf("DROP TABLE temp.keep_%d", i))
		}
		if err != nil {
			return fmt.Errorf("the rule for rows of %s: %w", t, s.explain(err))
		}
	}
	return nil
}

// Rows are what a query gave.
type Rows struct {
	Columns []string
	Values  [][]any // of nil, int64, float64, string
	More    bool    // there are more than were asked for
}

// resultTable holds what a query gave: making it can be ended at any time, which
// reading rows one by one cannot.
const resultTable = `temp."deckhand result"`

// Query runs one SELECT and returns at most so many rows, 0: 1,000. Arguments are
// named, ":name".
func (s *Set) Query(query string, args map[string]any, limit int) (Rows, error) {
	if limit <= 0 || limit > MaxRows {
		limit = MaxRows
	}
	query = strings.TrimRight(strings.TrimSpace(query), "; \n\t")
	_, err := s.conn.ExecContext(s.ctx, fmt.Sprintf("CREATE TEMP TABLE \"deckhand result\" AS SELECT * FROM (\n%s\n) LIMIT %d", query, limit+1), s.bind(args)...)
	if err != nil {
		return Rows{}, s.explain(err)
	}
	found, err := s.read(limit)
	if _, e := s.conn.ExecContext(s.ctx, "DROP TABLE "+resultTable); err == nil && e != nil {
		err = s.explain(e)
	}
	return found, err
}

func (s *Set) read(limit int) (found Rows, err error) {
	rows, err := s.conn.QueryContext(s.ctx, "SELECT * FROM "+resultTable)
	if err != nil {
		return found, s.explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if found.Columns, err = rows.Columns(); err != nil {
		return found, err
	}
	for rows.Next() {
		if len(found.Values) == limit {
			found.More = true
			break
		}
		row, into := make([]any, len(found.Columns)), make([]any, len(found.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return found, err
		}
		for i := range row {
			row[i] = plain(row[i])
		}
		found.Values = append(found.Values, row)
	}
	return found, rows.Err()
}

// plain is a value as JSON knows it.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		return fmt.Sprintf("(%d bytes)", len(v))
	case time.Time:
		return v.Format(time.RFC3339)
	case string:
		return strings.ToValidUTF8(v, "�")
	}
	return v
}

// number keeps of a float what 64 bits hold surely: 0.1 + 0.2 is 0.3.
func number(f float64) json.RawMessage {
	text := strconv.FormatFloat(f, 'g', 15, 64)
	if !json.Valid([]byte(text)) { // NaN, infinite
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// Objects are the rows as JSON objects, the columns in their order.
func (r Rows) Objects() []json.RawMessage {
	list := make([]json.RawMessage, len(r.Values))
	for i, row := range r.Values {
		var b bytes.Buffer
		b.WriteByte('{')
		for k, v := range row {
			if k > 0 {
				b.WriteByte(',')
			}
			if f, is := v.(float64); is {
				v = number(f)
			}
			name, _ := format.JSON(r.Columns[k]) // a text
			value, err := format.JSON(v)
			if err != nil {
				value = []byte("null")
			}
			b.Write(name)
			b.WriteByte(':')
			b.Write(value)
		}
		b.WriteByte('}')
		list[i] = b.Bytes()
	}
	return list
}

// Text is the rows for a model: an object a line.
func (r Rows) Text() string {
	if len(r.Values) == 0 {
		return "no rows"
	}
	var b strings.Builder
	for i, o := range r.Objects() {
		if b.Len()+len(o) > maxResult {
			fmt.Fprintf(&b, "(cut: %d of %s shown; ask for fewer columns or rows)", i, format.Count(len(r.Values), "row"))
			return b.String()
		}
		b.Write(o)
		b.WriteByte('\n')
	}
	if r.More {
		fmt.Fprintf(&b, "(there are more than these %s; narrow the query, sum up, or use LIMIT and OFFSET)", format.Count(len(r.Values), "row"))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// bind makes named arguments of values as JSON knows them.
func (s *Set) bind(args map[string]any) []any {
	list := make([]any, 0, len(args))
	for name, v := range args {
		list = append(list, sql.Named(name, cell(v)))
	}
	return list
}

// explain is an error of SQLite as a model can act on it.
func (s *Set) explain(err error) error {
	text := err.Error()
	if s.ctx.Err() != nil {
		return fmt.Errorf("the query was ended: it took longer than %s", maxTime)
	}
	text = strings.TrimPrefix(text, "SQL logic error: ")
	for _, code := range []string{" (1)", " (19)"} {
		text = strings.TrimSuffix(text, code)
	}
	return errors.New(text)
}

// quoted is a name as SQL has it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
