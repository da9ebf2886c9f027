package main

// This file defines `deckhand status`, which lists the runs of a store with
// their progress, cost and what they wait for, as a table or as JSON.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent/format"
	botcard "github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

func statusCommand(a *cli) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "status", Short: "List the runs and where they stand", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.beside(cmd.Context(), func(cfg config.Config, s app.Store) error {
				most := newestRuns
				if all {
					most = 0
				}
				list, more, err := intake.ListRuns(cmd.Context(), app.NewClient(cfg, s), most)
				if err != nil {
					return &exit{exitFailed, err}
				}
				if more > 0 {
					defer fmt.Fprintf(a.err, "%s that ended longer ago: deckhand status --all\n", format.Count(more, "more run"))
				}
				if a.json {
					return json.NewEncoder(a.out).Encode(list)
				}
				return a.printStatus(list)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("list every run, not only the newest %d and those that live", newestRuns))
	return c
}

// newestRuns is how many of the newest runs are listed, beside those that have
// not ended. Each is one read of its journal.
const newestRuns = 150

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
