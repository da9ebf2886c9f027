package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm/rehearsal"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// survey is the scenario of the demo: what the rehearsal model answers.
//
//go:embed survey.yaml
var survey []byte

// rehearsalPrincipal decides where nobody sits at the terminal.
const rehearsalPrincipal = "rehearsal"

func (a *cli) demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo [DIR]",
		Short: "A whole run on the real files of a directory, with a scripted model: no key, no configuration",
		Long: "Survey the source files of a directory: plan, parallel tasks, real tool calls, one approval, a chart and\n" +
			"REPORT.md. The model is scripted (a rehearsal) and says so; every figure is computed by the tools.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.Workspace = args[0]
			}
			return a.demo(cmd.Context(), a.surveyed())
		},
	}
	c.AddCommand(a.demoSlackCommand(), a.demoDiscordCommand())
	return c
}

// surveyed is the directory that the demo works in.
func (a *cli) surveyed() string {
	if a.flags.Workspace == "" {
		return "."
	}
	return a.flags.Workspace
}

func (a *cli) demo(ctx context.Context, dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usage("%s is not a directory that can be read", dir)
	}
	cfg, err := a.demoConfig(dir)
	if err != nil {
		return err
	}
	m, err := a.rehearsal()
	if err != nil {
		return err
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Worker)
	if err != nil {
		return err
	}
	defer s.Close()
	name := filepath.Base(cfg.Workspace)
	brief := agent.RunStarted{
		Goal:      fmt.Sprintf("Survey the source files of %s: count files and lines by folder, find the longest files, draw a chart, and write it all to REPORT.md.", name),
		Requester: bot.Terminal, PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky,
		Expires: cfg.Authority.Expires, Slots: cfg.Engine.Slots, Limits: agent.Limits{Tokens: cfg.Budget.Run.Tokens, Steps: cfg.Budget.Run.Steps},
	}
	desk := app.NewClient(cfg, s)
	run, err := desk.Start(ctx, brief)
	if err != nil {
		return &exit{exitFailed, err}
	}
	fmt.Fprintln(a.err, m.Says())
	fmt.Fprintf(a.err, "run %s\n", run)
	if !a.tty {
		a.in, _ = io.Pipe() // nobody types, and the input never ends: the rehearsal answers
		desk.Authority.Operators = []string{rehearsalPrincipal}
		attending, leave := context.WithCancel(ctx)
		defer leave()
		go a.rehearseApproval(attending, desk, run)
	}
	if err := a.work(ctx, cfg, s, m, run, 0, bot.Terminal); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "look at %s and %s\n", filepath.Join(dir, "REPORT.md"), filepath.Join(dir, "deckhand-survey.png"))
	return nil
}

// rehearsal is the demo's model.
func (a *cli) rehearsal() (*rehearsal.Model, error) {
	scenario, err := rehearsal.Parse("survey.yaml", survey)
	if err != nil {
		return nil, err
	}
	return rehearsal.New(scenario, rehearsal.Config{Speed: demoSpeed(a.tty)}), nil
}

// rehearsed reports whether the demo began the run, which its script then
// goes on with: another model would be asked to end what it did not plan.
func rehearsed(ctx context.Context, s app.Store, run agent.RunID) (bool, error) {
	events, err := s.Read(ctx, run, 0)
	if err != nil {
		return false, notFound(run, err)
	}
	for _, e := range events {
		if asked, is := e.Body.(agent.ModelAsked); is {
			return asked.Model == rehearsalPrincipal, nil
		}
	}
	return false, nil
}

// demoSpeed lets people watch; without a terminal nobody does.
func demoSpeed(tty bool) float64 {
	if tty {
		return 1
	}
	return 0
}

// demoConfig takes nothing from the file or the environment but the place of
// the embedded store: the demo must run, and run alike, everywhere.
func (a *cli) demoConfig(dir string) (config.Config, error) {
	cfg, err := config.Load(config.Flags{Config: os.DevNull, DataDir: a.flags.DataDir}, func(name string) string {
		if name == "DECKHAND_DATA_DIR" {
			return a.env(name)
		}
		return ""
	})
	if err != nil {
		return cfg, err
	}
	cfg.Workspace, err = filepath.Abs(dir)
	cfg.Model.Name = rehearsalPrincipal
	cfg.Model.Prices = map[string]config.Price{rehearsalPrincipal: {}} // a script costs nothing
	cfg.Redis.URL, cfg.HTTP = config.Secret{}, "off"
	return cfg, err
}

// rehearseApproval gives the demo's one approval where no person can, and says so.
func (a *cli) rehearseApproval(ctx context.Context, desk *runs.Client, run agent.RunID) {
	for ctx.Err() == nil {
		r, err := desk.Load(ctx, run)
		if err != nil || r.Ended != nil {
			return
		}
		if c := r.OpenCheckpoint(); c != nil {
			err := desk.Decide(ctx, bot.Person{ID: rehearsalPrincipal, Full: true}, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideApprove,
				Text: "no terminal: the rehearsal approves its own write"})
			if err == nil {
				fmt.Fprintf(a.err, "%s\n(no terminal here: the rehearsal itself approves)\n", c.Title)
			} else if !errors.Is(err, runs.ErrDecided) && ctx.Err() == nil {
				fmt.Fprintf(a.err, "deckhand: the rehearsal could not approve: %v\n", err)
				return
			}
		}
		if desk.Journals.Await(ctx, run, r.Seq) != nil {
			return
		}
	}
}
