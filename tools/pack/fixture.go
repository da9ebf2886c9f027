package pack

// The pack's dataset: tables of CSV, JSON and YAML, or a database.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/tools/data"
)

// dataset is what pack.yaml says of the pack's dataset.
type dataset struct {
	// Database is an SQLite file that is read as it is at each call, instead of
	// data/*; relative to the pack.
	Database string `yaml:"database"`
	// Schemas are JSON Schemas of rows by table, where the types of data/* do not
	// say enough.
	Schemas yaml.Node `yaml:"schemas"`
	// Rows are conditions by table: a person sees the rows for which they hold.
	Rows map[string]string `yaml:"rows"`
	// Trust is "untrusted" where texts of strangers are in it.
	Trust string `yaml:"trust"`
}

// table is one table of a fixture.
type table struct {
	name    string
	columns []string
	rows    []data.Row
	file    string
}

// fixture is the dataset of a pack as it begins. It is made when it is first needed.
type fixture struct {
	fsys    fs.FS
	dir     string
	c       dataset
	schemas map[string]json.RawMessage
	made    func() ([]byte, error)
}

func newFixture(fsys fs.FS, dir string, c dataset, schemas map[string]json.RawMessage) *fixture {
	f := &fixture{fsys: fsys, dir: dir, c: c, schemas: schemas}
	f.made = sync.OnceValues(f.build)
	return f
}

// image is the dataset as it begins.
func (f *fixture) image(context.Context) ([]byte, error) {
	if f.c.Database == "" {
		return f.made()
	}
	at := f.c.Database
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.dir, at)
	}
	return readBounded(at, data.MaxBytes)
}

// build puts the tables into a new dataset.
func (f *fixture) build() ([]byte, error) {
	tables, faults := readTables(f.fsys)
	if len(faults) > 0 {
		return nil, errors.New(faults[0].String())
	}
	set, err := data.Open(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = set.Close() }() // its image is kept
	for _, t := range tables {
		if err := f.put(set, t); err != nil {
			return nil, fmt.Errorf("%s: %w", t.file, err)
		}
	}
	for name, schema := range f.schemas { // of tables that begin empty
		if !slices.ContainsFunc(tables, func(t table) bool { return t.name == name }) {
			if err := set.Create(name, schema); err != nil {
				return nil, fmt.Errorf("%s: data.schemas.%s: %w", manifestFile, name, err)
			}
		}
	}
	if len(tables) == 0 { // a database without a page is none
		if _, err := set.Exec("PRAGMA user_version = 1", nil); err != nil {
			return nil, err
		}
	}
	return set.Image()
}

func (f *fixture) put(set *data.Set, t table) error {
	schema := f.schemas[t.name]
	if schema == nil {
		schema = data.Infer(t.columns, t.rows)
	}
	if err := set.Create(t.name, schema); err != nil {
		return err
	}
	return set.Insert(t.name, t.rows)
}

// readTables reads data/*: NAME.csv, .tsv, .json and .jsonl are a table each, a
// .yaml file holds tables by their names.
func readTables(fsys fs.FS) (tables []table, faults []Fault) {
	entries, err := fs.ReadDir(fsys, "data")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Fault{{"data", 0, err.Error()}}
	}
	for _, e := range entries {
		name := path.Join("data", e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			faults = append(faults, Fault{name, 0, err.Error()})
			continue
		}
		if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
			f := &file{name: name}
			tables = append(tables, f.tables(content)...)
			faults = append(faults, f.faults...)
			continue
		}
		columns, rows, err := data.Read(name, content)
		if err != nil {
			faults = append(faults, Fault{name, 0, strings.TrimPrefix(err.Error(), name+": ")})
			continue
		}
		tables = append(tables, table{strings.TrimSuffix(e.Name(), path.Ext(name)), columns, rows, name})
	}
	slices.SortFunc(tables, func(a, b table) int { return cmp.Compare(a.name, b.name) })
	return tables, faults
}

// tables are those of a YAML file: NAME: [rows].
func (f *file) tables(content []byte) []table {
	doc := f.document(content)
	if doc == nil {
		return nil
	}
	if doc.Kind != yaml.MappingNode {
		f.fault(doc.Line, "tables are written as NAME: a list of rows")
		return nil
	}
	var list []table
	for i := 0; i+1 < len(doc.Content); i += 2 {
		name, rows := doc.Content[i], doc.Content[i+1]
		raw, err := asJSON(rows)
		if err == nil && rows.Kind != yaml.SequenceNode {
			err = errors.New("a table is a list of rows")
		}
		t := table{name: name.Value, file: f.name}
		if err == nil {
			t.columns, t.rows, err = data.Read(name.Value+".json", bytes.TrimSpace(raw))
		}
		if err != nil {
			f.fault(name.Line, "%s: %v", name.Value, strings.TrimPrefix(err.Error(), name.Value+".json: "))
			continue
		}
		list = append(list, t)
	}
	return list
}
