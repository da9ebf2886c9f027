package pack

// A pack as a source of tools, read again when a file of it changed.

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/tools/data"
)

// Config says where a pack is, and with what its tools work.
type Config struct {
	Dir   string
	Space *data.Space
	// Script is the tool run_code.
	Script  agent.Tool
	Sandbox Runner
	// Root is the workspace's folder, absolute, and Hide what programs do not see of it.
	Root string
	Hide []string
	// Reach is the way to hosts ("HOST:PORT") that the pack names.
	Reach func(patience time.Duration, hosts ...string) (http.RoundTripper, error)
	// Env are the variables that packs may name.
	Env func(string) string
	Log *slog.Logger
}

// lookEvery is how often a pack's files are looked at.
const lookEvery = 2 * time.Second

// Source is a pack as a source of tools. It may be used from many goroutines.
type Source struct {
	c       Config
	name    string
	changed chan struct{}
	stop    context.CancelFunc
	ended   context.Context //nolint:containedctx // it ends with the Source
	looking sync.Once
	over    sync.WaitGroup

	mu    sync.Mutex
	pack  *Pack // as it was read last, nil: not yet
	err   error
	stamp string
}

// New is a source for the pack in a folder, which is read when it is first needed.
func New(c Config) *Source {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{c: c, changed: make(chan struct{}, 1)}
	s.ended, s.stop = context.WithCancel(context.Background())
	if s.name = filepath.Base(c.Dir); s.Pack() != nil {
		s.name = s.Pack().Name
	}
	return s
}

// Name is the pack's name.
func (s *Source) Name() string { return s.name }

// Declares says that what the pack says of its tools is the team's own word.
func (*Source) Declares() bool { return true }

// Changed receives when a file of the pack changed.
func (s *Source) Changed() <-chan struct{} { return s.changed }

// Close ends the looking at the files.
func (s *Source) Close() error {
	s.stop()
	s.over.Wait()
	return nil
}

// Pack is the pack as it is now, nil where it cannot be read.
func (s *Source) Pack() *Pack {
	p, _ := s.read()
	return p
}

// read reads the pack where it changed since the last time.
func (s *Source) read() (*Pack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamp := stampOf(s.c.Dir)
	if s.stamp == stamp {
		return s.pack, s.err
	}
	s.stamp = stamp
	s.pack, s.err = Open(s.c.Dir)
	return s.pack, s.err
}

// stampOf tells a folder from what it is after a change.
func stampOf(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error { // what cannot be seen is not there
		if err != nil {
			return nil //nolint:nilerr // said when it is read
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && name != dir {
			return fs.SkipDir
		}
		if info, err := e.Info(); err == nil && !e.IsDir() && b.Len() < 1<<20 {
			fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return "at " + b.String()
}

// Tools lists the tools of the pack.
func (s *Source) Tools(context.Context) ([]agent.Tool, error) {
	s.looking.Do(func() {
		s.over.Go(func() { guard.Run(s.c.Log, "the look at a pack", s.look) })
	})
	p, err := s.read()
	if err != nil {
		return nil, err
	}
	return s.c.tools(p), nil
}

// tools are those of a pack.
func (c Config) tools(p *Pack) []agent.Tool {
	list := make([]agent.Tool, 0, len(p.tools))
	for _, d := range p.tools {
		spec, err := d.spec()
		if err != nil {
			continue // it was right when the pack was read
		}
		t := tool{p: p, d: d, spec: spec}
		switch {
		case d.Data != nil:
			t.kind = querying{c.Space}
			if d.Effect != "read" {
				list = append(list, changing{t, c.Space})
				continue
			}
		case d.HTTP != nil:
			t.kind = requesting{c.Reach, c.Env}
		case d.Command != nil:
			t.kind = running{c.Sandbox, c.Root, c.Hide}
		case d.Script != nil:
			t.kind = computing{c.Script, c.Space}
		}
		if d.Effect != "read" {
			list = append(list, asked{t})
			continue
		}
		list = append(list, t)
	}
	return list
}

// Faults are what is wrong with the pack.
func (s *Source) Faults() []string {
	p := s.Pack()
	if p == nil {
		return nil
	}
	list := make([]string, len(p.Faults))
	for i, f := range p.Faults {
		list[i] = f.String()
	}
	return list
}

// look signals when a file changed, until the Source is closed.
func (s *Source) look() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	known := stampOf(s.c.Dir)
	for {
		select {
		case <-s.ended.Done():
			return
		case <-tick.C:
		}
		if now := stampOf(s.c.Dir); now != known {
			known = now
			select {
			case s.changed <- struct{}{}:
			default:
			}
		}
	}
}

// Describe is the source in words, for people who check the configuration.
func (s *Source) Describe() string {
	p, err := s.read()
	if err != nil {
		return s.c.Dir
	}
	text := fmt.Sprintf("%s %s, %s", p.Name, p.Version, p.Hash[:12])
	if len(p.Faults) > 0 {
		text += fmt.Sprintf(", with faults: see `deckhand pack check %s`", s.c.Dir)
	}
	return text
}

// Given is the pack's dataset, where it has one.
func (s *Source) Given() (data.Given, bool) {
	p := s.Pack()
	if p == nil || !p.hasData() {
		return data.Given{}, false
	}
	trust := agent.Trusted
	if p.data.Trust == string(agent.Untrusted) {
		trust = agent.Untrusted
	}
	return data.Given{Image: p.fixture.image, Rows: p.data.Rows, Trust: trust}, true
}

// hasData reports whether the pack has a dataset.
func (p *Pack) hasData() bool {
	if p.data.Database != "" || len(p.fixture.schemas) > 0 {
		return true
	}
	for name := range p.files {
		if strings.HasPrefix(name, "data/") {
			return true
		}
	}
	return slices.ContainsFunc(p.tools, func(d *definition) bool { return d.Data != nil || d.Script != nil && d.Script.SQL != "" })
}
