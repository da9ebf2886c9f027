package main

import (
	"context"
	"errors"
	"fmt"
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

// editor is the person's editor as a function on texts, nil where none is set.
func (a *cli) editor() func(context.Context, string) (string, error) {
	command := a.env("VISUAL")
	if command == "" {
		command = a.env("EDITOR")
	}
	if command == "" {
		return nil
	}
	return func(ctx context.Context, text string) (string, error) { return edit(ctx, command, text) }
}

// edit opens an editor on a text.
func edit(ctx context.Context, editor, text string) (string, error) {
	f, err := os.CreateTemp("", "deckhand-*.json")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(text); err != nil {
		return "", errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if err := inForeground(ctx, editor, f.Name()); err != nil {
		return "", fmt.Errorf("%s: %w", editor, err)
	}
	edited, err := os.ReadFile(f.Name())
	return string(edited), err
}
