package main

// This file defines `deckhand mcp`, which lets other agents hand goals over: by
// the Model Context Protocol, on standard input and output or over HTTP.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/adapters/mcp"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// tokenVariable holds the token that requests over HTTP need.
const tokenVariable = "DECKHAND_MCP_TOKEN" //nolint:gosec // its name, not its value

// mcpOptions are the flags of `deckhand mcp`.
type mcpOptions struct{ http, tokenFile, as string }

func mcpCommand(a *cli) *cobra.Command {
	var o mcpOptions
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Let other agents hand goals over, as an MCP server",
		Long: "Let other agents hand goals over by the Model Context Protocol: run, status, answer, cancel, and the files of\n" +
			"runs. Without --http it speaks over standard input and output, for whoever starts it, who counts as the\n" +
			"terminal. With --http it answers who has the token of " + tokenVariable + " (or --token-file), under the name\n" +
			"mcp:NAME of --as: it may answer questions of its own runs; approvals are for people, unless authority names it.\n" +
			"Where nobody serves the store, the runs are worked here.",
		Example: "  deckhand mcp\n  " + tokenVariable + "=… deckhand mcp --http 127.0.0.1:8090 --as ci",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveMCP(cmd.Context(), a, o) },
	}
	f := c.Flags()
	f.StringVar(&o.http, "http", "", "`HOST:PORT` to answer at, over streamable HTTP")
	f.StringVar(&o.tokenFile, "token-file", "", "`FILE` with the token for --http (default: "+tokenVariable+")")
	f.StringVar(&o.as, "as", "agent", "`NAME` of the other agent, for authority and budgets (with --http)")
	return c
}

// agentName is what another agent may be called.
var agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// person is who the other agent is, and the token that it needs.
func (o mcpOptions) person(a *cli) (by bot.Person, token string, err error) {
	if o.http == "" {
		return bot.Person{ID: bot.Terminal, Full: true}, "", nil
	}
	if !agentName.MatchString(o.as) {
		return by, "", usage("--as takes a name of letters, digits, -, _ and ., not %q", o.as)
	}
	token = a.env(tokenVariable)
	if o.tokenFile != "" {
		text, err := os.ReadFile(o.tokenFile)
		if err != nil {
			return by, "", usage("the token cannot be read: %w", err)
		}
		token = string(text)
	}
	if token = strings.TrimSpace(token); len(token) < mcp.ShortestToken {
		return by, "", usage("--http needs a token of at least %d characters in %s or --token-file, such as: openssl rand -hex 32", mcp.ShortestToken, tokenVariable)
	}
	return bot.Person{ID: "mcp:" + o.as, Name: o.as}, token, nil
}

func serveMCP(ctx context.Context, a *cli, o mcpOptions) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	by, token, err := o.person(a)
	if err != nil {
		return err
	}
	s, works, err := openToWork(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	desk, err := app.NewHandover(cfg, s, by, a.err)
	if err != nil {
		return usage("%w", err)
	}
	var l net.Listener
	if o.http != "" {
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.http); err != nil {
			return usage("--http: %w", err)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	if works {
		process, err := app.New(ctx, app.Options{Config: cfg, Store: s, WorkOnly: true, Version: version, Log: logger(a.err, slog.LevelWarn)})
		if err != nil {
			return err
		}
		group.Go(func() error { return errors.Join(process.Run(ctx), process.Close()) })
	}
	server := mcp.New(mcp.Config{Desk: desk, By: by, Version: version})
	group.Go(func() error {
		defer stop() // whoever started this is gone
		if l == nil {
			return mcp.Serve(ctx, server, a.in, a.out)
		}
		fmt.Fprintf(a.err, "ready http=%s\n", l.Addr())
		return mcp.Listen(ctx, l, mcp.Handler(server, token))
	})
	return failed(group.Wait())
}

// openToWork opens the store, and says whether this process works its runs: not
// where another one does.
func openToWork(ctx context.Context, cfg config.Config) (s app.OpenedStore, works bool, err error) {
	s, err = app.OpenStore(ctx, cfg, sqlite.Worker, nil)
	if heldBy(err) == 0 {
		return s, true, err
	}
	s, err = app.OpenStore(ctx, cfg, sqlite.Guest, nil)
	return s, false, err
}
