package crashtest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// farEnd is what lies beyond the engine: a model and a target of effects.
type farEnd struct {
	model  string
	target *target
}

func startFarEnd(t *testing.T, m func(p parcel, nth int) manner) farEnd {
	t.Helper()
	model := httptest.NewServer(llmtest.New(script))
	t.Cleanup(model.Close)
	return farEnd{model: model.URL + "/v1", target: startTarget(t, m)}
}

// kind is a store under test.
type kind string

const (
	embedded    kind = "sqlite"
	distributed kind = "redis"
)

// scene is one store with the people, the far end and the workers around it.
type scene struct {
	lease, deadline time.Duration
	server          *redistest.Server // nil: the embedded store
	far             farEnd
	root            string
	store           storetest.Store
	desk            *runs.Client
	words           *os.File // what workers say

	mu       sync.Mutex
	children []*child
}

func (s *scene) workspace() string { return filepath.Join(s.root, "workspace") }
func (s *scene) witness() string   { return filepath.Join(s.root, "witness") }

// build opens a new, empty store; server are options of redis-server.
func build(t *testing.T, k kind, far farEnd, lease, deadline time.Duration, server ...string) *scene {
	t.Helper()
	s := &scene{lease: lease, deadline: deadline, far: far, root: t.TempDir()}
	var err error
	if s.words, err = os.Create(filepath.Join(s.root, "words")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.tell(t) })
	if k == distributed {
		s.server = redistest.Start(t, server...)
		s.store = opened(redis.Open(t.Context(), redis.Config{URL: s.server.URL, Lease: lease}))(t)
	} else {
		s.store = opened(sqlite.Open(t.Context(), sqlite.Config{Dir: filepath.Join(s.root, "data"), Lease: lease}, sqlite.Guest))(t)
	}
	log, err := openRecord(s.witness())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.file.Close() })
	s.store = &witness{Store: s.store, reaper: &reaper{}, log: log}
	s.desk = &runs.Client{Journals: s.store, Authority: authority.Authority{RequesterMayApprove: true}}
	t.Cleanup(func() {
		for _, c := range s.children {
			c.kill()
		}
	})
	return s
}

func opened[S interface {
	storetest.Store
	Close() error
}](store S, err error) func(t *testing.T) storetest.Store {
	return func(t *testing.T) storetest.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		return store
	}
}

// tell shows the end of what the workers said where the test failed.
func (s *scene) tell(t *testing.T) {
	t.Helper()
	_ = s.words.Close()
	if !t.Failed() {
		return
	}
	said, err := os.ReadFile(s.words.Name())
	t.Logf("the workers' last words (%v):\n%s", err, said[max(0, len(said)-6000):])
}

// start opens the run of the scenario.
func (s *scene) start(ctx context.Context, run agent.RunID, goal string) error {
	c := agent.Commit{
		ID: agent.NewID(), Run: run,
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{
			Goal: goal, Requester: bot.Terminal, Folder: string(run),
			PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Slots: 4, CheckIns: 1,
		}}},
		Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
	}
	return insist(ctx, func() error {
		_, err := s.store.Commit(ctx, c)
		return err
	})
}

// insist tries until the store is there.
func insist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// follow is the person at the desk: decides what the run asks, until it ends.
func (s *scene) follow(ctx context.Context, run agent.RunID) error {
	for {
		var r agent.Run
		err := insist(ctx, func() (err error) {
			r, err = s.desk.Load(ctx, run)
			return err
		})
		switch {
		case err != nil:
			return err
		case r.Ended != nil:
			return nil
		}
		if err := s.decide(ctx, r); err != nil {
			return err
		}
		if err := s.store.Await(ctx, run, r.Seq); err != nil && ctx.Err() != nil {
			return fmt.Errorf("run %s stands at %d, %s, with %+v: %w", run, r.Seq, r.State(), card.StatusOf(r), err)
		}
	}
}

// decide answers every open question. Whether an effect happened is found out
// where a person would look: at the far end.
func (s *scene) decide(ctx context.Context, r agent.Run) error {
	for _, c := range r.OpenCheckpoints() {
		d := agent.CheckpointDecided{ID: c.ID, By: bot.Terminal}
		switch c.Ask {
		case agent.CheckApproval:
			d.Decision = agent.DecideApprove
			if c.Grant == "" {
				d.Decision = agent.DecideAlways
			}
		case agent.CheckUncertain:
			d.Decision = agent.DecideRepeat
			if s.far.target.await(ctx, parcel{Run: r.ID, Effect: c.Effect}.key(), 200*time.Millisecond) {
				d.Decision = agent.DecideDone
			}
		case agent.CheckPlan, agent.CheckClarify, agent.CheckBudget, agent.CheckStuck:
			return fmt.Errorf("run %s asks (%s) %s: %s", r.ID, c.Ask, c.Title, c.Detail)
		}
		err := insist(ctx, func() error {
			err := s.desk.Decide(ctx, bot.Person{ID: bot.Terminal, Full: true}, d)
			if errors.Is(err, runs.ErrDecided) || errors.Is(err, runs.ErrEnded) {
				return nil // its outcome arrived meanwhile
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
