package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/cmd/internal/app"
)

// onlyWorkers is the value of --only for replicas that show nothing to people.
const onlyWorkers = "workers"

func serveCommand(a *cli) *cobra.Command {
	var only string
	var most int
	c := &cobra.Command{
		Use:   "serve",
		Short: "Listen to Slack and Discord and work the runs of the store until stopped",
		Long: "Listen to Slack, where SLACK_BOT_TOKEN is set, and to Discord, where DISCORD_TOKEN is, and work the runs of\n" +
			"the store until stopped. Any number of replicas may serve one Redis; the embedded store has one. SIGTERM lets\n" +
			"the steps under way finish, hands the rest back and ends with 0. Over HTTP: /healthz, /readyz, /metrics\n" +
			"(Prometheus), with SLACK_SIGNING_SECRET /slack/…, and with DISCORD_PUBLIC_KEY /discord/interactions.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if only != "" && only != onlyWorkers {
				return usage("--only takes %q, not %q", onlyWorkers, only)
			}
			if most < 0 {
				return usage("--max-agents is a number from 1, not %d", most)
			}
			return a.serve(cmd.Context(), only, most)
		},
	}
	c.Flags().BoolVar(&a.flags.NoThought, "no-thought", false, "do not ask the model why it makes a call")
	c.Flags().StringVar(&only, "only", "", "`WHAT`: \"workers\" is an extra replica, with HTTP only if its address is set")
	c.Flags().IntVar(&most, "max-agents", 0, "most agents at work at once in this process (default: engine.workers)")
	return c
}

func (a *cli) serve(ctx context.Context, only string, most int) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if most > 0 {
		cfg.Engine.Workers = most
	}
	if err := app.CheckWorkspace(cfg); err != nil {
		return err
	}
	process, err := app.New(ctx, app.Options{
		Config: cfg, Version: version, Log: logger(a.err, slog.LevelInfo), PostOnly: only == onlyWorkers,
		Ready: func(http string) {
			fmt.Fprintf(a.err, "ready http=%s\n", http)
			debug.FreeOSMemory() // what only the start needed
		},
	})
	if err != nil && stopped(ctx, err) {
		return nil // nothing was begun
	}
	if err != nil {
		return failed(err)
	}
	return failed(errors.Join(process.Run(ctx), process.Close()))
}
