package data

// The tools.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Tools are the tools that work with datasets. Draw is the tool that draws charts.
func Tools(s *Space, draw Drawer) []agent.Tool {
	if s.Trust == "" {
		s.Trust = agent.Untrusted
	}
	return []agent.Tool{
		changing{tool{s, create}}, changing{tool{s, fill}}, changing{tool{s, query}}, tool{s, describe},
		chart{s, draw},
	}
}

// arguments are those of all of the tools.
type arguments struct {
	Dataset    string                     `json:"dataset"`
	Tables     map[string]json.RawMessage `json:"tables"`
	Table      string                     `json:"table"`
	Path       string                     `json:"path"`
	Rows       []json.RawMessage          `json:"rows"`
	SQL        string                     `json:"sql"`
	Parameters map[string]any             `json:"parameters"`
	Limit      int                        `json:"limit"`
	Write      bool                       `json:"write"`
}

// kind is what differs between the tools.
type kind struct {
	spec agent.ToolSpec
	// changes reports whether a call changes the dataset; make, whether it makes one.
	changes func(a arguments) bool
	make    bool
	do      func(t tool, c agent.Call, a arguments, set *Set) (string, error)
}

const setSchema = `"dataset":{"type":"string","minLength":1,"maxLength":300,"description":"Name of the dataset, for example sales; or the path of an SQLite file in the workspace"}`

var create = kind{
	spec: agent.ToolSpec{
		Name: "create_dataset",
		Description: "Makes a dataset (an SQLite database that later tasks query) with tables, or adds tables to one. Each table has the JSON Schema of one row; " +
			`"x-key": ["id"] in it names the key. Rows come with import_data.`,
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["dataset","tables"],"properties":{` + setSchema + `,
			"tables":{"type":"object","minProperties":1,"additionalProperties":{"type":"object"},"description":"JSON Schema of a row, by table"}}}`),
		Class: agent.ClassCreate, Repeat: agent.RepeatProbeable,
		Example: json.RawMessage(`{"dataset":"sales","tables":{"orders":{"type":"object","required":["id"],"x-key":["id"],"properties":{"id":{"type":"string"},"total":{"type":"number"}}}}}`),
	},
	changes: func(arguments) bool { return true }, make: true,
	do: func(_ tool, _ agent.Call, a arguments, set *Set) (string, error) {
		names := slices.Sorted(maps.Keys(a.Tables))
		for _, name := range names {
			if err := set.Create(name, a.Tables[name]); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("the dataset %s has %s more: %s", a.Dataset, format.Count(len(names), "table"), strings.Join(names, ", ")), nil
	},
}

var fill = kind{
	spec: agent.ToolSpec{
		Name: "import_data",
		Description: "Puts the rows of a file of the workspace (.csv, .tsv, .json, .jsonl) or the rows given into a table of a dataset. A dataset or table that is not there is made, " +
			"with types that fit all rows; where it has a schema, each row is held against it, and none is taken if one does not fit.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["dataset","table"],"properties":{` + setSchema + `,
			"table":{"type":"string","minLength":1,"maxLength":63},
			"path":{"type":"string","minLength":1,"description":"File with the rows, relative to the workspace"},
			"rows":{"type":"array","maxItems":5000,"items":{"type":"object"},"description":"The rows themselves, where there is no file"}}}`),
		Class: agent.ClassCreate, Repeat: agent.RepeatProbeable,
		Example: json.RawMessage(`{"dataset":"sales","table":"orders","path":"orders.csv"}`),
	},
	changes: func(arguments) bool { return true }, make: true,
	do: importRows,
}

var query = kind{
	spec: agent.ToolSpec{
		Name: "query_data",
		Description: "Runs one SELECT (SQLite) on a dataset and returns the rows, each as a JSON object on a line. describe_data tells the tables. " +
			"write: true runs a statement that changes the dataset instead (INSERT, UPDATE, DELETE). Values belong into parameters, as :name in the SQL.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["dataset","sql"],"properties":{` + setSchema + `,
			"sql":{"type":"string","minLength":1,"maxLength":20000},
			"parameters":{"type":"object","description":"Values of :name in the SQL"},
			"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"Rows at most; 100 if absent"},
			"write":{"type":"boolean","description":"The statement changes the dataset"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatIdempotent,
		Example: json.RawMessage(`{"dataset":"sales","sql":"SELECT region, sum(total) AS total FROM orders WHERE day >= :from GROUP BY region ORDER BY total DESC","parameters":{"from":"2026-01-01"}}`),
	},
	changes: func(a arguments) bool { return a.Write },
	do: func(_ tool, _ agent.Call, a arguments, set *Set) (string, error) {
		if a.Write {
			n, err := set.Exec(a.SQL, a.Parameters)
			return format.Count(int(n), "row") + " changed", err
		}
		if a.Limit == 0 {
			a.Limit = 100
		}
		found, err := set.Query(a.SQL, a.Parameters, a.Limit)
		if err != nil {
			return "", fmt.Errorf("%w (one SELECT; tables and columns are those of describe_data)", err)
		}
		return found.Text(), nil
	},
}

var describe = kind{
	spec: agent.ToolSpec{
		Name:        "describe_data",
		Description: "Tells the tables of a dataset: columns, JSON Schema, number of rows, the first ones. Without dataset: which datasets there are.",
		Parameters:  json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{` + setSchema + `}}`),
		Class:       agent.ClassRead, Repeat: agent.RepeatRead, Example: json.RawMessage(`{"dataset":"sales"}`),
	},
	changes: func(arguments) bool { return false },
	do:      func(_ tool, _ agent.Call, _ arguments, set *Set) (string, error) { return set.Describe() },
}

// tool is one of the tools.
type tool struct {
	s *Space
	k kind
}

// Spec describes the tool.
func (t tool) Spec() agent.ToolSpec { return t.k.spec }

// Run works with the dataset.
func (t tool) Run(ctx context.Context, c agent.Call) agent.Result {
	r, err := t.run(ctx, c)
	if err != nil {
		return agent.Failed(t.k.spec.Name + ": " + err.Error())
	}
	return r
}

func (t tool) run(ctx context.Context, c agent.Call) (agent.Result, error) {
	a, err := decode(c)
	if err != nil {
		return agent.Result{}, err
	}
	if a.Dataset == "" {
		return t.list(c)
	}
	r := agent.Result{State: agent.OutcomeOK, Trust: t.s.Trust}
	do := func(set *Set) (string, error) { return t.k.do(t, c, a, set) }
	if !t.k.changes(a) {
		r.Text, r.Trust, err = t.s.Use(ctx, c, a.Dataset, do)
		return r, err
	}
	var file string
	r.Text, file, err = t.s.Change(ctx, c, a.Dataset, t.k.make, do)
	r.Files, r.Trust = []string{file}, agent.Trusted // what was done, not what is in it
	return r, err
}

func decode(c agent.Call) (a arguments, err error) {
	d := json.NewDecoder(strings.NewReader(string(c.Arguments)))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("the arguments do not fit: %w", err)
	}
	return a, nil
}

// list tells which datasets there are.
func (t tool) list(c agent.Call) (agent.Result, error) {
	f, err := t.s.Workspace.Open(c.Folder)
	if err != nil {
		return agent.Result{}, err
	}
	defer func() { _ = f.Close() }()
	text := "there are no datasets; make one with create_dataset or import_data"
	if names := t.s.all(f); len(names) > 0 {
		text = strings.Join(names, "\n")
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: text}, nil
}

// changing is a tool of which calls may change datasets.
type changing struct{ tool }

// Prepare says what a call would change.
func (t changing) Prepare(_ context.Context, c agent.Call) (agent.Prepared, error) {
	a, err := decode(c)
	if err != nil || !t.k.changes(a) {
		return agent.Prepared{}, err
	}
	p, err := t.s.Prepare(c, a.Dataset)
	if err != nil {
		return p, fmt.Errorf("%s: %w", t.k.spec.Name, err)
	}
	what := "Changes the dataset"
	if p.New {
		what = "Makes the dataset"
	}
	p.Preview = fmt.Sprintf("%s `%s` (`%s`).", what, a.Dataset, p.Changes[0])
	if a.SQL != "" {
		p.Preview += "\n\n```sql\n" + strings.ReplaceAll(format.Visible(format.Cut(a.SQL, 3000)), "```", "` ` `") + "\n```"
	}
	return p, nil
}

// Probe reports whether a call's change was made.
func (t changing) Probe(ctx context.Context, c agent.Call) (bool, agent.Result, error) {
	a, err := decode(c)
	if err != nil || !t.k.changes(a) {
		return false, agent.Result{}, err
	}
	done, err := t.s.Done(ctx, c, a.Dataset)
	return done, agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: repeated}, err
}

// importRows puts rows into a table that is there or is made.
func importRows(t tool, c agent.Call, a arguments, set *Set) (string, error) {
	columns, rows, err := t.rows(c, a)
	if err != nil {
		return "", err
	}
	there, err := set.Has(a.Table)
	if err != nil {
		return "", err
	}
	if !there {
		if len(columns) == 0 {
			return "", errors.New("there are no rows to tell the columns by")
		}
		if err := set.Create(a.Table, Infer(columns, rows)); err != nil {
			return "", err
		}
	}
	if err := set.Insert(a.Table, rows); err != nil {
		return "", fmt.Errorf("%w; nothing was imported", err)
	}
	return fmt.Sprintf("%s into %s of %s; columns: %s", format.Count(len(rows), "row"), a.Table, a.Dataset, strings.Join(columns, ", ")), nil
}

// rows are those of the call, or of its file.
func (t tool) rows(c agent.Call, a arguments) ([]string, []Row, error) {
	switch {
	case (a.Path == "") == (a.Rows == nil):
		return nil, nil, errors.New("give either path or rows")
	case a.Rows != nil:
		return objects(a.Rows)
	}
	f, err := t.s.Workspace.Open(c.Folder)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	p, err := f.Target(a.Path)
	if err != nil {
		return nil, nil, err
	}
	content, err := read(f, p)
	if err != nil {
		return nil, nil, err
	}
	return Read(p, content)
}
