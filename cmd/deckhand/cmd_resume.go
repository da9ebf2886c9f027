package main

// This file defines `deckhand resume`, which continues a run in this terminal
// with the configured model or the demo's scripted one. Where another process
// holds the store, that one is told to continue it.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/demo"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

func resumeCommand(a *cli) *cobra.Command {
	c := &cobra.Command{
		Use: "resume RUN", Short: "Go on with a run that was paused, interrupted or left by a crash", Args: single("RUN", "`deckhand status` lists them"),
		Long: "Go on with a run that was paused, interrupted or left by a crash, in this terminal; questions that are\n" +
			"still open are asked again. Where a `deckhand serve` works the store, it is told to go on instead. A run\n" +
			"of `deckhand demo` goes on with the demo's scripted model; every other needs a configured one.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.resume(cmd.Context(), agent.RunID(args[0]))
		},
	}
	c.Flags().BoolVar(&a.flags.NoThought, "no-thought", false, "do not ask the model why it makes a call")
	c.Flags().StringVar(&a.yesTo, "yes-to", "", "what needs no question from now on: `plan,reads,writes,deletes,all`")
	return c
}

// resume becomes the worker of the run; where somebody serves the store, it
// only tells them.
func (a *cli) resume(ctx context.Context, run agent.RunID) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	yes, err := config.ParseYesTo(a.yesTo)
	if err != nil {
		return usage("%w", err)
	}
	if err := app.CheckWorkspace(cfg); err != nil {
		return err
	}
	word := agent.RunControlled{Word: agent.WordResume, YesTo: yes}
	s, err := app.OpenStore(ctx, cfg, sqlite.Worker, nil)
	if pid := heldBy(err); pid != 0 {
		return a.resumeElsewhere(ctx, run, word, pid)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := app.NewClient(cfg, s).Load(ctx, run)
	if err != nil {
		return notFound(run, err)
	}
	cfg, m, err := a.modelOf(ctx, cfg, s, run)
	if err != nil {
		return err
	}
	if r.Ended == nil {
		if err := app.NewClient(cfg, s).Control(ctx, run, bot.Person{ID: bot.Terminal, Full: true}, word); err != nil {
			return &exit{exitFailed, err}
		}
		if err := putAgain(ctx, app.NewClient(cfg, s), r, yes); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.err, "run %s\n", run)
	after := r.Seq
	if a.json {
		after = 0
	}
	return a.work(ctx, cfg, s, m, run, after)
}

// resumeElsewhere tells the process that holds the store.
func (a *cli) resumeElsewhere(ctx context.Context, run agent.RunID, word agent.RunControlled, pid int) error {
	err := a.control(ctx, run, word, fmt.Sprintf("process %d goes on with it", pid))
	if err != nil || len(word.YesTo) == 0 {
		return err
	}
	return a.beside(ctx, func(cfg config.Config, s app.Store) error {
		client := app.NewClient(cfg, s)
		r, err := client.Load(ctx, run)
		if err != nil {
			return notFound(run, err)
		}
		return putAgain(ctx, client, r, word.YesTo)
	})
}

// modelOf is the model that goes on with a run: the rehearsal for the demo's,
// else the configured one.
func (a *cli) modelOf(ctx context.Context, cfg config.Config, s app.Store, run agent.RunID) (config.Config, llm.Model, error) {
	scripted, err := demo.Began(ctx, s, run)
	if err != nil {
		return cfg, nil, notFound(run, err)
	}
	if !scripted {
		m, err := app.NewModel(cfg)
		return cfg, m, err
	}
	r, err := app.NewClient(cfg, s).Load(ctx, run)
	if err != nil {
		return cfg, nil, notFound(run, err)
	}
	m, err := demo.NewModel(a.tty, demo.FilesOf(r.Brief.Goal))
	if err != nil {
		return cfg, nil, err
	}
	fmt.Fprintln(a.err, m.Says())
	cfg, err = a.demoConfig()
	return cfg, m, err
}

// putAgain has what waits for a word looked at again, now that --yes-to says
// more: what it covers goes on, everything else is asked anew.
func putAgain(ctx context.Context, client *runs.Client, r agent.Run, yes []string) error {
	covers := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(yes, w) })
	}
	for _, c := range r.OpenCheckpoints() {
		d := agent.CheckpointDecided{ID: c.ID, Text: "--yes-to " + strings.Join(yes, ",")}
		switch {
		case c.Ask == agent.CheckApproval && covers("writes", "deletes", "all"):
			d.Decision, d.Arguments = agent.DecideEdit, c.Arguments
		case c.Ask == agent.CheckPlan && covers("plan", "all"):
			d.Decision = agent.DecideApprove
		default:
			continue
		}
		if err := client.Decide(ctx, bot.Person{ID: bot.Terminal, Full: true}, d); err != nil && !errors.Is(err, runs.ErrDecided) {
			return &exit{exitFailed, err}
		}
	}
	return nil
}
