package storetest

// Workers that are killed lose nothing and do nothing twice.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Work opens runs and makes turns in them, many at once, until the context
// ends or the process is killed, and writes a line for every turn that the
// store acknowledged. It is what the process does that Crash kills.
func Work(ctx context.Context, s Store, out io.Writer) error {
	var mu sync.Mutex
	acknowledged := func(run agent.RunID, seq uint64, said string) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := fmt.Fprintf(out, "%s %d %s\n", run, seq, said)
		return err
	}
	failed := make(chan error)
	const workers = 8
	for range workers {
		go func() { failed <- turns(ctx, s, acknowledged) }()
	}
	var errs []error
	for range workers {
		errs = append(errs, <-failed)
	}
	return errors.Join(errs...)
}

func turns(ctx context.Context, s Store, acknowledged func(agent.RunID, uint64, string) error) error {
	run := agent.RunID(agent.NewID())
	r, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: wake{agent.Main: agent.AtOnce}})
	for err == nil {
		var leases []agent.Lease
		leases, err = s.Claim(ctx, 1, time.Second, run)
		if err != nil || len(leases) == 0 {
			continue
		}
		said := fmt.Sprintf("turn%d", leases[0].Turn)
		r, err = s.Commit(ctx, agent.Commit{
			ID: agent.NewID(), Run: run, Lease: &leases[0], Seen: r.Seq, Strict: true,
			Events: []agent.Event{say(agent.Main, "%s", said), say(agent.Main, "%s-end", said)},
			Wake:   wake{agent.Main: agent.AtOnce},
			Spend:  []agent.Spend{{Counter: crashCounter(run), Nano: 1}}, Once: []string{crashKey(run, said)},
			Set: map[string]string{crashName(run): said},
		})
		if err == nil {
			err = acknowledged(run, r.Seq, said)
		}
	}
	if ctx.Err() == nil {
		return err
	}
	return nil
}

func crashCounter(run agent.RunID) string        { return "run/" + string(run) + "/turns" }
func crashName(run agent.RunID) string           { return "newest/" + string(run) }
func crashKey(run agent.RunID, at string) string { return string(run) + ":" + at }

// Worker is a process that does Work. Kill is SIGKILL; Wait, called when Out
// has been read to its end, waits for the process to be gone.
type Worker struct {
	Out        io.Reader
	Kill, Wait func()
}

// Crash starts workers on the data, one after the other, and kills them; open
// opens the data afterwards.
func Crash(t *testing.T, start func(t *testing.T) Worker, open func(t *testing.T) Store) {
	t.Helper()
	var acknowledged []string
	for _, after := range []int{1, 50, 400} {
		worker := start(t)
		lines := bufio.NewScanner(worker.Out)
		for n := 0; lines.Scan(); n++ {
			acknowledged = append(acknowledged, lines.Text())
			if n == after {
				worker.Kill() // what it wrote before its end is still in the pipe
			}
		}
		worker.Wait()
	}
	b := &bed{T: t, Stores: Stores{Store: open(t)}}
	for _, line := range acknowledged {
		b.kept(line)
	}
	all, err := b.Store.Runs(t.Context(), agent.RunFilter{})
	if err != nil || len(all) < 3 {
		t.Fatalf("runs: %d, %v", len(all), err)
	}
	for _, info := range all {
		b.whole(info.Run)
	}
	t.Logf("%d acknowledged turns of %d runs are all there", len(acknowledged), len(all))
}

// kept wants an acknowledged turn to be in the journal.
func (b *bed) kept(line string) {
	b.Helper()
	var run agent.RunID
	var seq uint64
	var said string
	if _, err := fmt.Sscan(line, &run, &seq, &said); err != nil {
		b.Fatalf("line %q: %v", line, err)
	}
	events := b.read(run, seq-2)
	if len(events) < 2 || text(events[0]) != said || text(events[1]) != said+"-end" {
		b.Fatalf("acknowledged %q, the journal has %+v", line, events)
	}
}

// whole wants all of every commit of the run, and its strand to go on.
func (b *bed) whole(run agent.RunID) {
	b.Helper()
	made, newest := 0, ""
	for i, e := range b.read(run, 0) {
		if e.Seq != uint64(i+1) {
			b.Fatalf("entry %d of run %s has seq %d", i+1, run, e.Seq)
		}
		if said := text(e); i > 0 && i%2 == 1 {
			made++
			newest = said
			b.refused(agent.Commit{Once: []string{crashKey(run, said)}}, agent.ErrSeen)
		} else if i > 0 && !strings.HasSuffix(said, "-end") {
			b.Fatalf("entry %d of run %s says %q: half a commit", i+1, run, said)
		}
	}
	b.spent(crashCounter(run), int64(made))
	b.value(b.Store, crashName(run), newest)
	lease := b.soonDue(run, patience)
	if lease.Turn != uint64(made) {
		b.Fatalf("lease %+v after %d turns", lease, made)
	}
}
