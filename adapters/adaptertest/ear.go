package adaptertest

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// Notebook is a store's names without a store.
type Notebook struct {
	mu    sync.Mutex
	names map[string]string
}

// Value is what a name was given last.
func (n *Notebook) Value(_ context.Context, name string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names[name], nil
}

// Values are the names that begin with the prefix.
func (n *Notebook) Values(_ context.Context, prefix string) (map[string]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := maps.Clone(n.names)
	maps.DeleteFunc(list, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
	return list, nil
}

// SetValue gives a name a value.
func (n *Notebook) SetValue(_ context.Context, name, value string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names = map[string]string{}
	}
	n.names[name] = value
	return nil
}

// Diary is what was logged.
type Diary struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write adds to it.
func (d *Diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.Write(p)
}

// String is all of it.
func (d *Diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.String()
}

// Ear stands for the desk where a platform is tested alone: it is everything
// that was heard once. As the desk does, it takes an event with a key that it
// saw for heard.
type Ear struct {
	Names *Notebook
	Log   *Diary
	t     *testing.T

	mu     sync.Mutex
	seen   map[string]bool
	heard  []bot.Inbound
	all    int // with repetitions
	answer func(bot.Inbound) (bot.Answer, error)
	news   chan struct{}
}

// NewEar heard nothing yet.
func NewEar(t *testing.T) *Ear {
	t.Helper()
	return &Ear{Names: &Notebook{}, Log: &Diary{}, t: t, seen: map[string]bool{}, news: make(chan struct{}, 1)}
}

// Hear is a bot.Hear.
func (e *Ear) Hear(_ context.Context, in bot.Inbound) (bot.Answer, error) {
	e.mu.Lock()
	answer := e.answer
	e.mu.Unlock()
	var a bot.Answer
	if answer != nil {
		var err error
		if a, err = answer(in); err != nil {
			return a, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer ingest.Signal(e.news)
	e.all++
	for _, key := range in.Keys {
		if e.seen[key] {
			return bot.Answer{}, nil
		}
	}
	for _, key := range in.Keys {
		e.seen[key] = true
	}
	e.heard = append(e.heard, in)
	return a, nil
}

// Answers sets what is answered.
func (e *Ear) Answers(f func(bot.Inbound) (bot.Answer, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = f
}

// Always answers everything the same.
func (e *Ear) Always(a bot.Answer) {
	e.Answers(func(bot.Inbound) (bot.Answer, error) { return a, nil })
}

// Hears waits until so many different things were heard.
func (e *Ear) Hears(n int) []bot.Inbound {
	e.t.Helper()
	late := time.After(time.Minute)
	for {
		e.mu.Lock()
		heard := e.heard
		e.mu.Unlock()
		if len(heard) >= n {
			return heard
		}
		select {
		case <-e.news:
		case <-late:
			e.t.Fatalf("heard %d things, want %d: %+v\n%s", len(heard), n, heard, e.Log)
		}
	}
}

// All is how many things were heard, repetitions counted.
func (e *Ear) All() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all
}

// HeardAll waits until so many things were heard, repetitions counted.
func (e *Ear) HeardAll(n int) {
	e.t.Helper()
	late := time.After(time.Minute)
	for {
		all := e.All()
		if all >= n {
			return
		}
		select {
		case <-e.news:
		case <-late:
			e.t.Fatalf("heard %d things with repetitions, want %d\n%s", all, n, e.Log)
		}
	}
}
