package packs

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools/pack"
)

// TestMain makes this binary the child of the packs' scripts.
func TestMain(m *testing.M) {
	if code, is := kit.Child(os.Args); is {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// step is a call of the script's model: a tool's name with its arguments, which may
// come of what the calls before gave.
type step struct {
	tool string
	args func(seen []string) map[string]any
}

// with are arguments that are known beforehand.
func with(pairs ...any) func([]string) map[string]any {
	args := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1] //nolint:errcheck,forcetypeassert // names are texts
	}
	return func([]string) map[string]any { return args }
}

// goal is one that is worked to its end.
type goal struct {
	name  string
	files map[string]string // of its folder
	steps []step
	// report is what the model tells at the end, of what the calls gave.
	report func(seen []string) string
	// answer decides a question; empty: approve.
	answer func(c agent.Checkpoint) string

	mu    sync.Mutex
	seen  []string // results of the calls, in their order
	asked []string // what people were asked
}

// stage is one process with all packs.
type stage struct {
	t     *testing.T
	dir   string
	mu    sync.Mutex
	goal  *goal // at work; what a request says of earlier ones is memory
	store *sqlite.Store
	desk  *runs.Client
}

// Complete is the model: it makes the next call of the goal that is at work.
func (s *stage) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	s.mu.Lock()
	g := s.goal
	s.mu.Unlock()
	var seen []string
	turns := 0
	for _, m := range r.Messages {
		switch m.Role {
		case llm.Assistant:
			turns++
		case llm.Tool:
			seen = append(seen, m.Content)
		}
	}
	name, args := g.next(r, turns, seen)
	text, err := json.Marshal(args)
	m := llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_" + strconv.Itoa(turns), Name: name, Arguments: string(text)}}}
	return llm.Response{Message: m, Model: r.Model, Usage: llm.Usage{Prompt: 10, Completion: 10}, Finish: "tool_calls"}, err
}

// next is the model's decision.
func (g *goal) next(r llm.Request, turns int, seen []string) (name string, args map[string]any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case r.Purpose == llm.Intake:
		var tools []string
		for _, st := range g.steps {
			if !slices.Contains(tools, st.tool) {
				tools = append(tools, st.tool)
			}
		}
		return "submit_plan", map[string]any{"name": g.name, "tasks": []map[string]any{{"id": "a", "title": "Work on " + g.name, "instructions": "goal:" + g.name + ". Do it.",
			"effort": 1, "value": 5, "tools": tools, "acceptance": "it is there", "deliverable": true, "outputs": []map[string]any{{"name": "out"}}}}}
	case r.Purpose == llm.Work && turns < len(g.steps):
		g.seen = seen
		return g.steps[turns].tool, g.steps[turns].args(seen)
	case r.Purpose == llm.Work:
		g.seen = seen
		return "finish_task", map[string]any{"summary": "done", "outputs": []map[string]any{{"name": "out", "value": g.report(seen)}}}
	case r.Purpose == llm.Judge:
		return "judge_task", map[string]any{"accepted": true}
	}
	return "submit_report", map[string]any{"headline": g.name, "body": g.report(g.seen)}
}

// open starts the process with the shipped packs, as `pack add` leaves them.
func open(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir()}
	c := config.Defaults()
	c.Workspace, c.DataDir, c.Model.Name = s.dir, "", "scripted"
	for _, name := range pack.Shipped() {
		p, err := pack.OpenShipped(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), name)
		if err := p.Copy(dir); err != nil {
			t.Fatal(err)
		}
		c.Packs = append(c.Packs, dir)
	}
	var err error
	if s.store, err = sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker); err != nil {
		t.Fatal(err)
	}
	process, err := app.New(t.Context(), app.Options{Config: c, Store: s.store, Model: s, Log: slog.New(slog.DiscardHandler), WorkOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s.desk = &runs.Client{Journals: s.store, Authority: authority.Authority{RequesterMayApprove: true}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- process.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		_ = s.store.Close()
	})
	return s
}

// work runs a goal to its end, and answers what people are asked.
func (s *stage) work(g *goal) agent.Run {
	s.t.Helper()
	for name, text := range g.files {
		at := filepath.Join(s.dir, g.name, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.mu.Lock()
	s.goal = g
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	run, err := s.desk.Start(ctx, agent.RunStarted{Goal: "goal:" + g.name + ".", Requester: bot.Terminal, Slots: 1, Folder: g.name,
		PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		r, err := s.desk.Load(ctx, run)
		if err != nil {
			s.t.Fatal(err)
		}
		if r.Ended != nil {
			return r
		}
		c := r.OpenCheckpoint()
		if c == nil {
			if err := s.store.Await(ctx, run, r.Seq); err != nil {
				s.t.Fatalf("%s: %v; the run is %s; seen %q", g.name, err, r.State(), g.seen)
			}
			continue
		}
		word := "approve"
		if g.answer != nil {
			word = g.answer(*c)
		}
		g.asked = append(g.asked, c.Title+"\n"+c.Detail)
		err = s.desk.Decide(ctx, bot.Person{ID: bot.Terminal, Full: true}, agent.CheckpointDecided{ID: c.ID, Decision: word})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// last is what the newest call gave.
func last(seen []string) string {
	if len(seen) == 0 {
		return ""
	}
	return seen[len(seen)-1]
}

// holds fails where a text lacks something.
func holds(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", what, want, text)
		}
	}
}
