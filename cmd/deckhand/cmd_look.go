package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	botcard "github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// beside opens the store to look and to append facts, beside a worker.
func (a *cli) beside(ctx context.Context, use func(cfg config.Config, s app.Store) error) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Guest)
	if err != nil {
		return err
	}
	defer s.Close()
	return use(cfg, s)
}

func (a *cli) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List the runs and where they stand", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.beside(cmd.Context(), func(cfg config.Config, s app.Store) error {
				list, err := intake.ListRuns(cmd.Context(), app.NewClient(cfg, s))
				if err != nil {
					return &exit{exitFailed, err}
				}
				if a.json {
					return json.NewEncoder(a.out).Encode(list)
				}
				return a.printStatus(list)
			})
		},
	}
}

func (a *cli) printStatus(list []botcard.Status) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.out, "no runs yet; start one with: deckhand run \"GOAL\"")
		return err
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATE\tTASKS\tCOST\tTOKENS\tSTARTED\tGOAL")
	for _, s := range list {
		cost := "?"
		if s.Cost != nil {
			cost = "$" + s.Cost.String()
		}
		goal := strings.ReplaceAll(s.Goal, "\n", " ")
		if s.Problem != "" {
			goal = s.Problem
		}
		fmt.Fprintf(w, "%s\t%s\t%d/%d\t%s\t%d\t%s\t%s\n", s.Run, s.State, s.Tasks.Done, s.Tasks.Total, cost, s.Tokens,
			s.Started.Local().Format(time.DateTime), printable(format.Cut(goal, 60)))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the list of runs: %w", err)
	}
	// The lines between the rows come after the layout: they would end its columns.
	n := -1
	for row := range bytes.Lines(table.Bytes()) {
		if _, err := a.out.Write(row); err != nil {
			return fmt.Errorf("write the list of runs: %w", err)
		}
		if n >= 0 && list[n].WaitingFor != "" {
			fmt.Fprintf(a.out, "%*s  waits for %s\n", runWidth, "", printable(list[n].WaitingFor))
		}
		n++
	}
	return nil
}

// runWidth is how far the line under a run is moved in: under its state.
const runWidth = 16

// printable drops what a terminal would obey instead of showing it, the marks
// that turn the direction of text included: text from outside is data.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, s)
}

func (a *cli) journalCommand() *cobra.Command {
	return &cobra.Command{
		Use: "journal RUN", Short: "Print a run's journal as JSON lines", Args: single("RUN", "`deckhand status` lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.beside(cmd.Context(), func(_ config.Config, s app.Store) error {
				run := agent.RunID(args[0])
				events, err := s.Read(cmd.Context(), run, 0)
				enc := format.Encoder(a.out)
				for _, e := range events {
					if err := enc.Encode(e); err != nil {
						return err
					}
				}
				if err != nil {
					return notFound(run, err)
				}
				return nil
			})
		},
	}
}

func (a *cli) pauseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "pause RUN", Short: "Pause a run", Args: single("RUN", "`deckhand status` lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.control(cmd.Context(), agent.RunID(args[0]), agent.WordPause, "paused; go on with: deckhand resume "+args[0])
		},
	}
}

func (a *cli) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "End a run for good", Args: single("RUN", "`deckhand status` lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.control(cmd.Context(), agent.RunID(args[0]), agent.WordCancel,
				"cancelled; whoever works the run ends it, and where nobody does: deckhand resume "+args[0])
		},
	}
}

// control appends a control word, and says so.
func (a *cli) control(ctx context.Context, run agent.RunID, word agent.Word, done string) error {
	return a.beside(ctx, func(cfg config.Config, s app.Store) error {
		err := app.NewClient(cfg, s).Control(ctx, run, bot.Person{ID: bot.Terminal, Full: true}, agent.RunControlled{Word: word})
		if errors.Is(err, runs.ErrEnded) {
			return &exit{exitFailed, err}
		}
		if err != nil {
			return notFound(run, err)
		}
		_, err = fmt.Fprintln(a.err, done)
		return err
	})
}

func (a *cli) approveCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "approve CHECKPOINT", Short: "Approve what a run asks for", Args: single("CHECKPOINT", "`deckhand status` lists what is asked"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd.Context(), agent.CheckpointID(args[0]), agent.DecideApprove, reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`TEXT` that is kept with the decision")
	return c
}

func (a *cli) denyCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "deny CHECKPOINT", Short: "Deny what a run asks for", Args: single("CHECKPOINT", "`deckhand status` lists what is asked"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd.Context(), agent.CheckpointID(args[0]), agent.DecideDeny, reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`TEXT` that the agent is told")
	return c
}

// decide answers a checkpoint from the command line.
func (a *cli) decide(ctx context.Context, id agent.CheckpointID, decision, reason string) error {
	return a.beside(ctx, func(cfg config.Config, s app.Store) error {
		err := app.NewClient(cfg, s).Decide(ctx, bot.Person{ID: bot.Terminal, Full: true}, agent.CheckpointDecided{ID: id, Decision: decision, Text: reason})
		switch {
		case errors.Is(err, runs.ErrNoCheckpoint):
			return usage("%w: `deckhand status` lists what is asked", err)
		case err != nil:
			return &exit{exitFailed, err}
		}
		_, err = fmt.Fprintf(a.err, "%s: %s\n", id, decision)
		return err
	})
}
