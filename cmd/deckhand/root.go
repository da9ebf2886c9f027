package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/estimate"
	"github.com/deckhand-bot/deckhand/cmd/internal/inspect"
	"github.com/deckhand-bot/deckhand/cmd/internal/memory"
	"github.com/deckhand-bot/deckhand/cmd/internal/pack"
	"github.com/deckhand-bot/deckhand/cmd/internal/playbooks"
	"github.com/deckhand-bot/deckhand/cmd/internal/toolbox"
)

// run parses the arguments, runs the command and returns the exit code.
func (a *cli) run(ctx context.Context, args []string) int {
	out := &output{Writer: a.out}
	if !a.tty { // a terminal is drawn on as the file that it is
		a.out = out
	}
	code := a.execute(ctx, args)
	if out.failed != nil && code == exitDone {
		fmt.Fprintf(a.err, "deckhand: the output could not be written: %v\n", out.failed)
		return exitFailed
	}
	return code
}

// output remembers the first write that failed: most of what is printed is
// printed line by line, and nobody reads what is missing.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// stopped reports whether an error comes from the signal that ends the command.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

func (a *cli) execute(ctx context.Context, args []string) int {
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
	case stopped(ctx, err):
		fmt.Fprintln(a.err, "deckhand: interrupted")
		return exitInterrupted
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
	if pathErr, is := errors.AsType[*fs.PathError](err); is && pathErr.Op == "write" {
		return exitFailed
	}
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
		demoCommand(a), runCommand(a), serveCommand(a), mcpCommand(a),
		statusCommand(a), journalCommand(a), resumeCommand(a), pauseCommand(a), cancelCommand(a),
		approveCommand(a), denyCommand(a),
		inspect.Plan(a.inspecting()), inspect.Policy(a.inspecting()), examineCommand(a), memory.Command(remembering(a)), toolbox.Command(toolHost(a)), pack.Command(packHost(a)), capacityCommand(a), doctorCommand(a), manifestCommand(a), versionCommand(a),
		estimate.Command(estimating(a)), playbooks.Command(playing(a)), inspect.Audit(a.inspecting()), inspect.Trace(a.inspecting()), inspect.TaskEnv(a.inspecting()),
	)
	root.SetVersionTemplate("deckhand {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// inspecting is the program as the commands see it that only look.
func (a *cli) inspecting() inspect.Env {
	return inspect.Env{
		Out: a.out, JSON: &a.json, Open: a.beside, Load: a.load, Read: a.readFile, Single: single, Usage: usage, Printable: printable,
		Fail:  func(cause error) error { return &exit{exitFailed, cause} },
		NoRun: func(run string, err error) error { return notFound(agent.RunID(run), err) },
	}
}

// remembering is this invocation as the commands about what is remembered need it.
func remembering(a *cli) memory.Host {
	return memory.Host{In: a.in, Out: a.out, Err: a.err, JSON: &a.json, Open: a.beside, Single: single, Usage: usage, Failed: failed, Printable: printable}
}

// estimating is this invocation as the command that estimates needs it.
func estimating(a *cli) estimate.Host {
	return estimate.Host{Out: a.out, Err: a.err, JSON: &a.json, Open: a.beside, Read: a.readFile, Single: single, Usage: usage, Printable: printable}
}

// playing is this invocation as the commands about playbooks need it.
func playing(a *cli) playbooks.Host {
	return playbooks.Host{Out: a.out, Err: a.err, JSON: &a.json, Load: a.load, Single: single, Usage: usage, Printable: printable,
		Fail: func() error { return &exit{code: exitFailed} }}
}

// toolHost is this invocation as the commands about tools need it.
func toolHost(a *cli) toolbox.Host {
	return toolbox.Host{In: a.in, Out: a.out, Err: a.err, JSON: &a.json, Load: a.load, Beside: a.beside, Printable: printable,
		Failed: func(err error) error { return &exit{exitFailed, err} }}
}

// packHost is this invocation as the commands about packs need it.
func packHost(a *cli) pack.Host {
	file := func() string { return cmp.Or(a.flags.Config, a.env("DECKHAND_CONFIG"), config.File) }
	return pack.Host{Out: a.out, Err: a.err, JSON: &a.json, Load: a.load, File: file, Beside: a.beside, Printable: printable, Single: single,
		Failed: func(err error) error { return &exit{exitFailed, err} }}
}

func versionCommand(a *cli) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, "deckhand", version)
			return err
		},
	}
}
