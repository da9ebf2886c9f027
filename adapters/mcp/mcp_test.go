package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/adapters/mcp"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// desk is a way in to a store in memory.
type desk struct {
	*runs.Client
	*bottest.Memory
	by bot.Person
}

func newDesk(by bot.Person) *desk {
	m := bottest.NewMemory()
	return &desk{&runs.Client{Journals: m, Authority: authority.Authority{RequesterMayApprove: true}}, m, by}
}

func (d *desk) Start(ctx context.Context, goal string) (agent.RunID, error) {
	return d.Client.Start(ctx, agent.RunStarted{Goal: goal, Requester: d.by.ID})
}

func (d *desk) Await(ctx context.Context, run agent.RunID, after uint64) error {
	return d.Memory.Await(ctx, run, after)
}

func (d *desk) Newest(ctx context.Context, most int) ([]agent.Run, error) {
	infos, err := d.Runs(ctx, agent.RunFilter{Most: most})
	var list []agent.Run
	for _, i := range infos {
		r, e := d.Load(ctx, i.Run)
		list, err = append(list, r), errors.Join(err, e)
	}
	return list, err
}
func (d *desk) MayShow(r agent.Run, by bot.Person) bool { return d.Authority.MayShow(r, by) }
func (d *desk) Read(r agent.Run, line, by string) (agent.CheckpointDecided, error) {
	return runs.ReadDecision(r, line, by)
}
func (d *desk) Waits(agent.Run) string { return "" }
func (d *desk) Open(_, path string) (io.ReadCloser, int64, error) {
	return io.NopCloser(bytes.NewReader([]byte("content of " + path))), 10, nil
}

// client is another agent, connected by the transport.
func client(t *testing.T, way sdk.Transport) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "other", Version: "1"}, nil).Connect(t.Context(), way, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// call calls a tool, and reads what it gives as JSON.
func call(t *testing.T, c *sdk.ClientSession, name string, args map[string]any) (map[string]any, string) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.Content)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if r.StructuredContent != nil {
		whole, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(whole, &out); err != nil {
			t.Fatal(err)
		}
	}
	if r.IsError {
		out["failed"] = true
	}
	return out, string(text)
}

func TestHandover(t *testing.T) {
	t.Parallel()
	d := newDesk(bot.Person{ID: bot.Terminal, Full: true})
	theirs, ours := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.Serve(t.Context(), mcp.New(mcp.Config{Desk: d, By: d.by, Version: "1"}), ours, ours)
	}()
	c := client(t, &sdk.IOTransport{Reader: theirs, Writer: theirs})
	began, _ := call(t, c, "run", map[string]any{"goal": "count the lines"})
	id, _ := began["run"].(string)
	run := agent.RunID(id)
	if began["state"] != string(agent.RunRunning) {
		t.Errorf("it began as %v", began)
	}
	q := bottest.Approval
	q.ID = agent.CheckpointID(string(run) + "-1")
	d.Happen(t, run, agent.Main, q)
	_, text := call(t, c, "status", map[string]any{"run": run, "wait": 5})
	if !strings.Contains(text, string(q.ID)) {
		t.Errorf("the question is not shown: %s", text)
	}
	if bad, text := call(t, c, "answer", map[string]any{"run": run, "decision": "perhaps"}); bad["failed"] == nil {
		t.Errorf("an answer that is none: %s", text)
	}
	if _, text := call(t, c, "answer", map[string]any{"run": run, "decision": "approve"}); strings.Contains(text, "error") {
		t.Errorf("the answer: %s", text)
	}
	r, err := d.Load(t.Context(), run)
	if err != nil || r.OpenCheckpoint() != nil || r.Checks[q.ID].Decision.By != bot.Terminal {
		t.Errorf("decided %+v, %v", r.Checks[q.ID].Decision, err)
	}
	d.Happen(t, run, agent.Main, agent.Reported{Headline: "12 lines", Body: "There are 12.", Artifacts: agent.Texts{"lines.txt"}, Skipped: agent.Texts{}})
	got, text := call(t, c, "status", map[string]any{"run": run})
	if report, is := got["report"].(map[string]any); !is || report["headline"] != "12 lines" || !strings.Contains(text, "deckhand://"+string(run)+"/lines.txt") {
		t.Errorf("the report: %v, %s", got, text)
	}
	if _, text := call(t, c, "status", map[string]any{"run": run, "artifact": "lines.txt"}); !strings.Contains(text, "content of lines.txt") {
		t.Errorf("the artifact: %s", text)
	}
	if bad, _ := call(t, c, "status", map[string]any{"run": run, "artifact": "../secret"}); bad["failed"] == nil {
		t.Error("a file that the run did not make is handed out")
	}
	one, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "deckhand://" + string(run) + "/lines.txt"})
	if err != nil || one.Contents[0].Text != "content of lines.txt" {
		t.Errorf("the artifact as a resource: %v, %v", one, err)
	}
	if got, text := call(t, c, "cancel", map[string]any{"run": run, "reason": "enough"}); got["failed"] != nil {
		t.Errorf("cancel: %s", text)
	}
	if bad, _ := call(t, c, "status", map[string]any{"run": "nothere"}); bad["failed"] == nil {
		t.Error("a run that does not exist is shown")
	}
	if err := errors.Join(c.Close(), theirs.Close()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on without the other side")
	}
}

// bearer sends a token.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// TestOverHTTP: who has the token gets in, under a name that approves nothing and
// sees no run of others.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	d := newDesk(bot.Person{ID: "mcp:ci"})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	const token = "0123456789abcdef0123"
	go func() { ended <- mcp.Listen(ctx, l, mcp.Handler(mcp.New(mcp.Config{Desk: d, By: d.by}), token)) }()
	at := "http://" + l.Addr().String()
	for _, wrong := range []string{"", "0123456789abcdef0124"} {
		way := &sdk.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer{wrong}}, MaxRetries: -1}
		if c, err := sdk.NewClient(&sdk.Implementation{Name: "other", Version: "1"}, nil).Connect(t.Context(), way, nil); err == nil {
			t.Errorf("the token %q gets in", wrong)
			_ = c.Close()
		}
	}
	c := client(t, &sdk.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer{token}}})
	began, _ := call(t, c, "run", map[string]any{"goal": "count the lines"})
	id, _ := began["run"].(string)
	run := agent.RunID(id)
	clarify, approval := bottest.Clarify, bottest.Approval
	clarify.ID, approval.ID = agent.CheckpointID(string(run)+"-1"), agent.CheckpointID(string(run)+"-2")
	d.Happen(t, run, agent.Main, clarify)
	if got, text := call(t, c, "answer", map[string]any{"run": run, "text": "the blue one"}); got["failed"] != nil {
		t.Errorf("its own question: %s", text)
	}
	d.Happen(t, run, agent.Main, approval)
	if got, text := call(t, c, "answer", map[string]any{"run": run, "decision": "approve"}); got["failed"] == nil || !strings.Contains(text, "not allowed") {
		t.Errorf("it approves: %s", text)
	}
	other, err := d.Client.Start(t.Context(), agent.RunStarted{Goal: "of somebody else", Requester: "slack:U1"})
	if err != nil {
		t.Fatal(err)
	}
	if got, text := call(t, c, "status", map[string]any{"run": other}); got["failed"] == nil {
		t.Errorf("a run of somebody else is shown: %s", text)
	}
	got, _ := call(t, c, "status", nil)
	if list, _ := got["runs"].([]any); len(list) != 1 {
		t.Errorf("the list is %v", got)
	}
	_ = c.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
