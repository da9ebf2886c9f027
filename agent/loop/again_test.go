package loop_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// versioned is the default policy under a version of its own.
type versioned struct {
	policy.Default
	version string
}

func (v versioned) Permit(r *agent.Run, a agent.Act) agent.Permission {
	p := v.Default.Permit(r, a)
	p.Version = v.version
	return p
}

// reopened is a store that a process opens anew; work begins with its worker.
func reopened(t *testing.T, dir string) *house {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, store: store, desk: &runs.Client{Journals: store, Authority: authority.Authority{RequesterMayApprove: true}}}
	h.stop = sync.OnceFunc(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { h.stop() })
	return h
}

// works starts a worker of the process.
func (h *house) works(p agent.Policy, tool agent.Tool) {
	h.t.Helper()
	box, err := tools.New(tool)
	if err != nil {
		h.t.Fatal(err)
	}
	l, err := loop.New(loop.Config{Store: h.store, Blobs: h.store, Model: noter("write", task("a", "write", nil)), Tools: box,
		Policy: p, Log: slog.New(slog.NewTextHandler(h.t.Output(), nil)), ModelName: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	closes := h.stop
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Error(err)
		}
		closes()
	})
}

// A call is approved, the process ends before the effect, and the next one finds
// the file or the policy changed: nothing is done, people are asked again and told
// why, and what is approved anew is done once. Where nothing changed, nobody is
// asked again.
func TestWhatChangedBeforeTheEffectIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		file, policy string
		asked        int
		says         string
	}{
		"nothing changed":    {"as it was", "v1", 1, ""},
		"the file changed":   {"as somebody changed it", "v1", 2, "is not what it was when this was approved"},
		"the policy changed": {"as it was", "v2", 2, "The policy changed since this was approved"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, target := t.TempDir(), &atomic.Value{}
			target.Store("as it was")
			tool := shifting{newNote("write", agent.ClassWrite, agent.RepeatIdempotent), target}
			first := reopened(t, dir)
			first.works(versioned{version: "v1"}, tool)
			run := first.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
			r := first.until(run, "the write is asked for", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
			first.stop()

			next := reopened(t, dir)
			if err := next.decide(r.OpenCheckpoint().ID, agent.DecideApprove); err != nil {
				t.Fatal(err)
			}
			target.Store(c.file)
			next.works(versioned{version: c.policy}, tool)
			r = next.until(run, "the call is taken up", func(r agent.Run) bool { return len(r.Asked) == 2 || r.Ended != nil })
			if c.asked == 2 {
				open := r.OpenCheckpoint()
				if r.Ended != nil || open == nil || !strings.Contains(open.Title, c.says) || len(tool.seen()) != 0 {
					t.Fatalf("asked again: %+v; ended %+v; the tool ran %v", open, r.Ended, tool.seen())
				}
				if err := next.decide(open.ID, agent.DecideApprove); err != nil {
					t.Fatal(err)
				}
			}
			if r = next.ended(run); r.Ended.State != agent.RunDone || len(r.Asked) != c.asked || len(tool.seen()) != 1 {
				t.Errorf("ended %+v, asked %d times, the tool ran %v", r.Ended, len(r.Asked), tool.seen())
			}
		})
	}
}
