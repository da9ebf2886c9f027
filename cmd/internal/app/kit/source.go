package kit

// This file connects what the configuration names: MCP servers and OpenAPI
// documents, each as a source of tools.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/mcp"
	"github.com/deckhand-bot/deckhand/tools/numbers"
	"github.com/deckhand-bot/deckhand/tools/openapi"
	"github.com/deckhand-bot/deckhand/tools/source"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// foreign are the sources of tools that the configuration names. None is started
// yet.
func foreign(o Options, space *workspace.Workspace) ([]source.Source, error) {
	servers, err := newServers(o, space, o.Config.MCPServers)
	return append(servers, newDocuments(o, space, o.Config.OpenAPI)...), err
}

// newServers are MCP servers as sources.
func newServers(o Options, space *workspace.Workspace, servers map[string]config.MCPServer) ([]source.Source, error) {
	var list []source.Source
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		if s.Disabled {
			continue
		}
		transport, err := serverTransport(o.Config, s)
		if err != nil {
			return nil, fmt.Errorf("mcpServers.%s: %w", name, err)
		}
		inside, err := serverSandbox(o.Config, s)
		if err != nil {
			return nil, fmt.Errorf("mcpServers.%s: %w", name, err)
		}
		args := make([]string, len(s.Args))
		for i, a := range s.Args {
			args[i] = a.Reveal()
		}
		list = append(list, mcp.New(mcp.Config{
			Name: name, Command: s.Command, Args: args, Env: config.Values(s.Env), Dir: s.Cwd,
			URL: s.URL, Headers: config.Values(s.Headers), Secrets: s.Secrets(), Timeout: s.Timeout,
			Transport: transport, Sandbox: inside, Save: keeper{space}.save, Version: o.Version, Log: o.Log,
		}))
	}
	return list, nil
}

// newDocuments are OpenAPI documents as sources.
func newDocuments(o Options, space *workspace.Workspace, documents map[string]config.OpenAPI) []source.Source {
	var list []source.Source
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		d := documents[name]
		if d.Disabled {
			continue
		}
		k := d.Credentials
		list = append(list, openapi.New(openapi.Config{
			Name: name, Document: d.Document, Server: d.Server, Timeout: d.Timeout,
			Credentials: openapi.Credentials{Bearer: k.Token(), Basic: k.Login(),
				Header: config.Values(k.Header), Query: config.Values(k.Query), Cookie: config.Values(k.Cookie)},
			Secrets: k.Secrets(), Save: keeper{space}.save, Log: o.Log,
			Reach: func(named []string) (http.RoundTripper, error) { return wayOut(o.Config, d.Timeout, named...) },
		}))
	}
	return list
}

// serverTransport is the way to an MCP server at an address, nil for a command.
func serverTransport(c config.Config, s config.MCPServer) (http.RoundTripper, error) {
	if s.URL == "" {
		return nil, nil //nolint:nilnil // a command needs no way
	}
	named, err := hostOf(s.URL)
	if err != nil {
		return nil, err
	}
	return wayOut(c, s.Timeout, named)
}

// wayOut is how tools reach others: to the hosts that the configuration names wherever they
// are, to others as for every tool.
func wayOut(c config.Config, patience time.Duration, named ...string) (http.RoundTripper, error) {
	g, err := egress.New(egress.Config{Hosts: c.Tools.Hosts, AllowPrivate: named, Off: !c.Tools.Internet, Time: patience})
	if err != nil {
		return nil, err
	}
	return g.Transport(), nil
}

// newNumbers are the tools that know units, dates and currencies.
func newNumbers(c config.Config) ([]agent.Tool, error) {
	n := numbers.Config{Zone: c.Zone, Rates: c.Currency.Rates, Every: c.Currency.Every}
	if strings.Contains(n.Rates, "://") {
		named, err := hostOf(n.Rates)
		if err != nil {
			return nil, fmt.Errorf("currency.rates: %w", err)
		}
		way, err := wayOut(c, ratesPatience, named)
		if err != nil {
			return nil, fmt.Errorf("currency.rates: %w", err)
		}
		n.Client = &http.Client{Transport: way, Timeout: ratesPatience}
	}
	return numbers.New(n), nil
}

// ratesPatience is how long a source of rates may take.
const ratesPatience = 20 * time.Second

// received is the folder of a run that holds the files of tools' results.
const received = "received"

// keeper keeps files of results in the workspace.
type keeper struct{ space *workspace.Workspace }

// save keeps a file in a run's folder. One that is there already is that of the
// same call.
func (k keeper) save(folder, name string, data []byte) (string, error) {
	f, err := k.space.Open(folder)
	if err != nil {
		return "", err
	}
	defer f.Close()
	p := path.Join(received, name)
	err = f.Create(p, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return p, err
}

// CheckSource asks one source for its tools.
func CheckSource(ctx context.Context, c config.Config, name string) (string, error) {
	all, err := foreign(Options{Config: c}, nil)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all, func(s source.Source) bool { return s.Name() == name })
	if i < 0 {
		return "", fmt.Errorf("there is no source %q", name)
	}
	s := all[i]
	list, err := s.Tools(ctx)
	text := format.Count(len(list), "tool")
	if d, is := s.(interface{ Describe() string }); is {
		text += " (" + d.Describe() + ")"
	}
	return text, errors.Join(err, s.Close())
}
