package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

type wake = map[agent.StrandID]time.Time

func said(s agent.StrandID, text string) agent.Event {
	return agent.Event{Strand: s, Body: agent.PersonSaid{By: "terminal", Text: text, Trusted: true}}
}

// opens is the event that a run begins with.
func opens() agent.Event {
	return agent.Event{Strand: agent.Main, Body: agent.RunStarted{Goal: "test", Requester: "terminal"}}
}

// quantile sorts the durations and returns the q-th share in milliseconds.
func quantile(all []time.Duration, q float64) float64 {
	slices.Sort(all)
	return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000
}

// BenchmarkFsync is what the disk does: 4 KB appended and fsynced, one after
// the other. The figure to compare BenchmarkClaimCommit with.
func BenchmarkFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	block := make([]byte, 4096)
	for b.Loop() {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "fsyncs/s")
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkClaimCommit works 64 runs of two strands with 32 workers. An
// operation is a claim and the commit of one event that releases it.
func BenchmarkClaimCommit(b *testing.B) {
	const workers = 32
	ctx := b.Context()
	s := open(b, b.TempDir(), time.Minute, sqlite.Worker)
	for range 64 {
		c := agent.Commit{ID: agent.NewID(), Run: agent.RunID(agent.NewID()), Wake: wake{agent.Main: agent.AtOnce, "task/a": agent.AtOnce}}
		c.Events = []agent.Event{opens()}
		if _, err := s.Commit(ctx, c); err != nil {
			b.Fatal(err)
		}
	}
	text := strings.Repeat("x", 350)
	turns := make(chan struct{}, workers)
	took := make([][]time.Duration, workers)
	failed := make([]error, workers)
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range workers {
		wg.Go(func() {
			for range turns {
				var d time.Duration
				if d, failed[i] = turn(ctx, s, text); failed[i] != nil {
					return
				}
				took[i] = append(took[i], d)
			}
		})
	}
	for range b.N {
		turns <- struct{}{}
	}
	close(turns)
	wg.Wait()
	b.StopTimer()
	if err := errors.Join(failed...); err != nil {
		b.Fatal(err)
	}
	all := slices.Concat(took...)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claim+commit/s")
	b.ReportMetric(quantile(all, 0.5), "commit-p50-ms")
	b.ReportMetric(quantile(all, 0.99), "commit-p99-ms")
}

// turn claims, commits and returns how long the commit took.
func turn(ctx context.Context, s *sqlite.Store, text string) (time.Duration, error) {
	leases, err := s.Claim(ctx, 1, 10*time.Second, "")
	if err != nil || len(leases) == 0 {
		return 0, errors.Join(err, errors.New("nothing to claim"))
	}
	l := leases[0]
	began := time.Now()
	_, err = s.Commit(ctx, agent.Commit{
		ID: agent.NewID(), Run: l.Run, Lease: &l, Seen: agent.SeenAll,
		Events: []agent.Event{said(l.Strand, text)}, Wake: wake{l.Strand: agent.AtOnce},
	})
	return time.Since(began), err
}

// BenchmarkHandOff is the time from the call that commits a fact to the claim
// that it wakes, in an idle process.
func BenchmarkHandOff(b *testing.B) {
	ctx := b.Context()
	s := open(b, b.TempDir(), time.Minute, sqlite.Worker)
	run := agent.RunID(agent.NewID())
	type woken struct {
		leases []agent.Lease
		err    error
		at     time.Time
	}
	got := make(chan woken)
	claim := func() {
		leases, err := s.Claim(ctx, 1, 10*time.Second, "")
		got <- woken{leases, err, time.Now()}
	}
	var all []time.Duration
	for b.Loop() {
		go claim()
		began := time.Now()
		if _, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: wake{agent.Main: agent.AtOnce}}); err != nil {
			b.Fatal(err)
		}
		w := <-got
		if w.err != nil || len(w.leases) != 1 {
			b.Fatalf("claimed %+v, %v", w.leases, w.err)
		}
		all = append(all, w.at.Sub(began))
		if _, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Lease: &w.leases[0], Seen: agent.SeenAll, Wake: wake{agent.Main: agent.Parked}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(quantile(all, 0.5), "p50-ms")
	b.ReportMetric(quantile(all, 0.99), "p99-ms")
}
