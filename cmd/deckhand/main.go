// Command deckhand is an autonomous agent that works where a team talks.
//
// This package owns commands, flags, exit codes and signals: each command is a
// file of its own, cmd_NAME.go. What a process consists of is put together in
// cmd/internal/app, and its configuration is read below that.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// version is set by the linker.
var version = "devel"

// The exit codes of the contract.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitWaiting     = 3
	exitInterrupted = 130
)

func main() {
	if code, is := app.Child(os.Args); is {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(loop.GCPercent)
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	a := &cli{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, tty: terminals()}
	os.Exit(a.run(ctx, os.Args[1:]))
}

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
	if _, refused := errors.AsType[*app.Refused](err); refused || err == nil {
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

// run parses the arguments, runs the command and returns the exit code.
func (a *cli) run(ctx context.Context, args []string) int {
	root := a.root() //nolint:contextcheck // cobra hands the context to its commands
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	var e *exit
	var bad *config.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		if e.cause != nil {
			fmt.Fprintf(a.err, "deckhand: %v\n", e.cause)
		}
		return e.code
	case errors.As(err, &bad):
		fmt.Fprintln(a.err, err)
		return exitUsage
	}
	fmt.Fprintf(a.err, "deckhand: %v\n", err)
	return exitUsage // cobra's own complaints: unknown commands and flags
}

func (a *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "deckhand",
		Short:         "An agent that works where your team talks: plans, asks, acts, reports, survives",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	p := root.PersistentFlags()
	p.StringVar(&a.flags.Config, "config", "", "configuration `FILE` (default: DECKHAND_CONFIG, else ./deckhand.yaml)")
	p.StringVar(&a.flags.DataDir, "data-dir", "", "`DIR` of the embedded store (default: DECKHAND_DATA_DIR, else .deckhand)")
	p.StringVar(&a.flags.Workspace, "workspace", "", "`DIR` that agents work in (default: DECKHAND_WORKSPACE, else the current one)")
	p.StringVar(&a.flags.Model, "model", "", "`NAME` of the model (default: DECKHAND_MODEL)")
	p.BoolVar(&a.json, "json", false, "JSON lines on stdout, people's text on stderr")
	root.AddCommand(
		a.demoCommand(), a.runCommand(), a.serveCommand(),
		a.statusCommand(), a.journalCommand(), a.resumeCommand(), a.pauseCommand(), a.cancelCommand(),
		a.approveCommand(), a.denyCommand(),
		a.planCommand(), a.examineCommand(), a.capacityCommand(), a.doctorCommand(), a.manifestCommand(), a.versionCommand(),
	)
	root.SetVersionTemplate("deckhand {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

func (a *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, "deckhand", version)
			return err
		},
	}
}
