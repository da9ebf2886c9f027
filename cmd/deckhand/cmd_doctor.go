package main

// This file defines `deckhand doctor`, which runs every check of the
// installation, each with a time limit, and prints the findings for people or
// as JSON.

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/cmd/internal/app"
)

// finding is one line of the doctor's report.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// doctorTimeout bounds each of the doctor's checks.
const doctorTimeout = 20 * time.Second

func doctorCommand(a *cli) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, store, workspace, sandbox, model, Slack and Discord, and say what is missing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

func (a *cli) doctor(ctx context.Context) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	from := cfg.File
	if from == "" {
		from = "no file; defaults and environment"
	}
	list := []finding{{"configuration", true, from}}
	for _, c := range app.Checks(cfg) {
		bounded, cancel := context.WithTimeout(ctx, doctorTimeout)
		detail, err := c.Run(bounded, cfg)
		cancel()
		f := finding{c.Name, err == nil, detail}
		if err != nil {
			f.Detail = err.Error()
		}
		list = append(list, f)
	}
	return a.diagnosis(list)
}

func (a *cli) diagnosis(list []finding) error {
	ill := false
	for _, f := range list {
		ill = ill || !f.OK
	}
	if a.json {
		if err := json.NewEncoder(a.out).Encode(list); err != nil {
			return err
		}
	} else {
		for _, f := range list {
			mark := "ok  "
			if !f.OK {
				mark = "FAIL"
			}
			fmt.Fprintf(a.out, "%s  %-13s  %s\n", mark, f.Check, printable(f.Detail))
		}
	}
	if ill {
		return &exit{code: exitFailed}
	}
	return nil
}
