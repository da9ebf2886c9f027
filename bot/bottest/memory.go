package bottest

// This file holds a store in memory, with which tests can follow every commit
// and read, and fake failures, damage and competing writers.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Size counts the events of all journals.
func (m *Memory) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, j := range m.Journals {
		n += len(j)
	}
	return n
}

// Memory is a store that forgets: journals as agent.Store keeps them, without
// leases.
type Memory struct {
	mu       sync.Mutex
	Journals map[agent.RunID][]agent.Event
	Order    []agent.RunID // of the runs' beginnings
	Once     map[string]bool
	Names    map[string]string
	Anchors  map[agent.RunID]string // of the runs that NewRun made
	spent    map[string]int64
	Commits  []agent.Commit
	Reads    int // events that were read
	Damaged  agent.RunID
	Newer    agent.RunID // whose journal a newer build wrote
	Down     error       // what every call says
	// before, when set, runs once, ahead of the next strict commit: somebody
	// else is faster.
	Before func()
}

// NewMemory is an empty store.
func NewMemory() *Memory {
	return &Memory{Journals: map[agent.RunID][]agent.Event{}, Once: map[string]bool{}, Names: map[string]string{}, Anchors: map[agent.RunID]string{}, spent: map[string]int64{}}
}

// NewRun makes an id that Anchors knows.
func (m *Memory) NewRun(anchor string) agent.RunID {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := agent.RunID(agent.NewID())
	m.Anchors[run] = anchor
	return run
}

// Together says what the run's first commit concerns beside its run's anchor:
// in a store of several parts it is no one atomic write then.
func (m *Memory) Together(run agent.RunID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	anchor := m.Anchors[run]
	for _, c := range m.Commits {
		if c.Run != run {
			continue
		}
		if anchor == "" || c.Anchor != anchor {
			return fmt.Errorf("run %s is at %q and its once-keys %q at %q", run, anchor, c.Once, c.Anchor)
		}
		for name := range c.Set {
			if at := agent.AnchorOf(name); at != anchor {
				return fmt.Errorf("run %s is at %q and the name %s at %q", run, anchor, name, at)
			}
		}
		return nil
	}
	return fmt.Errorf("run %s: %w", run, agent.ErrNoRun)
}

// Now is the time of this process.
func (m *Memory) Now(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now(), m.Down
}

// Commit keeps events and values.
func (m *Memory) Commit(_ context.Context, c agent.Commit) (agent.Receipt, error) {
	m.mu.Lock()
	if hook := m.Before; hook != nil && c.Strict {
		m.Before = nil
		m.mu.Unlock()
		hook()
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if m.Down != nil {
		return agent.Receipt{}, m.Down
	}
	j, known := m.Journals[c.Run]
	if c.Strict && uint64(len(j)) > c.Seen {
		return agent.Receipt{}, agent.ErrStale
	}
	for _, key := range c.Once {
		if m.Once[key] {
			return agent.Receipt{}, agent.ErrSeen
		}
	}
	for _, key := range c.Once {
		m.Once[key] = true
	}
	for name, value := range c.Set {
		m.set(name, value)
	}
	for _, e := range c.Events {
		e.Run, e.Seq, e.At = c.Run, uint64(len(j))+1, Noon.Add(time.Duration(len(j))*time.Second)
		j = append(j, e)
	}
	if len(c.Events) > 0 {
		m.Journals[c.Run] = j
		if !known {
			m.Order = append(m.Order, c.Run)
		}
	}
	m.Commits = append(m.Commits, c)
	return agent.Receipt{Seq: uint64(len(j)), At: Noon}, nil
}

func (m *Memory) Read(_ context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, known := m.Journals[run]
	switch {
	case m.Down != nil:
		return nil, m.Down
	case !known:
		return nil, agent.ErrNoRun
	case run == m.Newer:
		return j[:1], &agent.EntryError{Run: run, Seq: 2, Err: agent.ErrNewer}
	case run == m.Damaged:
		return j[:1], &agent.EntryError{Run: run, Seq: 2, Err: agent.ErrDamaged}
	}
	newer := append([]agent.Event(nil), j[min(after, uint64(len(j))):]...)
	m.Reads += len(newer)
	return newer, nil
}

func (m *Memory) set(name, value string) {
	if value == "" {
		delete(m.Names, name)
		return
	}
	m.Names[name] = value
}

// Value is what a name has.
func (m *Memory) Value(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Names[name], m.Down
}

// Values are the names with a prefix, with what they have.
func (m *Memory) Values(_ context.Context, prefix string) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]string{}
	for name, value := range m.Names {
		if strings.HasPrefix(name, prefix) {
			found[name] = value
		}
	}
	return found, m.Down
}

// SetValue gives a name a value.
func (m *Memory) SetValue(_ context.Context, name, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Down == nil {
		m.set(name, value)
	}
	return m.Down
}

// Spent is what a counter counted.
func (m *Memory) Spent(_ context.Context, counter string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[counter], m.Down
}

// Runs lists the runs, the newest first.
func (m *Memory) Runs(_ context.Context, f agent.RunFilter) ([]agent.RunInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.infos(f)
	if f.Most > 0 && len(list) > f.Most {
		list = list[:f.Most]
	}
	return list, m.Down
}

// CountRuns counts the runs.
func (m *Memory) CountRuns(_ context.Context, f agent.RunFilter) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.infos(f)), m.Down
}

func (m *Memory) infos(f agent.RunFilter) (list []agent.RunInfo) {
	for _, run := range slices.Backward(m.Order) {
		info := agent.RunInfo{Run: run, Length: uint64(len(m.Journals[run])), Started: m.Journals[run][0].At}
		for _, e := range m.Journals[run] {
			if _, ended := e.Body.(agent.RunEnded); ended {
				info.Ended = e.At
			}
		}
		if f.Holds(info) {
			list = append(list, info)
		}
	}
	return list
}

// Await waits for nothing.
func (m *Memory) Await(ctx context.Context, _ agent.RunID, _ uint64) error { return ctx.Err() }

// Happen is what a worker journals.
func (m *Memory) Happen(t *testing.T, run agent.RunID, s agent.StrandID, b agent.Body) {
	t.Helper()
	if _, err := m.Commit(t.Context(), agent.Commit{Run: run, Events: []agent.Event{{Strand: s, Body: b}}}); err != nil {
		t.Fatal(err)
	}
}

// Newest is the last commit.
func (m *Memory) Newest() agent.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Commits[len(m.Commits)-1]
}
