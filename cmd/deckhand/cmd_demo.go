package main

// This file defines `deckhand demo`, which shows a whole run without a key or
// configuration: in this terminal, or in a thread on a local stand-in for
// Slack or Discord. The model is scripted and the tools are real.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm/rehearsal"
	"github.com/deckhand-bot/deckhand/agent/playbook"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/demo"
	"github.com/deckhand-bot/deckhand/cmd/internal/playbooks"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

func demoCommand(a *cli) *cobra.Command {
	c := &cobra.Command{
		Use:   "demo [DIR|PLAYBOOK]",
		Short: "A whole run on the real files of a directory, with a scripted model: no key, no configuration",
		Long: "Survey the source files of a directory: plan, parallel tasks, real tool calls, one approval, a chart and\n" +
			"REPORT.md. The model is scripted (a rehearsal) and says so; every figure is computed by the tools. A PLAYBOOK that\n" +
			"comes with Deckhand (`deckhand playbook list`) is played in DIR, or in a new folder.",
		Example: "  deckhand demo\n  deckhand demo software-team",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 || len(args) == 2 && !rehearsed(args[0]) {
				return usage("demo takes a directory, or a playbook and a directory")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && rehearsed(args[0]) {
				return a.demoPlaybook(cmd.Context(), args[0], args[1:])
			}
			return a.demo(cmd.Context(), args, a.demoTerminal)
		},
	}
	withMoments(c, func(context.Context) error { return demo.TerminalMoments(a.out) }) //nolint:contextcheck // scenes are played without waiting for anything
	c.AddCommand(
		demoThreadCommand(a, "slack", "Slack", "Web API and Socket Mode", demo.Slack, demo.SlackStage),
		demoThreadCommand(a, "discord", "Discord", "REST and gateway", demo.Discord, demo.DiscordStage),
	)
	return c
}

// withMoments gives a command of the demo a flag that prints every moment
// instead.
func withMoments(c *cobra.Command, show func(context.Context) error) {
	moments := c.Flags().Bool("moments", false, "print every text that a person can meet, as a script, instead of the demo")
	plays := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !*moments:
			return plays(cmd, args)
		case len(args) > 0:
			return usage("--moments shows texts, not a directory: leave %s out", args[0])
		}
		return failed(show(cmd.Context()))
	}
}

// demoThreadCommand is the demo in a thread of a platform.
func demoThreadCommand(a *cli, name, title, protocol string, open func() demo.Platform, stage func() (demo.Stage, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   name + " [DIR]",
		Short: "The demo's goal in a " + title + " thread, on a local stand-in for " + title,
		Long: "The demo's goal, asked for by a mention in a channel: acknowledgement, plan, card, approvals by button and\n" +
			"report, as a team would see them. " + title + " is a local stand-in that speaks its protocol (" + protocol + ",\n" +
			"on loopback); the people in it and the model are scripted; everything else is Deckhand as it ships.\n" +
			"The run is kept nowhere; its files are in DIR.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.demo(cmd.Context(), args, func(ctx context.Context, cfg config.Config, files demo.Files) error {
				return a.demoThread(ctx, cfg, files, title, open)
			})
		},
	}
	withMoments(c, func(ctx context.Context) error {
		s, err := stage()
		if err != nil {
			return err
		}
		defer s.Close()
		return demo.Moments(ctx, a.out, s)
	})
	return c
}

// demo shows something in the directory of the arguments.
func (a *cli) demo(ctx context.Context, args []string, show func(context.Context, config.Config, demo.Files) error) error {
	if len(args) == 1 {
		a.flags.Workspace = args[0]
	}
	if info, err := os.Stat(a.surveyed()); err != nil || !info.IsDir() {
		return usage("%s is not a directory that can be read", a.surveyed())
	}
	cfg, err := a.demoConfig()
	if err != nil {
		return err
	}
	files, err := demo.FilesIn(a.surveyed())
	if err != nil {
		return usage("%w", err)
	}
	if files != (demo.Files{}) {
		fmt.Fprintf(a.err, "REPORT.md or deckhand-survey.png is yours and stays: this demo writes %s and %s\n", files.Report(), files.Chart())
	}
	return show(ctx, cfg, files)
}

// rehearsed reports whether the name is that of a playbook that can be played, and
// of nothing here.
func rehearsed(name string) bool {
	_, _, is := playbook.Rehearsal(name)
	_, err := os.Stat(name)
	return is && err != nil
}

// demoPlaybook plays a playbook with its scripted model. Its store goes with it.
func (a *cli) demoPlaybook(ctx context.Context, name string, dir []string) (err error) {
	if a.flags.Workspace = strings.Join(dir, ""); len(dir) == 0 {
		if a.flags.Workspace, err = os.MkdirTemp("", "deckhand-"+name+"-*"); err != nil {
			return &exit{exitFailed, err}
		}
	}
	if err := os.MkdirAll(a.surveyed(), 0o755); err != nil {
		return usage("%w", err)
	}
	cfg, err := a.demoConfig()
	if err != nil {
		return err
	}
	if cfg.DataDir, err = os.MkdirTemp("", "deckhand-demo-*"); err != nil {
		return &exit{exitFailed, fmt.Errorf("no place for the demo's store: %w", err)}
	}
	defer os.RemoveAll(cfg.DataDir)
	return playPlaybook(ctx, a, cfg, name)
}

// playPlaybook plays a playbook in the configured workspace.
func playPlaybook(ctx context.Context, a *cli, cfg config.Config, name string) error {
	goal, script, _ := playbook.Rehearsal(name)
	scenario, err := rehearsal.Parse(name+".yaml", script)
	if err != nil {
		return &exit{exitFailed, err}
	}
	var speed float64
	if a.tty {
		speed = 1
	}
	given, err := playbooks.Begin(ctx, cfg, goal, playbooks.Order{Playbook: name})
	if err != nil {
		return usage("%w", err)
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Worker, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	brief := demo.Brief(cfg, demo.Files{})
	brief.Goal, brief.Requester, brief.PlanApproval, brief.YesTo, brief.Unattended = goal, bot.Terminal, agent.ApprovePlanNever, []string{"writes"}, true
	client := app.NewClient(cfg, s)
	run, err := client.Begin(ctx, runs.NewRun{Brief: brief, Given: given})
	if err != nil {
		return &exit{exitFailed, err}
	}
	fmt.Fprintf(a.err, "%s\nrun %s\n", scenario.Says, run)
	defer attend(ctx, a, client, run)()
	if err := a.work(ctx, cfg, s, rehearsal.New(scenario, rehearsal.Config{Speed: speed}), run, 0); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "look at %s; your own: deckhand run --playbook %s \"GOAL\"\n", a.surveyed(), name)
	return nil
}

// demoTerminal is the demo as a run in this terminal.
func (a *cli) demoTerminal(ctx context.Context, cfg config.Config, files demo.Files) error {
	m, err := demo.NewModel(a.tty, files)
	if err != nil {
		return err
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Worker, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	brief := demo.Brief(cfg, files)
	brief.Requester, brief.PlanApproval = bot.Terminal, agent.ApprovePlanNever
	client := app.NewClient(cfg, s)
	run, err := client.Start(ctx, brief)
	if err != nil {
		return &exit{exitFailed, err}
	}
	fmt.Fprintln(a.err, m.Says())
	fmt.Fprintf(a.err, "run %s\n", run)
	defer attend(ctx, a, client, run)()
	if err := a.work(ctx, cfg, s, m, run, 0); err != nil {
		return err
	}
	a.lookAtReport(files)
	return nil
}

// attend answers for a person where none sits at a terminal, until it is told to
// leave.
func attend(ctx context.Context, a *cli, client *runs.Client, run agent.RunID) (leave func()) {
	if a.tty {
		return func() {}
	}
	a.in, _ = io.Pipe() // nobody types, and the input never ends: the rehearsal answers
	client.Authority.Operators = []string{demo.Name}
	attending, leave := context.WithCancel(ctx)
	go a.rehearseApproval(attending, client, run)
	return leave
}

// rehearseApproval gives the demo's one approval where no person can, and says so.
func (a *cli) rehearseApproval(ctx context.Context, client *runs.Client, run agent.RunID) {
	for ctx.Err() == nil {
		r, err := client.Load(ctx, run)
		if err != nil || r.Ended != nil {
			return
		}
		if c := r.OpenCheckpoint(); c != nil {
			err := client.Decide(ctx, bot.Person{ID: demo.Name, Full: true}, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideApprove,
				Text: "no terminal: the rehearsal approves its own write"})
			if err == nil {
				fmt.Fprintf(a.err, "%s\n(no terminal here: the rehearsal itself approves)\n", c.Title)
			} else if !errors.Is(err, runs.ErrDecided) && ctx.Err() == nil {
				fmt.Fprintf(a.err, "deckhand: the rehearsal could not approve: %v\n", err)
				return
			}
		}
		if client.Journals.Await(ctx, run, r.Seq) != nil {
			return
		}
	}
}

// demoThread is the demo in a thread. Its store goes with it: a scripted model
// must not work what waits in the real one, nor may a real Slack be told of
// Ann's thread.
func (a *cli) demoThread(ctx context.Context, cfg config.Config, files demo.Files, title string, open func() demo.Platform) error {
	m, err := demo.NewModel(a.tty, files)
	if err != nil {
		return err
	}
	if cfg.DataDir, err = os.MkdirTemp("", "deckhand-demo-*"); err != nil {
		return &exit{exitFailed, fmt.Errorf("no place for the demo's store: %w", err)}
	}
	defer os.RemoveAll(cfg.DataDir)
	platform := open()
	defer platform.Close()
	fmt.Fprintln(a.err, m.Says())
	fmt.Fprintln(a.err, title+" is a local stand-in at "+platform.URL()+"; Ann's words and clicks are scripted.")
	thread := demo.Thread{Platform: platform, Config: cfg, Version: version, Model: m, Files: files, Out: a.out, Watched: a.tty}
	if a.json {
		thread.Out = a.err
	}
	err = thread.Play(ctx, func(ctx context.Context, client *runs.Client) error {
		if a.json {
			return a.printJournals(ctx, client.Journals)
		}
		a.lookAtReport(files)
		return nil
	})
	if ctx.Err() != nil {
		return &exit{code: exitInterrupted}
	}
	return failed(err)
}

// lookAtReport says where the demo's report is.
func (a *cli) lookAtReport(files demo.Files) {
	dir := a.surveyed()
	fmt.Fprintf(a.err, "look at %s and %s\n", filepath.Join(dir, files.Report()), filepath.Join(dir, files.Chart()))
}

// printJournals prints what happened in every run, as JSON lines.
func (a *cli) printJournals(ctx context.Context, journals runs.Journals) error {
	infos, err := journals.Runs(ctx, agent.RunFilter{})
	if err != nil {
		return &exit{exitFailed, err}
	}
	for _, info := range infos {
		if err := a.printJournal(ctx, journals, info.Run); err != nil {
			return err
		}
	}
	return nil
}

// surveyed is the directory that the demo works in.
func (a *cli) surveyed() string {
	if a.flags.Workspace == "" {
		return "."
	}
	return a.flags.Workspace
}

// demoConfig takes nothing from the file or the environment but the place of
// the embedded store: the demo must run, and run alike, everywhere.
func (a *cli) demoConfig() (config.Config, error) {
	cfg, err := config.Load(config.Flags{Config: os.DevNull, DataDir: a.flags.DataDir}, func(name string) string {
		if name == "DECKHAND_DATA_DIR" {
			return a.env(name)
		}
		return ""
	})
	if err != nil {
		return cfg, err
	}
	return demo.Configure(cfg, a.surveyed())
}
