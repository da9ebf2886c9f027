// Command deckhand is an autonomous agent that works where a team talks.
//
// This package owns commands, flags, exit codes and signals:
//
//	main.go      the process: signals, exit codes
//	root.go      the commands together, and what becomes of their errors
//	cmd_NAME.go  a command each
//	work.go      a run that is worked and shown in this terminal
//	store.go     looking and acting beside a worker
//	tty.go       the person's terminal and editor
//	cli.go       what all commands share
//
// What a process consists of is put together in cmd/internal/app, and its
// configuration is read below that.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
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

// endings are the signals that end a command in good order. Under nohup a closed
// terminal is none.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

func main() {
	if code, is := kit.Child(os.Args); is {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(loop.GCPercent)
	}
	ctx, _ := signal.NotifyContext(context.Background(), endings()...)
	a := &cli{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, tty: terminals()}
	os.Exit(a.run(ctx, os.Args[1:]))
}
