package loop_test

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// careful is a tool that looks at what it would change before its effect.
type careful struct {
	note
	look func(c agent.Call)
}

func (c careful) Prepare(_ context.Context, call agent.Call) (agent.Prepared, error) {
	c.look(call)
	return agent.Prepared{Target: "the same"}, nil
}

// loseApproval takes a journal's end away, from the approval on, behind the back
// of the worker that has folded it; false: there is none.
func loseApproval(t *testing.T, dir string, run agent.RunID) bool {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "deckhand.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Error(err)
		return false
	}
	defer func() { _ = db.Close() }()
	var seq int
	var at string
	err = db.QueryRow("SELECT seq - 1 FROM journal WHERE run = ? AND kind = 'checkpoint.decided'", string(run)).Scan(&seq)
	if err != nil {
		return false
	}
	err = db.QueryRow("SELECT at FROM journal WHERE run = ? AND seq = ?", string(run), seq).Scan(&at)
	if err != nil {
		t.Error(err)
	}
	newest, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		t.Error(err)
	}
	if _, err = db.Exec("DELETE FROM journal WHERE run = ? AND seq > ?", string(run), seq); err != nil {
		t.Error(err)
	}
	if _, err = db.Exec("UPDATE runs SET length = ?, newest = ? WHERE run = ?", seq, newest.UnixNano(), string(run)); err != nil {
		t.Error(err)
	}
	return true
}

// parked waits until no strand of the run has anything to do.
func (h *house) parked(run agent.RunID) {
	h.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); ; {
		infos, err := h.store.Runs(h.t.Context(), agent.RunFilter{})
		if err != nil {
			h.t.Fatal(err)
		}
		if len(infos) == 1 && infos[0].Run == run && infos[0].Due.IsZero() {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			h.t.Fatalf("the run is still at work: %+v", infos)
		}
	}
}

// The approval is lost after the worker has folded it and before its effect is
// written down: the effect is not made, the question is open again, and what is
// approved anew is done once.
func TestNothingIsDoneOnALostApproval(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	tool := careful{note: newNote("write", agent.ClassWrite, agent.RepeatIdempotent)}
	lost := make(chan struct{})
	var once sync.Once
	tool.look = func(c agent.Call) {
		select {
		case <-lost:
		default:
			if loseApproval(t, dir, c.Run) {
				once.Do(func() { close(lost) })
			}
		}
	}
	box, err := tools.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loop.New(loop.Config{Store: store, Blobs: store, Model: noter("write", task("a", "write", nil)), Tools: box,
		Policy: policy.Default{}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), ModelName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	h := &house{t: t, store: store, desk: &runs.Client{Journals: store, Authority: authority.Authority{RequesterMayApprove: true}}}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	asked := func(r agent.Run) bool { return r.State() == agent.RunWaiting && r.OpenCheckpoint() != nil }
	first := h.until(run, "the write is asked for", asked)
	if err := h.decide(first.OpenCheckpoint().ID, agent.DecideApprove); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lost:
	case <-time.After(time.Minute):
		t.Fatal("the approved call was never looked at")
	}
	h.parked(run)
	again := h.until(run, "the question is open again", asked)
	if got := tool.seen(); len(got) != 0 || again.OpenCheckpoint().ID != first.OpenCheckpoint().ID {
		t.Fatalf("the tool ran on a lost approval: %v; open is %+v", got, again.OpenCheckpoint())
	}
	if err := h.decide(again.OpenCheckpoint().ID, agent.DecideApprove); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(run); r.Ended.State != agent.RunDone || len(tool.seen()) != 1 {
		t.Errorf("ended %+v, the tool ran %v", r.Ended, tool.seen())
	}
}
