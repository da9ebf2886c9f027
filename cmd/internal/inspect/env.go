package inspect

// What the commands need of the program.

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Env is the program around a command.
type Env struct {
	Out  io.Writer
	JSON *bool // --json, once the flags are read
	// Open opens the store beside whoever works it.
	Open func(ctx context.Context, use func(cfg config.Config, s app.Store) error) error
	// Load reads the configuration, Read a file ("-": standard input).
	Load func() (config.Config, error)
	Read func(path string) ([]byte, error)
	// Single accepts one argument, and says what to do about another number.
	Single func(what, hint string) cobra.PositionalArgs
	// Usage is an error of the command line, Fail one that the command found; a
	// nil cause is not printed.
	Usage func(format string, args ...any) error
	Fail  func(cause error) error
	// NoRun tells a run that does not exist from a store that cannot be read.
	NoRun func(run string, err error) error
	// Printable drops what a terminal would obey instead of showing it.
	Printable func(text string) string
}
