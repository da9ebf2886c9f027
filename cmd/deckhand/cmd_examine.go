package main

// This file defines `deckhand examine`, which applies the loop detection to a
// transcript in a file, of Deckhand or of another agent, and prints its
// findings.

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

func examineCommand(a *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "examine FILE|-",
		Short: "Find loops in a transcript: findings L1 to L13, exit 1 with any",
		Long: "Find where an agent was stuck. Transcripts are a Deckhand journal (`deckhand journal RUN`), OpenAI messages\n" +
			"({\"messages\": […], \"tools\"?}, a list, or one message a line) or ReAct text (Thought, Action, Observation).\n" +
			"Exit code 0: nothing found, 1: findings, 2: no transcript.",
		Args: single("FILE", "or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error { return a.examine(args[0]) },
	}
}

// stuckFinding is a finding as --json shows it. Events of a transcript without
// strands have none.
type stuckFinding struct {
	Rule     string         `json:"rule"`
	Severity string         `json:"severity"`
	Strand   agent.StrandID `json:"strand,omitempty"`
	Events   []uint64       `json:"events"`
	Message  string         `json:"message"`
}

func (a *cli) examine(path string) error {
	data, err := a.readFile(path)
	if err != nil {
		return usage("%w", err)
	}
	t, err := reflect.Read(data)
	if err != nil {
		return usage("%s: %w", path, err)
	}
	if t.Newer > 0 {
		fmt.Fprintf(a.err, "left out, written by a newer Deckhand: %d events\n", t.Newer)
	}
	found := t.Examine(reflect.Defaults())
	if err := a.printStuck(found, t); err != nil {
		return err
	}
	if len(found) > 0 {
		return &exit{code: exitFailed}
	}
	return nil
}

func (a *cli) printStuck(found []agent.Finding, t *reflect.Transcript) error {
	if a.json {
		list := make([]stuckFinding, len(found))
		for i, f := range found {
			list[i] = stuckFinding{Rule: f.Rule, Severity: f.Severity, Strand: f.Strand, Events: f.Events, Message: f.Message}
		}
		enc := format.Encoder(a.out)
		return enc.Encode(list)
	}
	for _, f := range found {
		where := "events"
		if f.Strand != "" {
			where = string(f.Strand) + " events"
		}
		if _, err := fmt.Fprintf(a.out, "%-8s %-4s %s\n              %s %s\n", f.Severity, f.Rule, printable(f.Message), printable(where), reflect.Numbers(f.Events)); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(a.out, "no loop found in %d steps (%s)\n", t.Steps, t.Format)
		return err
	}
	return nil
}
