package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// A parked run has 6 strands, 20 events and 8 KB of content.
const (
	parkedStrands = 6
	parkedEvents  = 20
	parkedContent = 8 << 10
)

// park fills the directory with parked runs whose events came in turns, and
// returns how large their content is.
func park(tb testing.TB, dir string, runs int) (content int64) {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		tb.Fatal(err)
	}
	ids := make([]agent.RunID, runs)
	for i := range ids {
		ids[i] = agent.RunID(agent.NewID())
	}
	text := strings.Repeat("0123456789", parkedContent/parkedEvents/10)
	hour := time.Now().Add(24 * time.Hour)
	var total atomic.Int64
	const round = 5
	for turn := range parkedEvents / round {
		first := turn == 0
		g, ctx := errgroup.WithContext(tb.Context())
		g.SetLimit(64)
		for _, run := range ids {
			g.Go(func() error {
				c := agent.Commit{ID: agent.NewID(), Run: run, Wake: wake{}}
				if first {
					c.Events = append(c.Events, opens())
				}
				for i := range round {
					e := said(agent.TaskStrand(agent.TaskID(strconv.Itoa(i))), text)
					body, err := agent.EncodeBody(e.Body)
					if err != nil {
						return err
					}
					total.Add(int64(len(body)))
					c.Events = append(c.Events, e)
					c.Wake[e.Strand] = hour
				}
				c.Wake[agent.Main] = hour
				_, err := s.Commit(ctx, c)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return total.Load()
}

// size is what the directory's files take.
func size(tb testing.TB, dir string) (total int64) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			tb.Fatal(err)
		}
		total += info.Size()
	}
	return total
}

func TestParkedRunsAreSmall(t *testing.T) {
	dir := t.TempDir()
	content := park(t, dir, 300)
	if ratio := float64(size(t, dir)) / float64(content); ratio > 2 {
		t.Errorf("the store takes %.2f times its content, want 2 at most", ratio)
	}
}

// BenchmarkOpenParked opens a store with 10,000 parked runs and looks for
// something due.
func BenchmarkOpenParked(b *testing.B) {
	dir := b.TempDir()
	content := park(b, dir, 10_000)
	total := size(b, dir)
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
		if err != nil {
			b.Fatal(err)
		}
		if got, err := s.Claim(context.Background(), 1, 0, ""); err != nil || len(got) > 0 {
			b.Fatalf("claimed %+v, %v", got, err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total)/float64(content), "store/content")
	b.ReportMetric(float64(content)/(1<<20), "content-MB")
}

// BenchmarkListParked lists 10,000 runs whose strands all wait for timers, and
// reports how long it takes where they wait for nothing.
func BenchmarkListParked(b *testing.B) {
	dir := b.TempDir()
	park(b, dir, 10_000)
	s := open(b, dir, time.Minute, sqlite.Guest)
	list := func(due bool) {
		all, err := s.Runs(b.Context(), agent.RunFilter{})
		if err != nil || len(all) != 10_000 || all[0].Due.IsZero() == due {
			b.Fatalf("%d runs, %v; want all, due: %v", len(all), err, due)
		}
	}
	for b.Loop() {
		list(true)
	}
	if _, err := file(b, dir).ExecContext(b.Context(), "UPDATE strands SET due = NULL"); err != nil {
		b.Fatal(err)
	}
	const rounds = 5
	began := time.Now()
	for range rounds {
		list(false)
	}
	b.ReportMetric(time.Since(began).Seconds()*1000/rounds, "parked-ms")
}
