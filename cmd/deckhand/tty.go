package main

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// terminals reports whether a person sits at both ends.
func terminals() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// fallbackWidth is the line length where the terminal does not tell its own.
const fallbackWidth = 80

// width is the terminal's width in columns.
func width() int {
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
		return w
	}
	return fallbackWidth
}

// inForeground runs a person's command with the terminal in its hands.
func inForeground(ctx context.Context, command, file string) error {
	words := append(strings.Fields(command), file)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the person's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
