package data

// Rows of CSV, JSON and YAML.

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Bounds of what is imported at once.
const (
	maxImport  = 32 << 20 // bytes
	maxImports = 500_000  // rows
	maxColumns = 500
)

// Read reads rows by the file's name: .csv and .tsv with a line of names, .json (an
// array of objects, or an object with one), .jsonl. Columns are in the order of the
// file.
func Read(name string, data []byte) (columns []string, rows []Row, err error) {
	if len(data) > maxImport {
		return nil, nil, fmt.Errorf("%s has %d MiB, at most %d MiB are imported at once", name, len(data)>>20, maxImport>>20)
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv", ".txt":
		columns, rows, err = readCSV(data)
	case ".json":
		columns, rows, err = readJSON(data)
	case ".jsonl", ".ndjson":
		columns, rows, err = readLines(data)
	default:
		return nil, nil, fmt.Errorf("%s is none of .csv, .tsv, .json, .jsonl", name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(columns) > maxColumns {
		return nil, nil, fmt.Errorf("%s has %d columns, at most %d are kept", name, len(columns), maxColumns)
	}
	return columns, rows, nil
}

func tooMany(n int) error {
	if n > maxImports {
		return fmt.Errorf("it has more than %d rows", maxImports)
	}
	return nil
}

// readCSV reads lines of cells. The separator is what separates the names.
func readCSV(data []byte) (columns []string, rows []Row, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) { // what spreadsheets write that write no UTF-8
		if data, err = charmap.Windows1252.NewDecoder().Bytes(data); err != nil {
			return nil, nil, err
		}
	}
	head, _, _ := bytes.Cut(data, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(data))
	for _, separator := range []rune{';', '\t'} {
		if bytes.Count(head, []byte(string(separator))) > bytes.Count(head, []byte(string(r.Comma))) {
			r.Comma = separator
		}
	}
	if columns, err = r.Read(); err != nil {
		return nil, nil, fmt.Errorf("its first line, the names of the columns, cannot be read: %w", err)
	}
	columns = slices.Clone(columns)
	for i, c := range columns {
		if columns[i] = strings.TrimSpace(c); columns[i] == "" {
			columns[i] = fmt.Sprintf("column_%d", i+1)
		}
		if slices.Contains(columns[:i], columns[i]) {
			return nil, nil, fmt.Errorf("two columns are called %q", c)
		}
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		row := make(Row, len(columns))
		for i, text := range cells {
			if text != "" {
				row[columns[i]] = text
			}
		}
		if rows = append(rows, row); tooMany(len(rows)) != nil {
			return nil, nil, tooMany(len(rows))
		}
	}
	numbers(columns, rows)
	return columns, rows, nil
}

// readJSON reads an array of objects, or the only array of an object.
func readJSON(data []byte) (columns []string, rows []Row, err error) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		var around map[string]json.RawMessage
		if err := json.Unmarshal(data, &around); err != nil {
			return nil, nil, fmt.Errorf("it is no JSON: %w", err)
		}
		found := 0
		for _, v := range around {
			var inner []json.RawMessage
			if json.Unmarshal(v, &inner) == nil {
				list, found = inner, found+1
			}
		}
		if found != 1 {
			return nil, nil, errors.New("it is neither an array of objects nor an object with one array")
		}
	}
	return objects(list)
}

// readLines reads an object a line.
func readLines(data []byte) (columns []string, rows []Row, err error) {
	var list []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var one json.RawMessage
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return objects(list)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("value %d is no JSON: %w", len(list)+1, err)
		}
		if list = append(list, one); tooMany(len(list)) != nil {
			return nil, nil, tooMany(len(list))
		}
	}
}

// objects are rows of JSON objects.
func objects(list []json.RawMessage) (columns []string, rows []Row, err error) {
	if err := tooMany(len(list)); err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for i, raw := range list {
		var row Row
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&row); err != nil || row == nil {
			return nil, nil, fmt.Errorf("entry %d is no object", i+1)
		}
		if i == 0 || len(row) > 0 {
			for _, k := range newKeys(raw, row, known) {
				columns, known[k] = append(columns, k), true
			}
		}
		if len(columns) > maxColumns {
			return columns, nil, nil
		}
		rows = append(rows, row)
	}
	return columns, rows, nil
}

// newKeys are the keys of a row that no row before had, in their order.
func newKeys(raw json.RawMessage, row Row, known map[string]bool) []string {
	fresh := false
	for k := range row {
		fresh = fresh || !known[k]
	}
	if !fresh {
		return nil
	}
	return slices.DeleteFunc(keysOf(raw), func(k string) bool { return known[k] })
}
