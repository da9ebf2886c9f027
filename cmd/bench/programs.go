package main

// This file measures how long a program takes in the sandbox from call to
// result: JavaScript in Deckhand's own child and in bubblewrap, and a shell
// command, beside the same command without any sandbox.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/code"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

const programRuns = 60

// benchPrograms measures one program at a time, warm.
func benchPrograms(ctx context.Context, e *environment) ([]row, error) {
	self, err := filepath.Abs(e.binary)
	if err != nil {
		return nil, err
	}
	bare, err := timed(func() error { return exec.CommandContext(ctx, "/bin/sh", "-c", "echo on").Run() })
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, d := range []sandbox.Driver{sandbox.Child, sandbox.Bubblewrap} {
		s, err := sandbox.New(sandbox.Config{Self: []string{self, "sandbox-exec"}, Driver: d})
		if err != nil {
			return nil, err
		}
		if _, err := s.Driver(ctx); err != nil {
			continue // this machine has no such driver: there is nothing to measure
		}
		javascript, err := code.New(code.Config{Command: []string{self, "sandbox-js"}, Sandbox: s})
		if err != nil {
			return nil, err
		}
		script, err := timed(func() error {
			r := javascript.Run(ctx, agent.Call{Arguments: json.RawMessage(`{"code":"6*7"}`)})
			if r.Text != "42" {
				return errors.New(r.Text)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		shell, err := timed(func() error {
			r, err := s.Run(ctx, sandbox.Spec{Command: []string{"/bin/sh", "-c", "echo on"}})
			if err == nil && string(r.Stdout) != "on\n" {
				err = fmt.Errorf("the shell said %q: %s %s", r.Stdout, r.Stderr, r.Limit)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, programRow("run_code", d, script, bare, 50*time.Millisecond), programRow("shell", d, shell, bare, 30*time.Millisecond))
	}
	return rows, nil
}

func programRow(what string, d sandbox.Driver, p50, bare, aim time.Duration) row {
	return row{
		name:  fmt.Sprintf("%s in %s, p50 of %d", what, d, programRuns),
		value: p50.Round(100 * time.Microsecond).String(), baseline: "sh without a sandbox: " + bare.Round(100*time.Microsecond).String(),
		ratio: fmt.Sprintf("%.1f", float64(p50)/float64(bare)), aim: "<= " + aim.String(), reached: p50 <= aim,
	}
}

// timed is the median time of a thing that is done again and again.
func timed(do func() error) (time.Duration, error) {
	took := make([]time.Duration, 0, programRuns)
	for i := range programRuns + 3 { // the first ones warm up
		start := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		if i >= 3 {
			took = append(took, time.Since(start))
		}
	}
	return quantile(took, 0.5), nil
}
