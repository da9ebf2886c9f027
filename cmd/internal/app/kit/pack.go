package kit

// This file connects packs: their tools, their servers and documents, and the
// datasets that they bring along.

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/data"
	"github.com/deckhand-bot/deckhand/tools/pack"
	"github.com/deckhand-bot/deckhand/tools/plot"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/source"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// packed are the packs as sources with all that they connect, the built-in tools for
// datasets and numbers, and what packs say of the effects of foreign tools.
func packed(o Options, space *workspace.Workspace, box *sandbox.Sandbox, script agent.Tool) ([]source.Source, []agent.Tool, source.Effects, error) {
	packs, datasets, err := newPacks(o, space, box, script)
	if err != nil {
		return nil, nil, nil, err
	}
	sources, err := connected(o, space, packs)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, p := range packs {
		sources = append(sources, p)
	}
	numbered, err := newNumbers(o.Config)
	return sources, append(data.Tools(datasets, plot.New(space)), numbered...), packEffects(packs), err
}

// newPacks are the packs of the configuration, and the datasets of runs, theirs among
// them. No pack is read before its tools are asked for, but for its name.
func newPacks(o Options, space *workspace.Workspace, box *sandbox.Sandbox, script agent.Tool) ([]*pack.Source, *data.Space, error) {
	c := o.Config
	root, err := filepath.Abs(c.Workspace)
	if err != nil {
		return nil, nil, err
	}
	datasets := &data.Space{Workspace: space, Trust: o.Trust}
	packs := make([]*pack.Source, len(c.Packs))
	for i, dir := range c.Packs {
		packs[i] = pack.New(pack.Config{
			Dir: dir, Space: datasets, Script: script, Sandbox: box, Root: root, Hide: hidden(c), Env: os.Getenv, Log: o.Log,
			Reach: func(patience time.Duration, hosts ...string) (http.RoundTripper, error) {
				return wayOut(c, patience, hosts...)
			},
		})
	}
	datasets.Given = func(name string) (data.Given, bool) {
		for _, p := range packs {
			if p.Name() == name {
				return p.Given()
			}
		}
		return data.Given{}, false
	}
	datasets.Names = func() []string {
		var list []string
		for _, p := range packs {
			if _, is := p.Given(); is {
				list = append(list, p.Name())
			}
		}
		return list
	}
	return packs, datasets, nil
}

// packEffects is what packs say of the tools of their servers and documents.
func packEffects(packs []*pack.Source) source.Effects {
	all := source.Effects{}
	for _, s := range packs {
		if p := s.Pack(); p != nil {
			for name, effect := range p.Effects {
				all[name] = source.Effect(effect)
			}
		}
	}
	return all
}

// connected are the servers and documents of packs. A pack of which these cannot be
// read gives its other tools.
func connected(o Options, space *workspace.Workspace, packs []*pack.Source) ([]source.Source, error) {
	var list []source.Source
	for _, s := range packs {
		p := s.Pack()
		if p == nil {
			continue
		}
		servers, documents, err := PackConnections(p)
		if err != nil {
			if o.Log != nil {
				o.Log.Warn("what a pack connects cannot be read", "pack", p.Name, "err", err)
			}
			continue
		}
		more, err := newServers(o, space, servers)
		if err != nil {
			return nil, fmt.Errorf("the pack %s: %w", p.Name, err)
		}
		list = append(append(list, more...), newDocuments(o, space, documents)...)
	}
	return list, nil
}

// PackConnections are the servers of a pack's mcp.json and the documents of its
// openapi folder, each by its name; openapi.yaml says more of these: server and
// credentials, as in the configuration.
func PackConnections(p *pack.Pack) (map[string]config.MCPServer, map[string]config.OpenAPI, error) {
	var c config.Connections
	for _, name := range []string{"mcp.json", "openapi.yaml"} {
		at := filepath.Join(p.Dir, name)
		if _, err := os.Stat(at); err != nil {
			continue
		}
		read, err := config.ReadConnections(at, packVariable)
		if err != nil {
			return nil, nil, err
		}
		c = c.With(read)
	}
	documents := maps.Clone(c.OpenAPI)
	if documents == nil {
		documents = map[string]config.OpenAPI{}
	}
	for _, file := range p.Documents {
		at := filepath.Join(p.Dir, filepath.FromSlash(file))
		named := slices.ContainsFunc(slices.Collect(maps.Values(c.OpenAPI)), func(d config.OpenAPI) bool { return d.Document == at })
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if _, taken := documents[name]; named || taken || !fs.ValidPath(file) {
			continue
		}
		documents[name] = config.OpenAPI{Document: at, Timeout: time.Minute}
	}
	return c.MCPServers, documents, nil
}

// packVariable is a variable that packs may name: none of Deckhand's own.
func packVariable(name string) string {
	if pack.Reserved(name) {
		return ""
	}
	return os.Getenv(name)
}

// ProbePack tries what of a pack can be tried without reaching anybody, and returns
// what is wrong beside its faults.
func ProbePack(ctx context.Context, c config.Config, p *pack.Pack) ([]pack.Fault, error) {
	c.Packs, c.MCPServers, c.OpenAPI = nil, nil, nil
	k, err := New(Options{Config: c})
	if err != nil {
		return nil, err
	}
	defer k.Box.Close()
	script, _ := k.Box.Tool("run_code")
	faults := pack.Probe(ctx, p, &data.Space{Workspace: k.Space}, script)
	if p.Dir == "" {
		return faults, nil
	}
	_, documents, err := PackConnections(p)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			faults = append(faults, pack.Fault{File: strings.TrimPrefix(line, p.Dir+string(filepath.Separator)), Text: ""})
		}
		return faults, nil
	}
	for _, s := range newDocuments(Options{Config: c}, k.Space, documents) {
		d := documents[s.Name()]
		if _, err := s.Tools(ctx); err != nil && !strings.Contains(d.Document, "://") {
			faults = append(faults, pack.Fault{File: filepath.Join("openapi", filepath.Base(d.Document)), Text: err.Error()})
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

// CheckPack says what a pack gives, or what is wrong with it.
func CheckPack(dir string) (string, error) {
	p, err := pack.Open(dir)
	if err != nil {
		return "", err
	}
	if len(p.Faults) > 0 {
		return "", fmt.Errorf("%s; `deckhand pack check %s` shows all", p.Faults[0], dir)
	}
	c := p.Contents()
	return fmt.Sprintf("%s of %s %s", format.Count(len(c.Tools), "tool"), c.Name, c.Version), nil
}
