package main

// This file works a run in this terminal for the commands run, resume and
// demo: it shows the run while the loop works, pauses it on Ctrl-C, and turns
// its end into an exit code.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/terminal"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/redact"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// interactiveGrace is how long steps under way may finish after Ctrl-C.
const interactiveGrace = 2 * time.Second

// work runs the loop for one run and shows it until it ends, waits without
// anybody to answer, or is interrupted.
func (a *cli) work(ctx context.Context, cfg config.Config, s app.Store, m llm.Model, run agent.RunID, after uint64) error {
	process, err := app.New(ctx, app.Options{Config: cfg, Store: s, Model: m, Only: run, WorkOnly: true, Grace: interactiveGrace,
		Version: version, Log: logger(a.err, slog.LevelError)})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- process.Run(working) }()
	end, watchErr := terminal.Watch(ctx, a.watch(cfg, s, run, after))
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

func (a *cli) watch(cfg config.Config, s app.Store, run agent.RunID, after uint64) terminal.Config {
	return terminal.Config{
		Runs: app.NewClient(cfg, s), Journal: s, Telling: bot.Reworded{Telling: card.Telling{}, Word: redact.New(cfg.Secrets()...).Text}, Answer: runs.ReadDecision, Hint: runs.ReadHint,
		Run: run, In: a.in, Out: a.out, Err: a.err, JSON: a.json,
		TTY: a.tty && !a.json, Color: a.env("NO_COLOR") == "", Width: width, Editor: a.editor(),
		By: bot.Terminal, Leave: true, After: after,
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
