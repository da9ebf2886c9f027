package main

// This file holds what the commands share: the invocation with its streams
// and flags, errors that carry exit codes, the check of arguments, and
// printing text from outside safely on a terminal.

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// cli is one invocation of the command line.
type cli struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	tty      bool // input, output and errors are a person's terminal
	flags    config.Flags
	json     bool
	yesTo    string
}

// exit is an error that carries its exit code. A nil cause prints nothing.
type exit struct {
	code  int
	cause error
}

func (e *exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

func (e *exit) Unwrap() error { return e.cause }

// usage is an error with exit code 2.
func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// failed is an error with exit code 1, where it is not one that a person has to
// mend first.
func failed(err error) error {
	if _, refused := errors.AsType[*config.RefusedError](err); refused || err == nil {
		return err
	}
	return &exit{exitFailed, err}
}

// load reads the configuration with this invocation's flags.
func (a *cli) load() (config.Config, error) { return config.Load(a.flags, a.env) }

// logger writes warnings for people at the terminal, everything for servers.
func logger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// single accepts exactly one argument and tells who gave another number what to do.
func single(what, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 1:
			return nil
		case len(args) == 0:
			return usage("%s needs a %s: %s; `%s --help` says more", cmd.CommandPath(), what, hint, cmd.CommandPath())
		}
		return usage("%s takes one %s, not %d arguments: %s", cmd.CommandPath(), what, len(args), hint)
	}
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

// readFile reads a file, "-": standard input.
func (a *cli) readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(a.in)
	}
	return os.ReadFile(path)
}
