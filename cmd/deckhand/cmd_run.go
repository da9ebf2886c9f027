package main

// This file defines `deckhand run`, which starts a run for a goal and works
// it in this terminal, or with --detach leaves the work to a process that
// serves the store.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

func runCommand(a *cli) *cobra.Command {
	var detach bool
	c := &cobra.Command{
		Use:   "run GOAL",
		Short: "Work on one goal in this terminal",
		Long: "Work on one goal in this terminal: questions and approvals are asked here. Ctrl-C pauses the run;\n" +
			"`deckhand resume RUN` goes on, also after a crash. With --detach the goal is only written down, and\n" +
			"whoever serves the store works it (\"-\" reads goals from standard input, one a line).",
		Example: "  deckhand run \"Summarise what changed in docs/ and write it to CHANGES.md\"\n" +
			"  deckhand run --yes-to writes --budget usd=1,time=10m \"…\"\n" +
			"  deckhand run --detach - < goals.txt",
		Args: single("GOAL", "put it in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if detach {
				return a.detach(cmd.Context(), args[0])
			}
			return a.runGoal(cmd.Context(), args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&a.flags.Budget, "budget", "", "limits of this run, such as `usd=1,time=10m,tokens=50000,steps=100`")
	f.StringVar(&a.yesTo, "yes-to", "", "what needs no question: `plan,reads,writes,deletes,all`")
	f.BoolVar(&detach, "detach", false, "write the goal down, print the run's id, and leave the work to whoever serves the store")
	return c
}

// detach commits goals and prints their runs' ids.
func (a *cli) detach(ctx context.Context, goal string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	yes, err := config.ParseYesTo(a.yesTo)
	if err != nil {
		return usage("%w", err)
	}
	brief, err := app.TerminalBrief(cfg, "", yes, a.err)
	if err != nil {
		return err
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Guest, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	start := func(goal string) error {
		brief.Goal = goal
		run, err := app.NewClient(cfg, s).Start(ctx, brief)
		if errors.Is(err, runs.ErrEmptyGoal) {
			return usage("%w", err)
		}
		if err != nil {
			return &exit{exitFailed, err}
		}
		_, err = fmt.Fprintln(a.out, run)
		return err
	}
	if goal != "-" {
		return start(goal)
	}
	lines := bufio.NewScanner(a.in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := start(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// runGoal starts a run, works it in this process and shows it.
func (a *cli) runGoal(ctx context.Context, goal string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	yes, err := config.ParseYesTo(a.yesTo)
	if err != nil {
		return usage("%w", err)
	}
	if strings.TrimSpace(goal) == "" {
		return usage("%w", runs.ErrEmptyGoal)
	}
	m, err := app.NewModel(cfg)
	if err != nil {
		return err
	}
	var notice bytes.Buffer // after the run's id, which scripts expect first
	brief, err := app.TerminalBrief(cfg, goal, yes, &notice)
	if err != nil {
		return err
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Worker, nil)
	if heldBy(err) != 0 {
		return usage("%w, or, where it serves, hand it the goal: deckhand run --detach GOAL", err)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := app.ExpireOld(ctx, s, cfg.Retention.Runs); err != nil {
		return &exit{exitFailed, err}
	}
	run, err := app.NewClient(cfg, s).Start(ctx, brief)
	if err != nil {
		return &exit{exitFailed, err}
	}
	fmt.Fprintf(a.err, "run %s\n%s", run, notice.String())
	return a.work(ctx, cfg, s, m, run, 0)
}
