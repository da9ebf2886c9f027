package data_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/data"
	"github.com/deckhand-bot/deckhand/tools/plot"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// place is a workspace with the tools.
type place struct {
	t     *testing.T
	dir   string
	space *data.Space
	tools map[string]agent.Tool
}

func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), tools: map[string]agent.Tool{}}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.New(workspace.Config{Dir: p.dir})
	if err != nil {
		t.Fatal(err)
	}
	p.space = &data.Space{Workspace: w}
	for _, tool := range data.Tools(p.space, plot.New(w)) {
		p.tools[tool.Spec().Name] = tool
	}
	return p
}

// call makes a call as the loop does, and returns its text.
func (p *place) call(name, effect string, arguments string) (string, agent.Prepared) {
	p.t.Helper()
	c := agent.Call{Run: "r", Effect: agent.EffectID(effect), Tool: name, Arguments: json.RawMessage(arguments), Person: "slack:U1"}
	var prepared agent.Prepared
	if prepares, is := p.tools[name].(agent.Preparer); is {
		var err error
		if prepared, err = prepares.Prepare(p.t.Context(), c); err != nil {
			return "error: " + err.Error(), prepared
		}
		c.Mark = prepared.Mark
	}
	return p.tools[name].Run(p.t.Context(), c).Text, prepared
}

// A CSV becomes a dataset that is described, queried, changed and drawn.
func TestDataset(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"orders.csv": "\xef\xbb\xbfid;region;total;day\r\nO-1;North;10.10;2026-01-02\r\nO-2;South;20.20;2026-01-03\r\n007;North;0.1;\r\n",
		"more.json":  `{"orders": [{"id": "O-9", "region": "East", "total": 5}]}`,
	})
	steps := []struct{ tool, arguments, want string }{
		{"describe_data", `{}`, "there are no datasets"},
		{"query_data", `{"dataset":"sales","sql":"SELECT 1"}`, `there is no dataset "sales"`},
		{"import_data", `{"dataset":"sales","table":"orders","path":"orders.csv"}`, "3 rows into orders of sales; columns: id, region, total, day"},
		{"import_data", `{"dataset":"sales","table":"orders","path":"more.json"}`, "1 row into orders"},
		{"import_data", `{"dataset":"sales","table":"orders","rows":[{"id":"O-10","totl":1}]}`, `there is no column "totl", did you mean "total"?; nothing was imported`},
		{"import_data", `{"dataset":"sales","table":"orders","rows":[{"id":"O-10","total":"a lot"}]}`, "nothing was imported"},
		{"describe_data", `{}`, "sales"},
		{"describe_data", `{"dataset":"sales"}`, "table orders (4 rows): id text, region text, total real, day text"},
		{"query_data", `{"dataset":"sales","sql":"SELECT region, sum(total) AS total FROM orders WHERE total < :most GROUP BY region ORDER BY region;","parameters":{"most":15}}`,
			`{"region":"East","total":5}` + "\n" + `{"region":"North","total":10.2}`},
		{"query_data", `{"dataset":"sales","sql":"SELECT id FROM orders WHERE id = '007'"}`, `{"id":"007"}`},
		{"query_data", `{"dataset":"sales","sql":"SELECT * FROM orders","limit":2}`, "there are more than these 2 rows"},
		{"query_data", `{"dataset":"sales","sql":"SELECT * FROM order"}`, "syntax error"},
		{"query_data", `{"dataset":"sales","sql":"DELETE FROM orders"}`, "error"},
		{"query_data", `{"dataset":"sales","sql":"SELECT count(*) AS n FROM orders"}`, `{"n":4}`},
		{"query_data", `{"dataset":"sales","write":true,"sql":"UPDATE orders SET total = total + 1 WHERE region = 'North'"}`, "2 rows changed"},
		{"query_data", `{"dataset":"sales","sql":"SELECT total FROM orders WHERE id = 'O-1'"}`, `{"total":11.1}`},
		{"create_dataset", `{"dataset":"sales","tables":{"people":{"type":"object","required":["name"],"x-key":["name"],"properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}}}}}`, "1 table more: people"},
		{"import_data", `{"dataset":"sales","table":"people","rows":[{"name":"Ada","age":36},{"name":"Bob","age":-1}]}`, "row 2 of people"},
		{"import_data", `{"dataset":"sales","table":"people","rows":[{"name":"Ada","age":36}]}`, "1 row into people"},
		{"chart_data", `{"dataset":"sales","sql":"SELECT region, sum(total) FROM orders GROUP BY region","kind":"bar","path":"sales.png"}`, "wrote sales.png"},
		{"chart_data", `{"dataset":"sales","sql":"SELECT 1, 2, 3","kind":"bar","path":"other.png"}`, "the query gives 3 columns"},
		{"import_data", `{"dataset":"../x","table":"a","rows":[{"a":1}]}`, "may not be called"},
	}
	for i, s := range steps {
		if got, _ := p.call(s.tool, string(rune('a'+i)), s.arguments); !strings.Contains(got, s.want) {
			t.Errorf("%s %s:\n%s\nwant %s", s.tool, s.arguments, got, s.want)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "sales.png")); err != nil {
		t.Error(err)
	}
}

// A change is made once for each call, says beforehand what it is, and can be asked for.
func TestChangeOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	first := `{"dataset":"d","table":"t","rows":[{"n":1}]}`
	if _, prepared := p.call("import_data", "1", first); !prepared.New || prepared.Class != agent.ClassCreate || prepared.Changes[0] != "datasets/d.db" {
		t.Errorf("prepared is %+v", prepared)
	}
	text, prepared := p.call("import_data", "1", first)
	if !strings.Contains(text, "done before") || prepared.Class != agent.ClassWrite {
		t.Errorf("again: %s, %+v", text, prepared)
	}
	if _, read := p.call("query_data", "2", `{"dataset":"d","sql":"SELECT 1"}`); read.Class != "" {
		t.Errorf("a query is prepared as %+v", read)
	}
	prober, is := p.tools["import_data"].(agent.Prober)
	if !is {
		t.Fatal("import_data cannot be asked")
	}
	for effect, want := range map[agent.EffectID]bool{"1": true, "9": false} {
		done, _, err := prober.Probe(t.Context(), agent.Call{Run: "r", Effect: effect, Tool: "import_data", Arguments: json.RawMessage(first)})
		if err != nil || done != want {
			t.Errorf("effect %s is done: %v, %v", effect, done, err)
		}
	}
}

// A query reaches nothing but its copy, and ends.
func TestContained(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	p.call("import_data", "1", `{"dataset":"d","table":"t","rows":[{"n":1}]}`)
	outside := filepath.Join(t.TempDir(), "out.db")
	for i, sql := range []string{
		"ATTACH '" + outside + "' AS o", "VACUUM INTO '" + outside + "'", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')",
		"SELECT 1) LIMIT 1; ATTACH '" + outside + "' AS o; SELECT * FROM (SELECT 1", "SELECT zeroblob(100000000)",
		"SELECT 1) LIMIT 1; VACUUM INTO '" + outside + "'; SELECT * FROM (SELECT 1",
	} {
		for _, write := range []string{"true", "false"} {
			quoted, _ := json.Marshal(sql) //nolint:errchkjson // a text
			text, _ := p.call("query_data", "c"+string(rune('a'+i))+write, `{"dataset":"d","write":`+write+`,"sql":`+string(quoted)+`}`)
			if !strings.HasPrefix(text, "error") {
				t.Errorf("%s: %s", sql, text)
			}
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a query wrote a file")
	}
	set, err := data.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = set.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	endless, err := data.Open(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = endless.Close() }()
	_, err = endless.Query("SELECT 0 AS a UNION ALL SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)", nil, 10)
	if err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("an endless query: %v", err)
	}
}

// Of a dataset with rules people see their rows, whatever they ask, and nobody
// changes it.
func TestRowsOfAPerson(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	set, err := data.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = set.Close() }()
	for table, rows := range map[string][]data.Row{
		"accounts": {{"id": "A1", "owner": "slack:U1"}, {"id": "A2", "owner": "slack:U2"}, {"id": "A3", "owner": nil}},
		"orders":   {{"id": "O1", "account": "A1"}, {"id": "O2", "account": "secret-A2"}},
	} {
		columns := map[string][]string{"accounts": {"id", "owner"}, "orders": {"id", "account"}}[table]
		if err := set.Create(table, data.Infer(columns, rows)); err != nil {
			t.Fatal(err)
		}
		if err := set.Insert(table, rows); err != nil {
			t.Fatal(err)
		}
	}
	image, err := set.Image()
	if err != nil {
		t.Fatal(err)
	}
	p.space.Given = func(name string) (data.Given, bool) {
		return data.Given{Image: func(context.Context) ([]byte, error) { return image, nil }, Trust: agent.Trusted, Rows: map[string]string{
			"accounts": "owner = :person", "orders": "account IN (SELECT id FROM accounts WHERE owner = :person)"}}, name == "crm"
	}
	p.space.Names = func() []string { return []string{"crm"} }
	for sql, want := range map[string]string{
		"SELECT * FROM accounts": `{"id":"A1","owner":"slack:U1"}`, "SELECT count(*) AS n FROM orders": `{"n":1}`,
		"SELECT 1 AS found FROM sqlite_dbpage WHERE instr(data, 'secret-A2')": "no",
	} {
		quoted, _ := json.Marshal(sql) //nolint:errchkjson // a text
		text, _ := p.call("query_data", "q", `{"dataset":"crm","sql":`+string(quoted)+`}`)
		if text != want && (want != "no" || strings.Contains(text, "found\":1")) {
			t.Errorf("%s: %s", sql, text)
		}
	}
	if text, _ := p.call("import_data", "i", `{"dataset":"crm","table":"accounts","rows":[{"id":"A9"}]}`); !strings.Contains(text, "only read") {
		t.Errorf("a change: %s", text)
	}
}
