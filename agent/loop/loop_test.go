package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a model that answers by a function of the request.
type scripted func(r llm.Request) llm.Message

func (s scripted) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	return llm.Response{Message: s(r), Model: r.Model, Usage: llm.Usage{Prompt: 100, Completion: 10}, Finish: "tool_calls"}, ctx.Err()
}

// call is an answer that calls one function.
func call(name string, args any) llm.Message {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_1", Name: name, Arguments: string(b)}}}
}

// note is a tool of any class that records its calls.
type note struct {
	spec  agent.ToolSpec
	mu    *sync.Mutex
	calls *[]string
}

func newNote(name string, class agent.Class, repeat agent.Repeat) note {
	return note{spec: agent.ToolSpec{Name: name, Description: "notes a text", Class: class, Repeat: repeat,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
		mu: &sync.Mutex{}, calls: &[]string{}}
}

func (n note) Spec() agent.ToolSpec { return n.spec }

func (n note) Run(_ context.Context, c agent.Call) agent.Result {
	n.mu.Lock()
	defer n.mu.Unlock()
	*n.calls = append(*n.calls, string(c.Arguments))
	return agent.Result{State: agent.OutcomeOK, Text: "noted", Trust: agent.Trusted}
}

func (n note) seen() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), *n.calls...)
}

// person decides in the tests.
var person = bot.Person{ID: bot.Terminal, Full: true}

// house is a whole engine on a real embedded store.
type house struct {
	t     *testing.T
	store *sqlite.Store
	desk  *runs.Client
	stop  func()
}

func open(t *testing.T, model llm.Model, change func(*loop.Config), list ...agent.Tool) *house {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	box, err := tools.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	c := loop.Config{Store: store, Blobs: store, Model: model, Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), ModelName: "test"}
	if change != nil {
		change(&c)
	}
	l, err := loop.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	h := &house{t: t, store: store, desk: &runs.Client{Journals: store, Authority: authority.Authority{RequesterMayApprove: true}}}
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(h.stop)
	return h
}

func (h *house) start(brief agent.RunStarted) agent.RunID {
	h.t.Helper()
	if brief.Goal == "" {
		brief.Goal = "make a note"
	}
	brief.Requester, brief.Slots = "terminal", 4
	run, err := h.desk.Start(h.t.Context(), brief)
	if err != nil {
		h.t.Fatal(err)
	}
	return run
}

// until follows the run until the condition holds.
func (h *house) until(run agent.RunID, what string, holds func(agent.Run) bool) agent.Run {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	for {
		r, err := h.desk.Load(ctx, run)
		if err != nil {
			h.t.Fatalf("waiting until %s: %v", what, err)
		}
		if holds(r) {
			return r
		}
		if err := h.store.Await(ctx, run, r.Seq); err != nil {
			h.t.Fatalf("waiting until %s: %v; the run is %s: %+v", what, err, r.State(), card.StatusOf(r))
		}
	}
}

func (h *house) decide(id agent.CheckpointID, word string) error {
	return h.desk.Decide(h.t.Context(), person, agent.CheckpointDecided{ID: id, Decision: word})
}

func (h *house) ended(run agent.RunID) agent.Run {
	h.t.Helper()
	return h.until(run, "the run has ended", func(r agent.Run) bool { return r.Ended != nil })
}

func task(id, tool string, more map[string]any) map[string]any {
	t := map[string]any{"id": id, "title": "Write note " + id, "instructions": "note " + id, "tools": []string{tool},
		"effort": 1, "value": 5, "acceptance": "it is noted", "deliverable": true,
		"outputs": []map[string]any{{"name": "out_" + id}}}
	maps.Copy(t, more)
	return t
}

func turns(r llm.Request) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			n++
		}
	}
	return n
}

// noter plans the tasks; each notes its id once and finishes.
func noter(tool string, tasks ...map[string]any) scripted {
	return func(r llm.Request) llm.Message {
		switch r.Purpose {
		case llm.Intake:
			return call("submit_plan", map[string]any{"name": "Notes", "tasks": tasks})
		case llm.Work:
			if turns(r) == 0 {
				return call(tool, map[string]any{"text": "from " + r.Task})
			}
			return call("finish_task", map[string]any{"summary": "noted", "outputs": []map[string]any{{"name": "out_" + r.Task, "value": r.Task}}})
		case llm.Judge:
			return call("judge_task", map[string]any{"accepted": true})
		default:
			return call("submit_report", map[string]any{"headline": "done", "body": "all noted"})
		}
	}
}

func TestGoalToReport(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	h := open(t, noter("note", task("a", "note", nil), task("b", "note", nil),
		task("c", "note", map[string]any{"depends_on": []string{"a", "b"}, "inputs": []string{"out_a"}, "instructions": "after ${out_a}"})), nil, tool)
	r := h.ended(h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever}))
	if r.Ended.State != agent.RunDone || r.Report.Headline != "done" {
		t.Fatalf("ended %+v with report %+v", r.Ended, r.Report)
	}
	if got := tool.seen(); len(got) != 3 {
		t.Errorf("the tool ran %d times: %v", len(got), got)
	}
	if got := r.Tasks["c"].Instructions; got != "after a" {
		t.Errorf("instructions of c are %q", got)
	}
	if r.Ended.ModelCalls != 1+3*3+1 {
		t.Errorf("%d model calls, want 11", r.Ended.ModelCalls)
	}
}

// A plan is not refused for its words: one model call makes it, people and the
// judge see what stayed in doubt.
func TestADoubtAboutThePlanStopsNothing(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	seen := make(chan llm.Request, 20)
	works := noter("note", task("a", "note", map[string]any{"title": "List idle virtual machines"}))
	h := open(t, scripted(func(r llm.Request) llm.Message {
		seen <- r
		if r.Purpose == llm.Intake {
			return call("submit_plan", map[string]any{"name": "Costs", "goals": []string{"Senke unsere Kosten", "Sag es dem Team"},
				"tasks": []map[string]any{task("a", "note", map[string]any{"title": "List idle virtual machines", "serves": []any{1, "nothing named"}})}})
		}
		return works(r)
	}), nil, tool)
	run := h.start(agent.RunStarted{Goal: "Reduce our cloud costs", PlanApproval: agent.ApprovePlanAlways})
	doubt := "no task seems to serve goal 2, “Sag es dem Team”"
	r := h.until(run, "the plan is asked about", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	if r.Spent.Calls != 1 {
		t.Errorf("the plan took %d model calls", r.Spent.Calls)
	}
	question := bottest.Drawn(card.Question(r, *r.OpenCheckpoint(), time.Now(), func(agent.Run, agent.CheckpointKind) []string { return nil }))
	if !strings.Contains(question, doubt) {
		t.Errorf("the question does not show the doubt:\n%s", question)
	}
	if err := h.decide(r.OpenCheckpoint().ID, agent.DecideApprove); err != nil {
		t.Fatal(err)
	}
	if r = h.ended(run); r.Ended.State != agent.RunDone || len(r.Doubts) != 1 {
		t.Errorf("ended %+v with doubts %v", r.Ended, r.Doubts)
	}
	close(seen)
	for ask := range seen {
		shown := strings.Contains(ask.Messages[1].Content, doubt)
		if want := ask.Purpose == llm.Judge || ask.Purpose == llm.Report; shown != want {
			t.Errorf("%s sees the doubt: %v, want %v:\n%s", ask.Purpose, shown, want, ask.Messages[1].Content)
		}
	}
}

func TestFirstWriteIsAskedOnce(t *testing.T) {
	tool := newNote("note", agent.ClassWrite, agent.RepeatIdempotent)
	h := open(t, noter("note", task("a", "note", nil), task("b", "note", nil)), nil, tool)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	r := h.until(run, "the write is asked for", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	if open := r.OpenCheckpoints(); len(open) != 1 || open[0].Ask != agent.CheckApproval {
		t.Fatalf("open checkpoints: %+v", open)
	}
	if got := tool.seen(); len(got) != 0 {
		t.Fatalf("the tool ran before it was approved: %v", got)
	}
	err := h.desk.Decide(t.Context(), person, agent.CheckpointDecided{ID: r.OpenCheckpoint().ID, Decision: agent.DecideApprove})
	if err != nil {
		t.Fatal(err)
	}
	r = h.ended(run)
	if r.Ended.State != agent.RunDone || len(r.Asked) != 1 || len(tool.seen()) != 2 {
		t.Errorf("ended %+v, asked %d times, tool ran %v", r.Ended, len(r.Asked), tool.seen())
	}
	err = h.desk.Decide(t.Context(), person, agent.CheckpointDecided{ID: r.Asked[0], Decision: agent.DecideApprove})
	if err == nil || !strings.Contains(err.Error(), "already decided") {
		t.Errorf("a second click said %v", err)
	}
}

// A yes that covers all further writes is a yes to what was shown: where that has
// changed meanwhile, the call is shown again.
func TestWhatWasShownBindsTheFirstWrite(t *testing.T) {
	target := &atomic.Value{}
	target.Store("as it was shown")
	tool := shifting{newNote("note", agent.ClassWrite, agent.RepeatIdempotent), target}
	h := open(t, noter("note", task("a", "note", nil)), nil, tool)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	r := h.until(run, "the write is asked for", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	target.Store("as somebody has changed it")
	if err := h.decide(r.OpenCheckpoint().ID, agent.DecideApprove); err != nil {
		t.Fatal(err)
	}
	r = h.until(run, "it is asked for again", func(r agent.Run) bool { return len(r.Asked) == 2 || r.Ended != nil })
	if got := tool.seen(); len(got) != 0 || r.Ended != nil {
		t.Fatalf("the tool ran on what nobody was shown: %v", got)
	}
	if err := h.decide(r.OpenCheckpoint().ID, agent.DecideApprove); err != nil {
		t.Fatal(err)
	}
	if r = h.ended(run); r.Ended.State != agent.RunDone || len(tool.seen()) != 1 {
		t.Errorf("ended %+v, tool ran %v", r.Ended, tool.seen())
	}
}

// shifting is a tool whose target others change.
type shifting struct {
	note
	target *atomic.Value
}

func (s shifting) Prepare(context.Context, agent.Call) (agent.Prepared, error) {
	return agent.Prepared{Target: fmt.Sprint(s.target.Load())}, nil
}

func TestUnusableRepliesEndTheStepAfterThree(t *testing.T) {
	calls := 0
	h := open(t, scripted(func(llm.Request) llm.Message {
		calls++
		return llm.Message{Role: llm.Assistant, Content: fmt.Sprint("I would rather talk ", calls)}
	}), nil)
	r := h.ended(h.start(agent.RunStarted{}))
	if r.Ended.State != agent.RunFailed || r.Ended.ModelCalls != 3 {
		t.Errorf("ended %+v", r.Ended)
	}
}

func TestBudgetStopsBeforeTheCall(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.MaxAnswer = 300 }, tool)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Limits: agent.Limits{Steps: 2}})
	r := h.until(run, "the budget is asked about", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	c := r.OpenCheckpoint()
	if c.Ask != agent.CheckBudget || c.Budget != "steps" || r.Spent.Calls != 2 {
		t.Fatalf("checkpoint %+v after %d calls", c, r.Spent.Calls)
	}
	if err := h.desk.Decide(t.Context(), person, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideFinish}); err != nil {
		t.Fatal(err)
	}
	if r = h.ended(run); r.Ended.ModelCalls != 2 || r.Ended.State != agent.RunFailed {
		t.Errorf("ended %+v", r.Ended)
	}
}

// stubborn calls the tool with the same arguments for ever.
func stubborn(tool string) scripted {
	obedient := noter(tool, task("a", tool, nil))
	return func(r llm.Request) llm.Message {
		if r.Purpose == llm.Work && !strings.Contains(r.Messages[len(r.Messages)-1].Content, "terminal says") {
			return call(tool, map[string]any{"text": "again"})
		}
		return obedient(r)
	}
}

func TestIdenticalLoopIsStoppedWithinFiveCalls(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	h := open(t, stubborn("note"), nil, tool)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	r := h.until(run, "the loop is noticed", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	c := r.OpenCheckpoint()
	if c.Ask != agent.CheckStuck || r.Spent.Calls > 5 || len(tool.seen()) > 4 {
		t.Fatalf("%s after %d model calls and %d tool calls", c.Ask, r.Spent.Calls, len(tool.seen()))
	}
	var ladder []string
	for _, f := range r.Findings {
		ladder = append(ladder, f.Rule+" "+f.Severity)
	}
	if got := strings.Join(ladder, ", "); got != "L9 check-in, L1 nudge, L3 stop" {
		t.Errorf("findings: %s", got)
	}
	err := h.desk.Decide(t.Context(), person, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideRetry, By: "terminal", Text: "try another way"})
	if err != nil {
		t.Fatal(err)
	}
	if r = h.ended(run); r.Ended.State != agent.RunDone {
		t.Errorf("ended %+v", r.Ended)
	}
}

func TestLoopThatNobodyCanBeAskedAboutFailsItsTask(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	h := open(t, stubborn("note"), nil, tool)
	r := h.ended(h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Unattended: true}))
	if r.Ended.State != agent.RunFailed || len(r.Asked) != 0 || !strings.Contains(r.Tasks["a"].Reason, "note") {
		t.Errorf("ended %+v; task a: %+v", r.Ended, r.Tasks["a"])
	}
}
