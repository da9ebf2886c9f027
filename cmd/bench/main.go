// Command bench measures Deckhand's speed and size and prints a table with
// ratios against raw baselines of the same minute. `make bench` runs it. It
// asserts nothing: a row that misses its aim says so, and that is all.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/deckhand-bot/deckhand/agent/loop"
)

// row is one line of the table. Aim is what the row should reach.
type row struct {
	name, value, baseline, ratio, aim string
	reached                           bool
}

// bench measures one subject and returns its rows.
type bench struct {
	name string
	run  func(ctx context.Context, e *environment) ([]row, error)
}

// environment is what the benches share.
type environment struct {
	dir    string // scratch folder on the disk that is measured
	binary string // the built deckhand
	redis  *server
	// profiles is where profiles of the engine are written, empty: nowhere.
	profiles string
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == modelRole {
		serveModel()
		return
	}
	only := flag.String("only", "", "run only the benches whose names contain this")
	binary := flag.String("binary", "bin/deckhand", "the built binary")
	profiles := flag.String("profiles", "", "write a processor and a memory profile of each load of the engine to this folder")
	flag.Parse()
	debug.SetGCPercent(loop.GCPercent)
	// Servers that were started must be stopped, whatever ends this program.
	signal.Ignore(syscall.SIGPIPE)
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := run(ctx, *only, *binary, *profiles); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only, binary, profiles string) error {
	dir, err := os.MkdirTemp("", "deckhand-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e := &environment{dir: dir, binary: binary, profiles: profiles}
	if e.redis, err = startRedis(dir); err != nil {
		return err
	}
	defer e.redis.stop()
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "what\tmeasured\tbaseline\tratio\taim\t")
	for _, b := range []bench{
		{"redis", benchRedis}, {"sqlite", benchSQLite}, {"step", benchStep}, {"prompt", benchPrompt}, {"age", benchAge}, {"tasks", benchTasks},
		{"replicas", benchReplicas}, {"slow", benchSlow}, {"crowd", benchCrowd}, {"faults", benchFaults}, {"limits", benchLimits}, {"parked", benchParked},
		{"lists", benchLists}, {"recall", benchRecall}, {"checkin", benchCheckIn}, {"programs", benchPrograms}, {"tools", benchTools}, {"schedules", benchSchedules}, {"serve", benchServe},
		{"policy", benchPolicy}, {"audit", benchAudit}, {"stalled", benchStalled}, {"hostile", benchHostile},
		{"chat-mentions", benchMentions}, {"chat-cards", benchCards}, {"chat-commands", benchCommands}, {"chat-calls", benchCalls},
	} {
		if only != "" && !strings.Contains(b.name, only) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring:", b.name)
		rows, err := b.run(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		for _, r := range rows {
			mark := "reached"
			if !r.reached {
				mark = "MISSED"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.name, r.value, r.baseline, r.ratio, r.aim, mark)
		}
	}
	return w.Flush()
}
