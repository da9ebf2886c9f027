package bot

import (
	"context"
	"slices"
	"strings"
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
	order    []agent.RunID // of the runs' beginnings
	once     map[string]bool
	names    map[string]string
	spent    map[string]int64
	commits  []agent.Commit
	reads    int // events that were read
	damaged  agent.RunID
	down     error // what every call says
	// before, when set, runs once, ahead of the next strict commit: somebody
	// else is faster.
	before func()
}

func newMemory() *memory {
	return &memory{journals: map[agent.RunID][]agent.Event{}, once: map[string]bool{}, names: map[string]string{}, spent: map[string]int64{}}
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
	if m.down != nil {
		return agent.Receipt{}, m.down
	}
	j, known := m.journals[c.Run]
	if c.Strict && uint64(len(j)) > c.Seen {
		return agent.Receipt{}, agent.ErrStale
	}
	for _, key := range c.Once {
		if m.once[key] {
			return agent.Receipt{}, agent.ErrSeen
		}
	}
	for _, key := range c.Once {
		m.once[key] = true
	}
	for name, value := range c.Set {
		m.set(name, value)
	}
	for _, e := range c.Events {
		e.Run, e.Seq, e.At = c.Run, uint64(len(j))+1, noon.Add(time.Duration(len(j))*time.Second)
		j = append(j, e)
	}
	if len(c.Events) > 0 {
		m.journals[c.Run] = j
		if !known {
			m.order = append(m.order, c.Run)
		}
	}
	m.commits = append(m.commits, c)
	return agent.Receipt{Seq: uint64(len(j)), At: noon}, nil
}

func (m *memory) Read(_ context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, known := m.journals[run]
	switch {
	case m.down != nil:
		return nil, m.down
	case !known:
		return nil, agent.ErrNoRun
	case run == m.damaged:
		return j[:1], &agent.EntryError{Run: run, Seq: 2, Err: agent.ErrDamaged}
	}
	newer := append([]agent.Event(nil), j[min(after, uint64(len(j))):]...)
	m.reads += len(newer)
	return newer, nil
}

func (m *memory) set(name, value string) {
	if value == "" {
		delete(m.names, name)
		return
	}
	m.names[name] = value
}

func (m *memory) Value(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.names[name], m.down
}

func (m *memory) Values(_ context.Context, prefix string) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]string{}
	for name, value := range m.names {
		if strings.HasPrefix(name, prefix) {
			found[name] = value
		}
	}
	return found, m.down
}

func (m *memory) SetValue(_ context.Context, name, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down == nil {
		m.set(name, value)
	}
	return m.down
}

func (m *memory) Spent(_ context.Context, counter string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[counter], m.down
}

func (m *memory) Runs(context.Context) ([]agent.RunInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []agent.RunInfo
	for _, run := range slices.Backward(m.order) {
		info := agent.RunInfo{Run: run, Length: uint64(len(m.journals[run])), Started: m.journals[run][0].At}
		for _, e := range m.journals[run] {
			if _, ended := e.Body.(agent.RunEnded); ended {
				info.Ended = e.At
			}
		}
		list = append(list, info)
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
