package main

// This file defines `deckhand policy`: the rules that are in force, and the cases
// that are written down beside rules.

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/cmd/internal/app"
)

func policyCommand(a *cli) *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "Look at the rules about what runs may do, and try them"}
	c.AddCommand(&cobra.Command{
		Use: "test FILE|-", Short: "Check a policy and work its cases: each that fails is printed, exit 1", Args: single("FILE", "or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error { return a.testPolicy(args[0]) },
	}, &cobra.Command{
		Use: "show", Short: "Print the rules that are in force, with their version and where each comes from", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.showPolicy() },
	})
	return c
}

func (a *cli) testPolicy(path string) error {
	data, err := a.readFile(path)
	if err != nil {
		return usage("%w", err)
	}
	failures, cases, err := app.TestPolicy(path, data)
	if err != nil {
		return usage("%w", err)
	}
	if a.json {
		if failures == nil {
			failures = []string{}
		}
		err = json.NewEncoder(a.out).Encode(struct {
			Cases    int      `json:"cases"`
			Failures []string `json:"failures"`
		}{cases, failures})
	} else {
		err = a.printCases(failures, cases)
	}
	if err != nil || len(failures) == 0 {
		return err
	}
	return &exit{code: exitFailed}
}

func (a *cli) printCases(failures []string, cases int) error {
	for _, line := range failures {
		if _, err := fmt.Fprintln(a.out, printable(line)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.out, "%d of %d cases hold\n", cases-len(failures), cases)
	return err
}

func (a *cli) showPolicy() error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	list, err := app.Policies(cfg)
	if err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.out).Encode(list)
	}
	for _, p := range list {
		place := p.Place
		if place == "" {
			place = "everywhere"
		}
		_, err := fmt.Fprintf(a.out, "%s: autonomy %s, version %s\n", printable(place), p.Autonomy, p.Version)
		for _, r := range p.Rules {
			_, e := fmt.Fprintf(a.out, "  %-26s %s  [%s:%d]\n", printable(r.Rule), printable(r.Says), printable(r.From), r.Line)
			err = errors.Join(err, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
