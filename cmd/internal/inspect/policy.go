package inspect

// This file defines `deckhand policy`: the rules that are in force, and the cases
// that are written down beside rules.

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/cmd/internal/app"
)

// Policy is `deckhand policy`.
func Policy(e Env) *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "Look at the rules about what runs may do, and try them"}
	c.AddCommand(&cobra.Command{
		Use: "test FILE|-", Short: "Check a policy and work its cases: each that fails is printed, exit 1", Args: e.Single("FILE", "or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error { return e.testPolicy(args[0]) },
	}, &cobra.Command{
		Use: "show", Short: "Print the rules that are in force, with their version and where each comes from", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.showPolicy() },
	})
	return c
}

func (e Env) testPolicy(path string) error {
	data, err := e.Read(path)
	if err != nil {
		return e.Usage("%w", err)
	}
	failures, cases, err := app.TestPolicy(path, data)
	if err != nil {
		return e.Usage("%w", err)
	}
	if *e.JSON {
		if failures == nil {
			failures = []string{}
		}
		err = json.NewEncoder(e.Out).Encode(struct {
			Cases    int      `json:"cases"`
			Failures []string `json:"failures"`
		}{cases, failures})
	} else {
		err = e.printCases(failures, cases)
	}
	if err != nil || len(failures) == 0 {
		return err
	}
	return e.Fail(nil)
}

func (e Env) printCases(failures []string, cases int) error {
	for _, line := range failures {
		if _, err := fmt.Fprintln(e.Out, e.Printable(line)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(e.Out, "%d of %d cases hold\n", cases-len(failures), cases)
	return err
}

func (e Env) showPolicy() error {
	cfg, err := e.Load()
	if err != nil {
		return err
	}
	list, err := app.Policies(cfg)
	if err != nil {
		return err
	}
	if *e.JSON {
		return json.NewEncoder(e.Out).Encode(list)
	}
	for _, p := range list {
		place := p.Place
		if place == "" {
			place = "everywhere"
		}
		_, err := fmt.Fprintf(e.Out, "%s: autonomy %s, version %s\n", e.Printable(place), p.Autonomy, p.Version)
		for _, r := range p.Rules {
			_, wrong := fmt.Fprintf(e.Out, "  %-26s %s  [%s:%d]\n", e.Printable(r.Rule), e.Printable(r.Says), e.Printable(r.From), r.Line)
			err = errors.Join(err, wrong)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
