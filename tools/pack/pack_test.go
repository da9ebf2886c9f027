package pack_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/code"
	"github.com/deckhand-bot/deckhand/tools/data"
	"github.com/deckhand-bot/deckhand/tools/pack"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/source"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// TestMain makes this binary the child of scripts and of the sandbox.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "child":
		os.Exit(code.Child(os.Stdin, os.Stdout))
	case len(os.Args) > 1 && os.Args[1] == "confine":
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// write makes files below a folder.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// engine is run_code as the product has it.
func engine(t *testing.T) agent.Tool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e, err := code.New(code.Config{Command: []string{self, "child"}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// started is the pack of a folder as a source in a registry, on a new workspace.
func started(t *testing.T, dir string, pins source.Pins) *source.Registry {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	w, err := workspace.New(workspace.Config{Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Config{Self: []string{self, "confine"}})
	if err != nil {
		t.Fatal(err)
	}
	space := &data.Space{Workspace: w}
	s := pack.New(pack.Config{Dir: dir, Space: space, Script: engine(t), Sandbox: box, Root: root,
		Reach: func(time.Duration, ...string) (http.RoundTripper, error) { return http.DefaultTransport, nil },
		Env:   func(name string) string { return map[string]string{"SHOP_TOKEN": "s3cret-token"}[name] }})
	space.Given = func(name string) (data.Given, bool) {
		if name != s.Name() {
			return data.Given{}, false
		}
		return s.Given()
	}
	r, err := source.New(source.Config{Sources: []source.Source{source.BuiltIn(data.Tools(space, nil)...), s}, Pins: pins})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	r.Load(t.Context())
	return r
}

// call makes a call as the loop does.
func call(t *testing.T, r *source.Registry, name, effect, arguments string) (text string, prepared agent.Prepared) {
	t.Helper()
	if err := r.Check(name, json.RawMessage(arguments)); err != nil {
		return "check: " + err.Error(), prepared
	}
	tool, _ := r.Tool(name)
	c := agent.Call{Run: "r", Effect: agent.EffectID(effect), Tool: name, Arguments: json.RawMessage(arguments), Person: "slack:U1", Repeat: tool.Spec().Repeat}
	if p, is := tool.(agent.Preparer); is {
		var err error
		if prepared, err = p.Prepare(t.Context(), c); err != nil {
			return "prepare: " + err.Error(), prepared
		}
		c.Mark = prepared.Mark
	}
	return tool.Run(t.Context(), c).Text, prepared
}

const shopManifest = `name: shop
version: 1.0.0
description: A shop.
variables: [SHOP_TOKEN]
hosts: [127.0.0.1]
`

const shopTools = `- name: find_order
  description: Finds an order.
  effect: read
  arguments: {order: Number of the order}
  example: {order: O-1}
  data: {sql: "SELECT * FROM orders WHERE id = :order", none: "there is no order {order}"}
- name: refund
  description: Pays an order back.
  effect: send
  arguments:
    order: Number of the order
    amount: {type: number, exclusiveMinimum: 0}
  example: {order: O-1, amount: 1}
  preview: Pays **{amount}** back for {order}.
  data:
    require:
      - {sql: "SELECT 1 FROM orders WHERE id = :order", else: "there is no order {order}"}
      - {sql: "SELECT 1 FROM orders WHERE id = :order AND total - refunded >= :amount", else: "{order} has less than {amount} left"}
    show: SELECT id, total, refunded FROM orders WHERE id = :order
    sql:
      - UPDATE orders SET refunded = refunded + :amount WHERE id = :order
      - SELECT id, total - refunded AS left FROM orders WHERE id = :order
- name: vat
  description: Adds VAT.
  effect: read
  arguments: {net: {type: number}}
  example: {net: 100}
  script: {file: vat.js, sql: SELECT max(rate) AS rate FROM rates}
- name: get_item
  description: Asks the shop for an item.
  effect: read
  arguments: {id: Its id, "lang?": A language}
  http: {url: "ADDRESS/items/{id}", query: {lang: "{lang}"}, headers: {Authorization: "Bearer ${SHOP_TOKEN}"}, pick: item.name}
- name: put_item
  description: Changes an item.
  effect: send
  arguments: {id: Its id, price: {type: number}, "tags?": {type: array, items: {type: string}}}
  http: {method: PUT, url: "ADDRESS/items/{id}", headers: {Authorization: "Bearer ${SHOP_TOKEN}"}, body: {price: "{price}", tags: "{tags}", note: "set to {price}"}}
- name: shout
  description: Says it loudly.
  effect: read
  arguments: {text: What, "times?": {type: integer}}
  command: {run: [sh, shout.sh, "{text}", "{times}"]}
`

var shopFiles = map[string]string{
	"pack.yaml": shopManifest, "vat.js": "const rate = input.rows[0].rate; if (input.args.net < 0) throw new Error('net is negative'); input.args.net * (1 + rate)",
	"data/orders.csv": "id,total,refunded\nO-1,100,0\nO-2,20,0\n", "data/more.yaml": "rates:\n  - {rate: 0.19}\n",
	"shout.sh": "echo \"$1!\" \"$#\"",
}

// The four kinds of tools, from files.
func TestKinds(t *testing.T) {
	t.Parallel()
	var seen []string
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+string(body))
		_, _ = io.WriteString(w, `{"item":{"name":"a lamp for s3cret-token"}}`)
	}))
	t.Cleanup(far.Close)
	files := map[string]string{"tools/all.yaml": strings.ReplaceAll(shopTools, "ADDRESS", far.URL)}
	maps.Copy(files, shopFiles)
	r := started(t, write(t, t.TempDir(), files), nil)
	if s := r.Standings()[0]; s.Problem != "" || len(s.Refused) > 0 || s.Tools != 6 {
		t.Fatalf("the pack stands as %+v", s)
	}
	for i, s := range []struct{ tool, arguments, want string }{
		{"find_order", `{"order":"O-1"}`, `{"id":"O-1","total":100,"refunded":0}`},
		{"find_order", `{"order":"O-9"}`, "there is no order O-9"},
		{"find_order", `{"ordr":"O-9"}`, "check: shop__find_order: "},
		{"refund", `{"order":"O-1","amount":200}`, "prepare: refund: O-1 has less than 200 left"},
		{"refund", `{"order":"O-1","amount":30}`, `{"id":"O-1","left":70}`},
		{"find_order", `{"order":"O-1"}`, `{"id":"O-1","total":100,"refunded":30}`},
		{"vat", `{"net":200}`, "238"},
		{"vat", `{"net":-1}`, "net is negative"},
		{"get_item", `{"id":"a/b"}`, "a lamp for •••"},
		{"get_item", `{"id":".."}`, "Nothing was sent"},
		{"put_item", `{"id":"7","price":1.5}`, "lamp"},
	} {
		if got, _ := call(t, r, "shop__"+s.tool, string(rune('a'+i)), s.arguments); !strings.Contains(got, s.want) {
			t.Errorf("%s %s: %s", s.tool, s.arguments, got)
		}
	}
	if want := []string{"GET /items/a%2Fb Bearer s3cret-token ", `PUT /items/7 Bearer s3cret-token {"note":"set to 1.5","price":1.5}`}; !slices.Equal(seen, want) {
		t.Errorf("sent was %q", seen)
	}
	if text, _ := call(t, r, "query_data", "q", `{"dataset":"shop","sql":"SELECT sum(refunded) AS n FROM orders"}`); text != `{"n":30}` {
		t.Errorf("the run's dataset: %s", text)
	}
	again, p := call(t, r, "shop__refund", "e", `{"order":"O-1","amount":30}`)
	if !strings.Contains(again, "done before") || !strings.Contains(p.Preview, "Pays **30** back for O-1.") || !strings.Contains(p.Preview, `"total":100`) {
		t.Errorf("the same call again: %s, asked with %q", again, p.Preview)
	}
	refund, _ := r.Tool("shop__refund")
	if s := refund.Spec(); s.Class != agent.ClassSend || s.Repeat != agent.RepeatProbeable {
		t.Errorf("a refund is %s, %s", s.Class, s.Repeat)
	}
	if text, _ := call(t, r, "shop__shout", "s", `{"text":"$(id) 'x"}`); !strings.Contains(text, "$(id) 'x! 1") && !strings.Contains(text, "no sandbox here") {
		t.Errorf("a command: %s", text)
	}
}

// All that is wrong is told with file and line, and the rest is given.
func TestFaults(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{
		"pack.yaml":        "name: shop\nversion: 1.0.0\ndescription: x\nvariabels: [A]\nvariables: [OPENAI_API_KEY]\n",
		"tools/broken.yml": "name: [\n",
		"tools/odd.yaml":   "- just a text\n",
		"tools/some.yaml": `- name: fine
  description: It works.
  effect: read
  data: {sql: SELECT 1 AS one}
- name: no_effect
  description: x
  data: {sql: SELECT 1}
- name: fine
  description: Twice.
  effect: read
  data: {sql: SELECT 1}
- name: unknown_key
  description: x
  efect: read
  effect: read
  data: {sqll: SELECT 1}
- name: two_kinds
  description: x
  effect: read
  data: {sql: SELECT 1}
  script: {code: "1"}
- name: stray_place
  description: x
  effect: send
  arguments: {order: x}
  preview: Pays {ordr}.
  data: {sql: SELECT 1}
- name: far
  description: x
  effect: read
  http: {url: "https://evil.example/{x}"}
- name: host
  description: x
  effect: read
  arguments: {h: x}
  http: {url: "https://{h}/"}
- name: bad_example
  description: x
  effect: read
  arguments: {n: {type: integer}}
  example: {n: many}
  data: {sql: SELECT :n}
- name: bad_sql
  description: x
  effect: read
  data: {sql: SELECT * FROM nowhere}
`,
	})
	p, err := pack.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.New(workspace.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range append(p.Faults, pack.Probe(t.Context(), p, &data.Space{Workspace: w}, nil)...) {
		all = append(all, f.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		`pack.yaml:4: there is no key "variabels", did you mean "variables"?`, "pack.yaml:5: variables: OPENAI_API_KEY holds a secret",
		"tools/broken.yml:", "tools/odd.yaml:1: a tool is written as keys", `tools/some.yaml:5: no_effect: effect is one of`,
		"tools/some.yaml:8: fine is there already, in tools/some.yaml:1", `tools/some.yaml:14: there is no key "efect", did you mean "effect"?`,
		`tools/some.yaml:16: there is no key "sqll", did you mean "sql"?`, "two_kinds: it needs one of data, http, command, script",
		"stray_place: there is no argument for {ordr}, did you mean {order}?", "far: http.url leads to evil.example, which is not among the hosts",
		"host: http.url: the host stands in the file", "bad_example: its example", "bad_sql: no such table: nowhere",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nobody says %q in:\n%s", want, text)
		}
	}
	r := started(t, dir, nil)
	if got, _ := call(t, r, "shop__fine", "1", `{}`); got != `{"one":1}` {
		t.Errorf("the rest of the pack: %s", got)
	}
	if len(r.Standings()[0].Refused) == 0 {
		t.Error("the source does not tell its faults")
	}
}

// kept is a store of names.
type kept map[string]string

func (k kept) Value(_ context.Context, name string) (string, error) { return k[name], nil }
func (k kept) SetValue(_ context.Context, name, value string) error { k[name] = value; return nil }

// What stands behind a tool is pinned: a changed query waits for a person.
func TestPinned(t *testing.T) {
	t.Parallel()
	tools := "name: count\ndescription: Counts.\neffect: read\nscript: {file: count.js}\n"
	dir := write(t, t.TempDir(), map[string]string{"pack.yaml": "name: p\nversion: 1.0.0\ndescription: x\n", "tools/count.yaml": tools, "count.js": "1"})
	pins := kept{}
	if text, _ := call(t, started(t, dir, pins), "p__count", "1", `{}`); text != "1" {
		t.Fatal(text)
	}
	write(t, dir, map[string]string{"count.js": "1 + 1"})
	r := started(t, dir, pins)
	if _, is := r.Tool("p__count"); is || len(r.Standings()[0].Refused) != 1 {
		t.Fatalf("a changed script is offered: %+v", r.Standings())
	}
	changed, err := r.Accept(t.Context(), "p")
	if err != nil || len(changed) != 1 {
		t.Fatalf("%v, %v", changed, err)
	}
	if text, _ := call(t, r, "p__count", "1", `{}`); text != "2" {
		t.Errorf("once accepted: %s", text)
	}
}
