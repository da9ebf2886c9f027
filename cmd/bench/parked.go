package main

// This file measures what waiting costs: start-up, goroutines and store size
// with 10,000 parked runs on Redis and SQLite, and how soon `deckhand serve`
// is ready and how much memory it holds when idle.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// The shape of a parked run.
const (
	parkedRuns    = 10_000
	parkedStrands = 6
	parkedEvents  = 20
	parkedBytes   = 8 << 10
)

// park fills a store with runs that wait for people.
func park(ctx context.Context, s store) error {
	text := words(parkedBytes / parkedEvents)
	var failed error
	var mu sync.Mutex
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for range parkedRuns / workers {
				if err := parkOne(ctx, s, text); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	done.Wait()
	return failed
}

func parkOne(ctx context.Context, s store, text string) error {
	events := make([]agent.Event, parkedEvents)
	for i := range events {
		events[i] = said(text)
	}
	events[0] = started(text)
	wake := map[agent.StrandID]time.Time{}
	for i := range parkedStrands {
		wake[agent.TaskStrand(agent.TaskID(fmt.Sprint("t", i)))] = time.Now().Add(24 * time.Hour)
	}
	_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: agent.RunID(agent.NewID()), Events: events, Wake: wake})
	return err
}

// words is text of the length that does not repeat itself like one letter would.
func words(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "word%d ", i*7919%1000)
	}
	return b.String()[:n]
}

func benchParked(ctx context.Context, e *environment) ([]row, error) {
	onRedis, err := parkedOnRedis(ctx, e)
	if err != nil {
		return nil, err
	}
	onSQLite, err := parkedOnSQLite(ctx, e)
	return append(onRedis, onSQLite...), err
}

func parkedOnRedis(ctx context.Context, e *environment) ([]row, error) {
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	opts, err := goredis.ParseURL(e.redis.url)
	if err != nil {
		return nil, err
	}
	c := goredis.NewClient(opts)
	defer c.Close()
	before, err := c.InfoMap(ctx, "memory").Result()
	if err != nil {
		return nil, err
	}
	open := func() (store, error) { return redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second}) }
	rows, err := parked(ctx, "Redis", open)
	if err != nil {
		return nil, err
	}
	after, err := c.InfoMap(ctx, "memory").Result()
	if err != nil {
		return nil, err
	}
	used, err := strconv.ParseFloat(after["Memory"]["used_memory"], 64)
	if err != nil {
		return nil, err
	}
	idle, err := strconv.ParseFloat(before["Memory"]["used_memory"], 64)
	if err != nil {
		return nil, err
	}
	return append(rows, size("Redis", used-idle)), wipe(ctx, e)
}

func parkedOnSQLite(ctx context.Context, e *environment) ([]row, error) {
	dir := filepath.Join(e.dir, "parked")
	open := func() (store, error) { return sqlite.Open(ctx, sqlite.Config{Dir: dir}, sqlite.Worker) }
	rows, err := parked(ctx, "SQLite", open)
	if err != nil {
		return nil, err
	}
	var total float64
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += float64(info.Size())
		return nil
	})
	return append(rows, size("SQLite", total)), err
}

func size(name string, bytes float64) row {
	content := float64(parkedRuns) * parkedBytes
	return row{name: name + ": 10,000 parked runs, size of the store", value: fmt.Sprintf("%.0f MB", bytes/1e6),
		baseline: fmt.Sprintf("%.0f MB of content", content/1e6), ratio: fmt.Sprintf("%.2f×", bytes/content), aim: "≤ 2×", reached: bytes <= 2*content}
}

// parked fills the store, opens it again and waits for work in it.
func parked(ctx context.Context, name string, open func() (store, error)) ([]row, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(park(ctx, s), s.Close()); err != nil {
		return nil, err
	}
	goroutines := runtime.NumGoroutine()
	began := time.Now()
	if s, err = open(); err != nil {
		return nil, err
	}
	defer s.Close()
	leases, err := s.Claim(ctx, 1, time.Millisecond, "")
	took := time.Since(began)
	if err != nil || len(leases) != 0 {
		return nil, fmt.Errorf("%s: parked runs are due: %v, %w", name, leases, err)
	}
	more := runtime.NumGoroutine() - goroutines
	return []row{
		{name: name + ": start-up with 10,000 parked runs", value: took.Round(time.Millisecond).String(), aim: "≤ 1 s", reached: took <= time.Second},
		{name: name + ": goroutines with 10,000 parked runs", value: strconv.Itoa(more), aim: "none each", reached: more < 50},
	}, nil
}

// benchServe starts the built binary without platforms.
func benchServe(ctx context.Context, e *environment) ([]row, error) {
	if _, err := os.Stat(e.binary); err != nil {
		return nil, fmt.Errorf("build it first (make build): %w", err)
	}
	cmd := exec.CommandContext(ctx, e.binary, "serve", "--data-dir", filepath.Join(e.dir, "serve"), "--workspace", filepath.Join(e.dir, "work"))
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "DECKHAND_MODEL=none", "DECKHAND_HTTP_ADDR=127.0.0.1:0", "DECKHAND_REDIS_URL=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready ") {
	}
	ready := time.Since(began)
	<-time.After(3 * time.Second) // idle
	return []row{
		{name: "serve without platforms: ready", value: ready.Round(time.Millisecond).String(), aim: "≤ 100 ms", reached: ready <= 100*time.Millisecond},
		idleRow("serve without platforms", cmd.Process.Pid, 30),
	}, nil
}
