package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// outside is what lies beyond the engine: a model and a receiver of effects.
type outside struct {
	model    string
	receiver *receiver
}

func openOutside(t *testing.T, m func(p parcel, nth int) treatment) outside {
	t.Helper()
	model := httptest.NewServer(llmtest.New(script))
	t.Cleanup(model.Close)
	return outside{model: model.URL + "/v1", receiver: startReceiver(t, m)}
}

// env is one store with the people, the outside world and the workers around it.
type env struct {
	*crash.Backend

	deadline time.Duration
	out      outside
	root     string
	store    storetest.Store
	desk     *runs.Client
	words    *os.File // what workers say

	mu       sync.Mutex
	children []*crash.Child
}

// spawn starts a worker in reserve, that will die at the boundary of the run.
func (s *env) spawn(run agent.RunID, at crash.Boundary, workers int) (*crash.Child, error) {
	o := orders{
		Store: s.Place, Deadline: s.deadline, Workers: workers,
		Model: s.out.model, Receiver: s.out.receiver.addr, Workspace: s.workspace(), Record: s.record(), Run: run, At: at,
	}
	c, err := crash.Start(o, s.words, nil) // how it ended is seen in the journal
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.children = append(s.children, c)
	s.mu.Unlock()
	return c, nil
}

func (s *env) workspace() string { return filepath.Join(s.root, "workspace") }
func (s *env) record() string    { return filepath.Join(s.root, "record") }

// build opens a new, empty store; server are options of redis-server.
func build(t *testing.T, k crash.Kind, out outside, lease, deadline time.Duration, server ...string) *env {
	t.Helper()
	s := &env{deadline: deadline, out: out, root: t.TempDir()}
	var err error
	if s.words, err = os.Create(filepath.Join(s.root, "words")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.tell(t) })
	s.Backend = crash.StartBackend(t, k, filepath.Join(s.root, "data"), lease, server...)
	store, err := s.Open(t.Context(), sqlite.Guest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	record, err := crash.OpenRecord(s.record())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = record.Close() })
	s.store = &crash.Store{Store: store, Record: record}
	s.desk = &runs.Client{Journals: s.store, Authority: authority.Authority{RequesterMayApprove: true}}
	t.Cleanup(func() {
		for _, c := range s.children {
			c.Kill()
		}
	})
	return s
}

// tell shows the end of what the workers said where the test failed.
func (s *env) tell(t *testing.T) {
	t.Helper()
	_ = s.words.Close()
	if !t.Failed() {
		return
	}
	said, err := os.ReadFile(s.words.Name())
	t.Logf("the workers' last words (%v):\n%s", err, said[max(0, len(said)-6000):])
}

// start opens the run of the scenario.
func (s *env) start(ctx context.Context, run agent.RunID, goal string) error {
	c := agent.Commit{
		ID: agent.NewID(), Run: run,
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{
			Goal: goal, Requester: bot.Terminal, Folder: string(run),
			PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Slots: 4, CheckIns: 1, Counted: []string{slot(run)},
		}}},
		Spend: []agent.Spend{{Counter: slot(run), Nano: 1, Limit: 1}},
		Wake:  map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
	}
	return crash.Insist(ctx, func() error {
		_, err := s.store.Commit(ctx, c)
		return err
	})
}

// slot is the counter of live runs that the run takes a share of.
func slot(run agent.RunID) string { return "live/run/" + string(run) }

// follow is the person at the desk: decides what the run asks, until it ends.
func (s *env) follow(ctx context.Context, run agent.RunID) error {
	for {
		var r agent.Run
		err := crash.Insist(ctx, func() (err error) {
			r, err = s.desk.Load(ctx, run)
			return err
		})
		switch {
		case err != nil:
			return err
		case r.Ended != nil:
			return nil
		}
		if err := s.decide(ctx, r); errors.Is(err, runs.ErrNoCheckpoint) && s.Replicas > 0 {
			continue // it was read before a replica had it, and went with its master: what stands there now is read
		} else if err != nil {
			return err
		}
		if err := s.store.Await(ctx, run, r.Seq); err != nil && ctx.Err() != nil {
			return fmt.Errorf("run %s stands at %d, %s, with %+v: %w", run, r.Seq, r.State(), card.StatusOf(r), err)
		}
	}
}

// decide answers every open question. Whether an effect happened is found out
// where a person would look: at the receiver.
func (s *env) decide(ctx context.Context, r agent.Run) error {
	for _, c := range r.OpenCheckpoints() {
		d := agent.CheckpointDecided{ID: c.ID, By: bot.Terminal}
		switch c.Ask {
		case agent.CheckApproval:
			d.Decision = agent.DecideApprove
			if slices.Contains(c.Choices, agent.DecideAlways) && c.Grant == "" {
				d.Decision = agent.DecideAlways
			}
		case agent.CheckUncertain:
			d.Decision = agent.DecideRepeat
			if s.out.receiver.await(ctx, parcel{Run: r.ID, Effect: c.Effect}.key(), 200*time.Millisecond) {
				d.Decision = agent.DecideDone
			}
		case agent.CheckPlan, agent.CheckClarify, agent.CheckBudget, agent.CheckStuck:
			return fmt.Errorf("run %s asks (%s) %s: %s", r.ID, c.Ask, c.Title, c.Detail)
		}
		var gone error
		err := crash.Insist(ctx, func() error {
			err := s.desk.Decide(ctx, bot.Person{ID: bot.Terminal, Full: true}, d)
			switch {
			case errors.Is(err, runs.ErrDecided), errors.Is(err, runs.ErrEnded):
				return nil // its outcome arrived meanwhile
			case errors.Is(err, runs.ErrNoCheckpoint):
				gone = err
				return nil
			}
			return err
		})
		if err := errors.Join(err, gone); err != nil {
			return err
		}
	}
	return nil
}
