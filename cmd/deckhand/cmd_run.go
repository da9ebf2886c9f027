package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/terminal"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// interactiveGrace is how long steps under way may finish after Ctrl-C.
const interactiveGrace = 2 * time.Second

func (a *cli) runCommand() *cobra.Command {
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
	s, err := app.OpenStore(ctx, cfg, sqlite.Guest)
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
	s, err := app.OpenStore(ctx, cfg, sqlite.Worker)
	if heldBy(err) != 0 {
		return usage("%w, or, where it serves, hand it the goal: deckhand run --detach GOAL", err)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Expire(ctx, time.Now().Add(-cfg.Retention.Runs)); err != nil {
		return &exit{exitFailed, err}
	}
	run, err := app.NewClient(cfg, s).Start(ctx, brief)
	if err != nil {
		return &exit{exitFailed, err}
	}
	fmt.Fprintf(a.err, "run %s\n%s", run, notice.String())
	return a.work(ctx, cfg, s, m, run, 0, bot.Terminal)
}

// work runs the loop for one run and shows it until it ends, waits without
// anybody to answer, or is interrupted.
func (a *cli) work(ctx context.Context, cfg config.Config, s app.Store, m llm.Model, run agent.RunID, after uint64, by string) error {
	process, err := app.New(ctx, app.Options{Config: cfg, Store: s, Model: m, Only: run, WorkOnly: true, Grace: interactiveGrace,
		Version: version, Log: logger(a.err, slog.LevelError)})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- process.Run(working) }()
	end, watchErr := terminal.Watch(ctx, a.watch(cfg, s, run, after, by))
	interrupted := ctx.Err() != nil
	if interrupted {
		a.pauseRun(ctx, cfg, s, run, end.Run)
	}
	stop()
	if err := <-ended; err != nil && watchErr == nil {
		watchErr = err
	}
	switch {
	case interrupted:
		fmt.Fprintf(a.err, "\ninterrupted; go on with: deckhand resume %s%s\n", run, a.sameFlags())
		return &exit{code: exitInterrupted}
	case watchErr != nil:
		return &exit{exitFailed, watchErr}
	}
	return a.verdict(run, end)
}

// pauseRun writes the interruption down, so that nobody else goes on with the
// run behind the person's back.
func (a *cli) pauseRun(ctx context.Context, cfg config.Config, s app.Store, run agent.RunID, seen agent.Run) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interactiveGrace)
	defer cancel()
	if seen.Ended != nil {
		return
	}
	err := app.NewClient(cfg, s).Control(ctx, run, bot.Person{ID: bot.Terminal, Full: true}, agent.RunControlled{Word: agent.WordPause, Reason: "interrupted"})
	if err != nil && !errors.Is(err, runs.ErrEnded) {
		fmt.Fprintf(a.err, "deckhand: the run could not be paused: %v\n", err)
	}
}

func (a *cli) watch(cfg config.Config, s app.Store, run agent.RunID, after uint64, by string) terminal.Config {
	return terminal.Config{
		Runs: app.NewClient(cfg, s), Journal: s, Telling: card.Telling{}, Answer: runs.ReadDecision, Hint: runs.ReadHint,
		Run: run, In: a.in, Out: a.out, Err: a.err, JSON: a.json,
		TTY: a.tty && !a.json, Color: a.env("NO_COLOR") == "", Width: width, Editor: a.editor(),
		By: by, Leave: true, After: after,
	}
}

// verdict turns how the watching ended into the exit code.
func (a *cli) verdict(run agent.RunID, end terminal.End) error {
	switch {
	case end.Refused != "":
		return usage("%s\nThe run keeps its place: deckhand resume %s%s", end.Refused, run, a.sameStore())
	case end.Run.Ended != nil && end.Run.Ended.State == agent.RunDone:
		return nil
	case end.Run.Ended != nil:
		return &exit{code: exitFailed}
	case end.Waiting:
		fmt.Fprintf(a.err, "waiting for a person; go on with: deckhand resume %s%s\n", run, a.sameFlags())
		return &exit{code: exitWaiting}
	case end.Paused:
		fmt.Fprintf(a.err, "paused; go on with: deckhand resume %s%s\n", run, a.sameFlags())
		return &exit{code: exitInterrupted}
	}
	return &exit{exitFailed, fmt.Errorf("run %s: the terminal was closed", run)}
}

// sameStore is the flags that lead to this invocation's store again.
func (a *cli) sameStore() string {
	var b strings.Builder
	for _, f := range []struct{ flag, value string }{
		{"--config", a.flags.Config}, {"--data-dir", a.flags.DataDir}, {"--workspace", a.flags.Workspace},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, " %s %s", f.flag, f.value)
		}
	}
	return b.String()
}

// sameFlags also names the model again.
func (a *cli) sameFlags() string {
	if a.flags.Model == "" {
		return a.sameStore()
	}
	return a.sameStore() + " --model " + a.flags.Model
}

func (a *cli) resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "resume RUN", Short: "Go on with a run that was paused, interrupted or left by a crash", Args: single("RUN", "`deckhand status` lists them"),
		Long: "Go on with a run that was paused, interrupted or left by a crash, in this terminal; questions that are\n" +
			"still open are asked again. Where a `deckhand serve` works the store, it is told to go on instead. A run\n" +
			"of `deckhand demo` goes on with the demo's scripted model; every other needs a configured one.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.resume(cmd.Context(), agent.RunID(args[0]))
		},
	}
}

// resume becomes the worker of the run; where somebody serves the store, it
// only tells them.
func (a *cli) resume(ctx context.Context, run agent.RunID) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Worker)
	if pid := heldBy(err); pid != 0 {
		return a.control(ctx, run, agent.WordResume, fmt.Sprintf("process %d goes on with it", pid))
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
		word := agent.RunControlled{Word: agent.WordResume}
		if err := app.NewClient(cfg, s).Control(ctx, run, bot.Person{ID: bot.Terminal, Full: true}, word); err != nil {
			return &exit{exitFailed, err}
		}
	}
	fmt.Fprintf(a.err, "run %s\n", run)
	after := r.Seq
	if a.json {
		after = 0
	}
	return a.work(ctx, cfg, s, m, run, after, bot.Terminal)
}

// modelOf is the model that goes on with a run: the rehearsal for the demo's,
// else the configured one.
func (a *cli) modelOf(ctx context.Context, cfg config.Config, s app.Store, run agent.RunID) (config.Config, llm.Model, error) {
	scripted, err := rehearsed(ctx, s, run)
	if err != nil {
		return cfg, nil, err
	}
	if !scripted {
		m, err := app.NewModel(cfg)
		return cfg, m, err
	}
	m, err := a.rehearsal()
	if err != nil {
		return cfg, nil, err
	}
	fmt.Fprintln(a.err, m.Says())
	cfg, err = a.demoConfig(a.surveyed())
	return cfg, m, err
}

func notFound(run agent.RunID, err error) error {
	if errors.Is(err, agent.ErrNoRun) {
		return usage("there is no run %q in this store: `deckhand status` lists them", run)
	}
	return &exit{exitFailed, err}
}

// editor is the person's editor as a function on texts, nil where none is set.
func (a *cli) editor() func(context.Context, string) (string, error) {
	command := a.env("VISUAL")
	if command == "" {
		command = a.env("EDITOR")
	}
	if command == "" {
		return nil
	}
	return func(ctx context.Context, text string) (string, error) { return edit(ctx, command, text) }
}

// edit opens an editor on a text.
func edit(ctx context.Context, editor, text string) (string, error) {
	f, err := os.CreateTemp("", "deckhand-*.json")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(text); err != nil {
		return "", errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if err := inForeground(ctx, editor, f.Name()); err != nil {
		return "", fmt.Errorf("%s: %w", editor, err)
	}
	edited, err := os.ReadFile(f.Name())
	return string(edited), err
}

// heldBy is the pid of the process that holds the embedded store, 0 if the
// error says something else.
func heldBy(err error) int {
	if held, is := errors.AsType[*sqlite.HeldError](err); is {
		return held.PID
	}
	return 0
}
