// Command deckhand is an autonomous agent that works where a team talks.
//
// This package owns commands, flags, exit codes and signals: each command is a
// file of its own, cmd_NAME.go. What a process consists of is put together in
// cmd/internal/app, and its configuration is read below that.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
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
