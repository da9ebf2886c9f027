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
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent/playbook"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/playbooks"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

func runCommand(a *cli) *cobra.Command {
	var detach bool
	var order playbooks.Order
	var steps string
	c := &cobra.Command{
		Use:   "run GOAL",
		Short: "Work on one goal in this terminal",
		Long: "Work on one goal in this terminal: questions and approvals are asked here. Ctrl-C pauses the run;\n" +
			"`deckhand resume RUN` goes on, also after a crash. With --detach the goal is only written down, and\n" +
			"whoever serves the store works it (\"-\" reads goals from standard input, one a line). A plan need not be the\n" +
			"model's: --playbook takes the team's stages, --steps a file with your own numbered list, whose text is the goal\n" +
			"where none is given.",
		Example: "  deckhand run \"Summarise what changed in docs/ and write it to CHANGES.md\"\n" +
			"  deckhand run --yes-to writes --budget usd=1,time=10m \"…\"\n" +
			"  deckhand run --detach - < goals.txt\n" +
			"  deckhand run --playbook software-team \"A command that renames photos by their date\"\n" +
			"  deckhand run --steps release.txt",
		Args: func(cmd *cobra.Command, args []string) error {
			if steps != "" && len(args) == 0 {
				return nil
			}
			return single("GOAL", "put it in quotes")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			goal, err := stepsOf(a, steps, args, &order)
			if err != nil {
				return err
			}
			if detach {
				return a.detach(cmd.Context(), goal, order)
			}
			return a.runGoal(cmd.Context(), goal, order)
		},
	}
	f := c.Flags()
	f.StringVar(&a.flags.Budget, "budget", "", "limits of this run, such as `usd=1,time=10m,tokens=50000,steps=100`")
	f.BoolVar(&a.flags.NoThought, "no-thought", false, "do not ask the model why it makes a call")
	f.StringVar(&a.yesTo, "yes-to", "", "what needs no question: `plan,reads,writes,deletes,all`")
	f.StringVar(&order.Playbook, "playbook", "", "the playbook `NAME` that the run follows: deckhand playbook list")
	f.StringArrayVar(&order.Inputs, "input", nil, "an input of the playbook, `NAME=VALUE`; again for more")
	f.StringVar(&steps, "steps", "", "`FILE` with your own steps, each line beginning with its number (\"-\": standard input)")
	f.BoolVar(&detach, "detach", false, "write the goal down, print the run's id, and leave the work to whoever serves the store")
	return c
}

// stepsOf reads the steps of a file, and says what the goal is: without one their text.
func stepsOf(a *cli, file string, args []string, order *playbooks.Order) (goal string, err error) {
	if len(args) > 0 {
		goal = args[0]
	}
	if file == "" {
		return goal, nil
	}
	data, err := a.readFile(file)
	if err != nil {
		return "", usage("%w", err)
	}
	if order.Steps = strings.TrimSpace(string(data)); order.Steps == "" {
		return "", usage("%s: %w", file, playbook.ErrSteps)
	}
	if goal == "" {
		goal = order.Steps
	}
	return goal, nil
}

// detach commits goals and prints their runs' ids.
func (a *cli) detach(ctx context.Context, goal string, order playbooks.Order) error {
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
	given, err := playbooks.Begin(ctx, cfg, goal, order)
	if err != nil {
		return usage("%w", err)
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Guest, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	start := func(goal string) error {
		brief.Goal = goal
		run, err := app.NewClient(cfg, s).Begin(ctx, runs.NewRun{Brief: brief, Given: given})
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
	goals, err := readGoals(a.in)
	if err != nil {
		return err
	}
	for _, goal := range goals {
		if err := start(goal); err != nil {
			return err
		}
	}
	return nil
}

// maxGoalLine is how many bytes a goal on standard input may have.
const maxGoalLine = 1 << 20

// readGoals reads one goal a line, all of them before any is written down.
func readGoals(in io.Reader) (goals []string, err error) {
	lines := bufio.NewReaderSize(in, maxGoalLine)
	for n := 1; ; n++ {
		line, long, err := lines.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			return goals, nil
		case err != nil:
			return nil, &exit{exitFailed, fmt.Errorf("read line %d of the goals: %w; none was started", n, err)}
		case long:
			return nil, usage("line %d of the goals has more than %d characters; none was started. Put what is long into a file and name it in the goal", n, maxGoalLine)
		case strings.TrimSpace(string(line)) != "":
			goals = append(goals, string(line))
		}
	}
}

// runGoal starts a run, works it in this process and shows it.
func (a *cli) runGoal(ctx context.Context, goal string, order playbooks.Order) error {
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
	if err := app.CheckWorkspace(cfg); err != nil {
		return err
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
	given, err := playbooks.Begin(ctx, cfg, goal, order)
	if err != nil {
		return usage("%w", err)
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
	run, err := app.NewClient(cfg, s).Begin(ctx, runs.NewRun{Brief: brief, Given: given})
	if err != nil {
		return &exit{exitFailed, err}
	}
	fmt.Fprintf(a.err, "run %s\n%s", run, notice.String())
	return a.work(ctx, cfg, s, m, run, 0)
}
