package bot

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a store that forgets: journals as agent.Store keeps them, without
// leases.
type memory struct {
	mu       sync.Mutex
	journals map[agent.RunID][]agent.Event
	once     map[string]bool
	commits  []agent.Commit
	damaged  agent.RunID
	// before, when set, runs once, ahead of the next strict commit: somebody
	// else is faster.
	before func()
}

func newMemory() *memory {
	return &memory{journals: map[agent.RunID][]agent.Event{}, once: map[string]bool{}}
}

func (m *memory) Commit(_ context.Context, c agent.Commit) (agent.Receipt, error) {
	m.mu.Lock()
	if hook := m.before; hook != nil && c.Strict {
		m.before = nil
		m.mu.Unlock()
		hook()
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	j := m.journals[c.Run]
	if c.Strict && uint64(len(j)) > c.Seen {
		return agent.Receipt{}, agent.ErrStale
	}
	for _, key := range c.Once {
		if m.once[key] {
			return agent.Receipt{}, agent.ErrSeen
		}
		m.once[key] = true
	}
	for _, e := range c.Events {
		e.Run, e.Seq, e.At = c.Run, uint64(len(j))+1, noon.Add(time.Duration(len(j))*time.Second)
		j = append(j, e)
	}
	m.journals[c.Run] = j
	m.commits = append(m.commits, c)
	return agent.Receipt{Seq: uint64(len(j)), At: noon}, nil
}

func (m *memory) Read(_ context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, known := m.journals[run]
	switch {
	case !known:
		return nil, agent.ErrNoRun
	case run == m.damaged:
		return j[:1], &agent.EntryError{Run: run, Seq: 2, Err: agent.ErrDamaged}
	}
	return append([]agent.Event(nil), j[min(after, uint64(len(j))):]...), nil
}

func (m *memory) Runs(context.Context) ([]agent.RunInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []agent.RunInfo
	for run, j := range m.journals {
		list = append(list, agent.RunInfo{Run: run, Length: uint64(len(j)), Started: j[0].At})
	}
	return list, nil
}

func (m *memory) Await(ctx context.Context, _ agent.RunID, _ uint64) error { return ctx.Err() }

// happen is what a worker journals.
func (m *memory) happen(t *testing.T, run agent.RunID, s agent.StrandID, b agent.Body) {
	t.Helper()
	if _, err := m.Commit(t.Context(), agent.Commit{Run: run, Events: []agent.Event{{Strand: s, Body: b}}}); err != nil {
		t.Fatal(err)
	}
}

// newest is the last commit.
func (m *memory) newest() agent.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commits[len(m.commits)-1]
}
