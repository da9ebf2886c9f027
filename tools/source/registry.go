package source

// This file keeps what all sources give as the one set of tools that runs are
// offered. What is built in is there at once and for good; what a source gives
// comes and goes with it, and one bad tool costs itself alone.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/find"
)

// Config is what a Registry is made from.
type Config struct {
	// Sources are the families that are built in and those that the
	// configuration names. No two have the same name.
	Sources []Source
	// Effects is what the configuration says about foreign tools.
	Effects Effects
	// Pins keeps what foreign tools were when they were first seen; nil: any
	// change of theirs counts at once.
	Pins Pins
	// Changed, when set, hears of tools that say something else than was accepted,
	// once of each change: they wait for a person.
	Changed func(ctx context.Context, source string, changes []Change)
	// Private names the tools whose results are nobody else's business; a name may
	// end with "*".
	Private []string
	// Wrap, when set, is put around every tool.
	Wrap func(agent.Tool) agent.Tool
	Log  *slog.Logger
}

// Registry is the tools that there are at the moment. It may be used from many
// goroutines.
type Registry struct {
	cfg     Config
	foreign []*member
	built   []agent.Tool

	mu  sync.Mutex // while the set is put together anew
	box atomic.Pointer[tools.Box]

	found atomic.Pointer[indexed]
}

// member is a source with what it gave last.
type member struct {
	source Source

	mu    sync.Mutex
	tools []agent.Tool
	err   error // why it cannot be asked now, nil: it was
	known bool  // it was asked
	bad   []string
	held  bool   // tools wait for a person
	told  string // the changes that were told last
}

// Standing is how a source stands, for people.
type Standing struct {
	Source string
	Tools  int
	// Problem is why the source gives nothing now, empty: it does.
	Problem string
	// Refused says of tools that are not offered why not.
	Refused []string
	// Asked is false until the source was asked for the first time.
	Asked bool
}

// ErrSources is returned by New for sources that cannot be told apart.
var ErrSources = errors.New("two sources have the same name")

// New makes a Registry with the tools that are built in. It returns ErrSources,
// or what tools.New returns.
func New(c Config) (*Registry, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	r := &Registry{cfg: c}
	seen := map[string]string{}
	for _, s := range c.Sources {
		if list, is := s.(fixed); is {
			r.built = append(r.built, r.wrapped(list)...)
			continue
		}
		if other, taken := seen[plain(s.Name())]; taken {
			return nil, fmt.Errorf("%w: %q and %q; rename one of them", ErrSources, other, s.Name())
		}
		seen[plain(s.Name())] = s.Name()
		r.foreign = append(r.foreign, &member{source: s})
	}
	box, err := tools.New(r.built...)
	if err != nil {
		return nil, err
	}
	r.box.Store(box)
	return r, nil
}

func (r *Registry) wrapped(list []agent.Tool) []agent.Tool {
	list = slices.Clone(list)
	for i := range list {
		if r.cfg.Wrap != nil {
			list[i] = r.cfg.Wrap(list[i])
		}
	}
	return list
}

// Specs lists the tools that there are now, sorted by name. Nobody changes the
// slice; other tools are another one.
func (r *Registry) Specs() []agent.ToolSpec { return r.box.Load().Specs() }

// Tool returns the tool with the name and whether there is one.
func (r *Registry) Tool(name string) (agent.Tool, bool) { return r.box.Load().Tool(name) }

// Check validates the arguments of a call, as tools.Box does.
func (r *Registry) Check(name string, arguments json.RawMessage) error {
	return r.box.Load().Check(name, arguments)
}

// Nearest returns known names that resemble the name, the nearest first.
func (r *Registry) Nearest(name string) []string { return r.box.Load().Nearest(name) }

// Standings says how each foreign source stands, in the order of the configuration.
func (r *Registry) Standings() []Standing {
	list := make([]Standing, len(r.foreign))
	for i, m := range r.foreign {
		m.mu.Lock()
		list[i] = Standing{Source: m.source.Name(), Tools: len(m.tools), Refused: slices.Clone(m.bad), Asked: m.known}
		if m.err != nil {
			list[i].Problem = m.err.Error()
		}
		m.mu.Unlock()
	}
	return list
}

// Load asks every foreign source once, all at the same time, and returns when
// each has answered or ctx ends. What a source could not say stands in Standings.
func (r *Registry) Load(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range r.foreign {
		all.Go(func() { _ = r.refresh(ctx, m) }) // Standings tell it
	}
	all.Wait()
}

// Close ends all sources.
func (r *Registry) Close() error {
	var errs []error
	for _, s := range r.cfg.Sources {
		if err := s.Close(); err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", s.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// refresh asks a source what it gives. Where it cannot be asked, what it gave
// before stays.
func (r *Registry) refresh(ctx context.Context, m *member) error {
	given, err := m.source.Tools(ctx)
	var changed map[string]Change
	if err == nil {
		given = given[:min(len(given), maxTools)]
		changed, err = r.held(ctx, m.source, given)
	}
	m.mu.Lock()
	m.err, m.known = err, m.known || err == nil
	if err == nil {
		m.tools, m.bad = r.adoptAll(m.source, given, changed)
		m.held = len(changed) > 0
	}
	m.mu.Unlock()
	if err == nil {
		r.rebuild()
		r.tell(ctx, m, changed)
	}
	return err
}

// tell says which tools wait for a person, once of each change.
func (r *Registry) tell(ctx context.Context, m *member, changed map[string]Change) {
	list := sorted(changed)
	text := fmt.Sprint(list)
	m.mu.Lock()
	known := m.told == text || len(list) == 0
	m.told = text
	m.mu.Unlock()
	if !known && r.cfg.Changed != nil {
		r.cfg.Changed(ctx, m.source.Name(), list)
	}
}

// adoptAll makes a source's tools into those of runs, and says which could not be.
func (r *Registry) adoptAll(s Source, given []agent.Tool, changed map[string]Change) (list []agent.Tool, bad []string) {
	if len(given) == maxTools {
		bad = append(bad, fmt.Sprintf("%s gives very many tools: no more than %d are looked at", s.Name(), maxTools))
	}
	d, is := s.(Declared)
	declared := is && d.Declares()
	bare := make([]string, len(given))
	for i, t := range given {
		bare[i] = t.Spec().Name
	}
	named, seen := names(s.Name(), bare), map[string]bool{}
	for i, t := range given {
		tool, err := agent.Tool(nil), errNoName
		switch {
		case seen[bare[i]]:
			err = fmt.Errorf("%q is given twice: the second one is left out", bare[i])
		case changed[bare[i]].Tool != "":
			err = fmt.Errorf("%s %w; `deckhand tools accept %s` shows the difference and takes it over", bare[i], errChanged, s.Name())
		case bare[i] != "":
			tool, err = r.adopt(s.Name(), named[bare[i]], t, declared)
		}
		seen[bare[i]] = true
		if err != nil {
			bad = append(bad, harmless(err.Error(), maxDescription))
			continue
		}
		list = append(list, tool)
	}
	if f, is := s.(Faulty); is {
		for _, fault := range f.Faults() {
			bad = append(bad, harmless(fault, maxDescription))
		}
	}
	for _, why := range bad {
		r.cfg.Log.Warn("a tool of a source is not offered", "source", s.Name(), "err", why)
	}
	return r.wrapped(list), bad
}

// rebuild puts the set together anew, where it became another.
func (r *Registry) rebuild() {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.built)
	for _, m := range r.foreign {
		m.mu.Lock()
		all = append(all, m.tools...)
		m.mu.Unlock()
	}
	box, err := tools.Gather(all...)
	if err != nil { // a built-in tool has the name of a foreign one
		r.cfg.Log.Error("the tools of a source cannot be offered beside the others", "err", err)
		return
	}
	if !slices.EqualFunc(box.Specs(), r.box.Load().Specs(), same) {
		r.box.Store(box)
	}
}

// same reports whether two descriptions are the same to a run.
func same(a, b agent.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && a.Class == b.Class && a.Repeat == b.Repeat &&
		a.Timeout == b.Timeout && a.Deadline == b.Deadline && a.Trust == b.Trust && a.MaxResult == b.MaxResult && a.Source == b.Source &&
		string(a.Parameters) == string(b.Parameters) && string(a.Example) == string(b.Example)
}

// Find returns up to n tools that fit a request in words, the best first; none:
// nothing fits.
func (r *Registry) Find(request string, n int) []find.Match { return r.index().Search(request, n) }

// Rank returns up to n tools for a text, the nearest first, however little they fit.
func (r *Registry) Rank(text string, n int) []find.Match { return r.index().Rank(text, n) }

// index is made when somebody asks for it, and anew when the tools are others.
func (r *Registry) index() *find.Index {
	box := r.box.Load()
	if known := r.found.Load(); known != nil && known.box == box {
		return known.index
	}
	specs := box.Specs()
	list := make([]find.Tool, len(specs))
	for i, s := range specs {
		list[i] = find.Of(s)
	}
	made := &indexed{box, find.New(list)}
	r.found.Store(made)
	return made.index
}

// indexed is the index of a set of tools.
type indexed struct {
	box   *tools.Box
	index *find.Index
}
