package adaptertest

// This file holds what a platform's unit tests use in place of a real bot: a
// recorder of what the adapter delivers, a name store in memory, and a log
// that tests can read.

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// Names is a store's names without a store.
type Names struct {
	mu    sync.Mutex
	names map[string]string
}

// Value is what a name was given last.
func (n *Names) Value(_ context.Context, name string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names[name], nil
}

// Values are the names that begin with the prefix.
func (n *Names) Values(_ context.Context, prefix string) (map[string]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := maps.Clone(n.names)
	maps.DeleteFunc(list, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
	return list, nil
}

// SetValue gives a name a value.
func (n *Names) SetValue(_ context.Context, name, value string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names = map[string]string{}
	}
	n.names[name] = value
	return nil
}

// Log is what was logged.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write adds to it.
func (d *Log) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.Write(p)
}

// String is all of it.
func (d *Log) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.String()
}

// Recorder stands for the bot where a platform is tested alone: it is everything
// that was heard once. As the bot does, it takes an event with a key that it
// saw for heard.
type Recorder struct {
	Names *Names
	Log   *Log
	t     *testing.T

	mu     sync.Mutex
	seen   map[string]bool
	heard  []bot.Inbound
	all    int // with repetitions
	answer func(bot.Inbound) (bot.Answer, error)
	news   chan struct{}
	places []bot.Inbound
}

// NewRecorder heard nothing yet.
func NewRecorder(t *testing.T) *Recorder {
	t.Helper()
	return &Recorder{Names: &Names{}, Log: &Log{}, t: t, seen: map[string]bool{}, news: make(chan struct{}, 1)}
}

// Hear is a bot.Hear.
func (r *Recorder) Hear(_ context.Context, in bot.Inbound) (bot.Answer, error) {
	switch in.Act.(type) {
	case bot.PlaceBack, bot.PlaceGone: // nobody did it
		r.mu.Lock()
		defer r.mu.Unlock()
		defer ingest.Signal(r.news)
		r.places = append(r.places, in)
		return bot.Answer{}, nil
	case bot.Said, bot.Unsaid, bot.Commanded, bot.Pressed, bot.Filled, bot.Stopped, bot.Visited, bot.Opened: // people do this
	}
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	var a bot.Answer
	if answer != nil {
		var err error
		if a, err = answer(in); err != nil {
			return a, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer ingest.Signal(r.news)
	r.all++
	for _, key := range in.Keys {
		if r.seen[key] {
			return bot.Answer{}, nil
		}
	}
	for _, key := range in.Keys {
		r.seen[key] = true
	}
	r.heard = append(r.heard, in)
	return a, nil
}

// Answers sets what is answered.
func (r *Recorder) Answers(f func(bot.Inbound) (bot.Answer, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// Always answers everything the same.
func (r *Recorder) Always(a bot.Answer) {
	r.Answers(func(bot.Inbound) (bot.Answer, error) { return a, nil })
}

// Hears waits until so many different things were heard.
func (r *Recorder) Hears(n int) []bot.Inbound {
	r.t.Helper()
	late := time.After(time.Minute)
	for {
		r.mu.Lock()
		heard := r.heard
		r.mu.Unlock()
		if len(heard) >= n {
			return heard
		}
		select {
		case <-r.news:
		case <-late:
			r.t.Fatalf("heard %d things, want %d: %+v\n%s", len(heard), n, heard, r.Log)
		}
	}
}

// All is how many things were heard, repetitions counted.
func (r *Recorder) All() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// HeardAll waits until so many things were heard, repetitions counted.
func (r *Recorder) HeardAll(n int) {
	r.t.Helper()
	late := time.After(time.Minute)
	for {
		all := r.All()
		if all >= n {
			return
		}
		select {
		case <-r.news:
		case <-late:
			r.t.Fatalf("heard %d things with repetitions, want %d\n%s", all, n, r.Log)
		}
	}
}

// Places are what became of places, in the order in which it was heard.
func (r *Recorder) Places() []bot.Inbound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.places)
}
