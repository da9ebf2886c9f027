package families

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

func TestMain(m *testing.M) {
	if code, is := kit.Child(os.Args); is {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// call is what the model calls, and what has to come of it.
type call struct {
	name  string
	args  map[string]any
	tool  string // that is run; empty: of the same name
	asked bool   // a person is asked
	want  string // in the result that the model reads next
}

// actor makes the calls one after the other.
type actor struct {
	t     *testing.T
	calls []call
}

// Complete is the model.
func (a actor) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	turns := 0
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			turns++
		}
	}
	m := llm.Message{Role: llm.Assistant}
	say := func(name string, args any) {
		text, err := json.Marshal(args)
		if err != nil {
			a.t.Error(err)
		}
		m.Calls = []llm.Call{{ID: fmt.Sprint("call_", turns), Name: name, Arguments: string(text)}}
	}
	switch {
	case r.Purpose == llm.Intake:
		say("submit_plan", map[string]any{"name": "Work", "tasks": []map[string]any{{"id": "a", "title": "Summarize what came in", "instructions": "Work on what came in",
			"effort": 1, "value": 5, "acceptance": "it is there", "deliverable": true, "outputs": []map[string]any{{"name": "out"}}}}})
	case r.Purpose == llm.Work && turns < len(a.calls):
		say(a.calls[turns].name, a.calls[turns].args)
	case r.Purpose == llm.Work && turns == len(a.calls):
		say("task_complete", map[string]any{"reason": "all was used"}) // the announced output is missing: it is refused
	case r.Purpose == llm.Work:
		say("finish_task", map[string]any{"summary": "done", "outputs": []map[string]any{{"name": "out", "value": "done"}}})
	case r.Purpose == llm.Judge:
		say("judge_task", map[string]any{"accepted": true})
	default:
		say("submit_report", map[string]any{"headline": "done", "body": "done"})
	}
	return llm.Response{Message: m, Model: r.Model, Usage: llm.Usage{Prompt: 10, Completion: 10}, Finish: "tool_calls"}, ctx.Err()
}

// far is the world outside.
func far(t *testing.T) (s *httptest.Server, posted *[]string) {
	t.Helper()
	posted = &[]string{}
	mux := http.NewServeMux()
	answer := func(path, kind, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && !strings.HasPrefix(path, "/v1") {
				body, _ := io.ReadAll(r.Body)
				*posted = append(*posted, path+" "+string(body))
			}
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		})
	}
	answer("/search", "application/json", `{"results":[{"title":"Tides of Kiel","url":"https://tides.example/kiel","content":"twice a day"}]}`)
	answer("/page", "text/html", `<title>Tides</title><p>High water at <b>nine</b>.</p>`)
	answer("/api/notes", "application/json", `{"id":7}`)
	answer("/posts", "application/json", `{"posted":true}`)
	answer("/v1/images/generations", "application/json", `{"data":[{"b64_json":"`+base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))+`"}]}`)
	s = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, posted
}

func TestFamilies(t *testing.T) {
	s, posted := far(t)
	host := strings.TrimPrefix(s.URL, "http://")
	c := config.Defaults()
	c.Workspace, c.DataDir = t.TempDir(), t.TempDir()
	c.Web.Private, c.Search = []string{host}, config.Search{Kind: "searxng", URL: s.URL}
	c.Tools.HTTP.Hosts, c.Tools.PostExternal.URL = []string{host}, s.URL+"/posts"
	c.Images.Model, c.Model.BaseURL = "gpt-image-1", s.URL+"/v1"
	calls := []call{
		{name: "google", args: map[string]any{"query": "tides"}, tool: "web_search", want: "https://tides.example/kiel"},
		{name: "browse_website", args: map[string]any{"url": s.URL + "/page", "question": "When is high water?"}, want: "High water at **nine**."},
		{name: "http_request", args: map[string]any{"url": s.URL + "/api/notes"}, want: `{"id":7}`},
		{name: "http_request", args: map[string]any{"method": "POST", "url": s.URL + "/api/notes", "body": map[string]any{"text": "hi"}}, asked: true, want: `{"id":7}`},
		{name: "send_tweet", args: map[string]any{"text": "hello"}, tool: "post_external", asked: true, want: `{"posted":true}`},
		{name: "generate_image", args: map[string]any{"prompt": "a boat", "path": "boat.png"}, asked: true, want: "saved the picture as boat.png"},
		{name: "search_files", args: map[string]any{"directory": "."}, tool: "list_files", want: "boat.png"},
	}
	r := played(t, c, calls)
	for i, want := range calls {
		if want.tool == "" {
			want.tool = want.name
		}
		o := r.outcomes[i]
		if o.tool != want.tool || o.asked != want.asked || !strings.Contains(o.text, want.want) {
			t.Errorf("%s: %+v, want %s (asked: %v): %q", want.name, o, want.tool, want.asked, want.want)
		}
	}
	if fmt.Sprint(*posted) != `[/api/notes {"text":"hi"} /posts {"text":"hello"}]` {
		t.Errorf("posted: %q", *posted)
	}
	if _, err := os.Stat(filepath.Join(c.Workspace, "boat.png")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(r.refused, "outputs are missing: out") {
		t.Errorf("task_complete did not check its goals: %q", r.refused)
	}
}

// outcome is what came of a call.
type outcome struct {
	tool, text string
	asked      bool
}

// told is what a journal says of the calls.
type told struct {
	outcomes []outcome
	refused  string // the first call that was refused
}

// played works a run to its end; a person says yes to whatever is asked.
func played(t *testing.T, c config.Config, calls []call) told {
	t.Helper()
	k, err := kit.New(kit.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: c.DataDir}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loop.New(loop.Config{Store: store, Blobs: store, Model: actor{t, calls}, Tools: k.Box, Policy: policy.Default{}, Log: slog.New(slog.DiscardHandler), ModelName: "scripted"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	desk := &runs.Client{Journals: store, Authority: authority.Authority{RequesterMayApprove: true}}
	run, err := desk.Start(ctx, agent.RunStarted{Goal: "Use the tools", Requester: bot.Terminal, Slots: 1, Autonomy: agent.AskRisky, PlanApproval: agent.ApprovePlanNever})
	if err != nil {
		t.Fatal(err)
	}
	for {
		r, err := desk.Load(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		if r.Ended != nil {
			break
		}
		if open := r.OpenCheckpoint(); open != nil {
			if err := desk.Decide(ctx, bot.Person{ID: bot.Terminal, Full: true}, agent.CheckpointDecided{ID: open.ID, Decision: agent.DecideApprove}); err != nil {
				t.Fatalf("%s: %v: %s", open.Title, err, open.Detail)
			}
			continue
		}
		if err := store.Await(ctx, run, r.Seq); err != nil {
			t.Fatalf("%v; the run is %s", err, r.State())
		}
	}
	return read(t, store, run)
}

func read(t *testing.T, store *sqlite.Store, run agent.RunID) (all told) {
	t.Helper()
	events, err := store.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	asked, tools := map[agent.EffectID]bool{}, map[agent.EffectID]string{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case agent.CheckpointOpened:
			asked[b.Effect] = true
		case agent.ToolIntent:
			tools[b.Effect] = b.Tool
		case agent.ToolOutcome:
			all.outcomes = append(all.outcomes, outcome{tools[b.Effect], b.Text, asked[b.Effect]})
		case agent.CallReplied:
			if all.refused == "" && strings.Contains(b.Text, "missing") {
				all.refused = b.Text
			}
		}
	}
	return all
}
