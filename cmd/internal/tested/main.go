// Command tested runs go test and says at the end what was skipped, and why.
//
//	tested ARG... [-- ARG...]...  go test with these arguments, then with the next ones
//
// Otherwise it prints what go test prints: a line a package, and what failing
// tests said. A test that one run skips and another one passes is not skipped.
//
// What lives here: report.go reads what `go test -json` tells. Which tests are
// run is the Makefile's business.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run runs each list of arguments, and returns 1 where something failed.
func run(ctx context.Context, args []string, out io.Writer) (code int) {
	r := newReport(out)
	for len(args) > 0 {
		n := slices.Index(args, "--")
		if n < 0 {
			n = len(args)
		}
		if err := r.test(ctx, args[:n]); err != nil {
			fmt.Fprintln(os.Stderr, "go test:", err)
			code = 1
		}
		args = args[min(n+1, len(args)):]
	}
	r.tellSkipped()
	return code
}

// test runs go test once.
func (r *report) test(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // the caller's own command
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("its output cannot be read: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("it cannot be started: %w", err)
	}
	readErr := r.read(stdout)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("it ended with %w", err)
	}
	return readErr
}
