package main

// This file measures what connected tools cost: finding one among many, a call of
// an MCP server beside the server's own time, and opening a large document.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/find"
	"github.com/deckhand-bot/deckhand/tools/mcp"
	"github.com/deckhand-bot/deckhand/tools/openapi"
)

const (
	manyTools      = 2000
	manyOperations = 1700
	toolRuns       = 300
)

// benchTools measures connected tools.
func benchTools(ctx context.Context, e *environment) ([]row, error) {
	rows := searchRows()
	called, err := serverRow(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := documentRow(ctx, e.dir)
	return append(rows, called, opened), err
}

// The words that descriptions and requests are made of.
var (
	verbs  = []string{"create", "list", "update", "delete", "archive", "export", "approve", "assign", "merge", "schedule"}
	things = []string{"invoice", "customer", "ticket", "shipment", "contract", "meeting", "sensor", "playlist", "recipe", "payment",
		"warehouse", "employee", "survey", "campaign", "reservation", "vehicle", "document", "subscription", "refund", "building"}
	places = []string{"crm", "shop", "bank", "fleet", "clinic", "school", "hotel", "studio", "lab", "port"}
)

// searchRows measures finding a tool by words.
func searchRows() []row {
	list := make([]find.Tool, manyTools)
	for i := range list {
		verb, thing, place := verbs[i%len(verbs)], things[i/len(verbs)%len(things)], places[i/len(verbs)/len(things)%len(places)]
		list[i] = find.Of(agent.ToolSpec{Name: place + "__" + verb + "_" + thing,
			Description: fmt.Sprintf("%s a %s of the %s with its number, its owner and the date on which it was changed", verb, thing, place),
			Parameters:  json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"number of the ` + thing + `"},"owner":{"type":"string"},"date":{"type":"string"}}}`)})
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	index := find.New(list)
	runtime.GC()
	runtime.ReadMemStats(&after)
	var spent []time.Duration
	for i := range toolRuns {
		began := time.Now()
		index.Search(fmt.Sprintf("please %s the %s of a customer in the %s", verbs[i%len(verbs)], things[i%len(things)], places[i%len(places)]), 5)
		spent = append(spent, time.Since(began))
	}
	p99, size := percentile(spent, 99), float64(after.HeapAlloc-min(after.HeapAlloc, before.HeapAlloc))/(1<<20)
	runtime.KeepAlive(index)
	return []row{
		{name: "tools: found by words among 2,000, p99", value: p99.Round(time.Microsecond).String(), aim: "≤ 10 ms", reached: p99 <= 10*time.Millisecond},
		{name: "tools: the index of 2,000", value: fmt.Sprintf("%.1f MB", size), aim: "≤ 20 MB", reached: size <= 20},
	}
}

// serverRow measures what a call of an MCP server takes beyond the server's own
// time: a server over HTTP on this machine whose tool does nothing.
func serverRow(ctx context.Context) (row, error) {
	type words struct {
		Text string `json:"text"`
	}
	var own atomic.Int64
	s := sdk.NewServer(&sdk.Implementation{Name: "bench", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return row{}, err
	}
	web := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		handler.ServeHTTP(w, r)
		own.Add(int64(time.Since(began)))
	})}
	go func() { _ = web.Serve(l) }() // it is closed below
	defer web.Close()
	source := mcp.New(mcp.Config{Name: "bench", URL: "http://" + l.Addr().String()})
	defer source.Close()
	list, err := source.Tools(ctx)
	if err != nil {
		return row{}, err
	}
	var spent []time.Duration
	for i := range toolRuns {
		own.Store(0)
		began := time.Now()
		r := list[0].Run(ctx, agent.Call{Run: "bench", Effect: agent.EffectID(strconv.Itoa(i)), Arguments: json.RawMessage(`{"text":"hello"}`)})
		took := time.Since(began)
		if r.State != agent.OutcomeOK {
			return row{}, errors.New(r.Text)
		}
		spent = append(spent, max(0, took-time.Duration(own.Load())))
	}
	median := percentile(spent, 50)
	return row{name: "tools: an MCP call beyond the server's own time, median", value: median.Round(time.Microsecond).String(),
		aim: "≤ 1 ms", reached: median <= time.Millisecond}, nil
}

// documentRow measures the opening of an OpenAPI document with many operations.
func documentRow(ctx context.Context, dir string) (row, error) {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\ninfo: {title: Many, version: \"1\"}\nservers: [{url: \"http://127.0.0.1:1\"}]\npaths:\n")
	for i := range manyOperations {
		fmt.Fprintf(&b, "  /things%d/{id}:\n    get:\n      operationId: getThing%d\n      summary: Reads thing %d\n      parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: limit, in: query, schema: {type: integer}}]\n"+
			"      responses: {\"200\": {description: it, content: {application/json: {schema: {$ref: \"#/components/schemas/Thing\"}}}}}\n", i, i, i)
	}
	b.WriteString("components: {schemas: {Thing: {type: object, properties: {id: {type: string}, parts: {type: array, items: {$ref: \"#/components/schemas/Thing\"}}}}}}\n")
	file := filepath.Join(dir, "many.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return row{}, err
	}
	source := openapi.New(openapi.Config{Name: "many", Document: file})
	defer source.Close()
	began := time.Now()
	list, err := source.Tools(ctx)
	took := time.Since(began)
	if err != nil {
		return row{}, err
	}
	if len(list) != manyOperations {
		return row{}, fmt.Errorf("the document gives %d tools", len(list))
	}
	return row{name: "tools: opening a document of 1,700 operations", value: took.Round(time.Millisecond).String(), aim: "≤ 1 s", reached: took <= time.Second}, nil
}
