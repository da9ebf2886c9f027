package schedule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// patience bounds each wait, on a machine that is busy.
const patience = time.Minute

// cluster is some replicas of Deckhand over one Redis and one Slack, each a child
// process that serves what the configuration file says.
type cluster struct {
	*slacktest.Server
	t        *testing.T
	dir      string
	orders   orders
	store    *redis.Store
	runs     *runs.Client
	replicas []*crash.Child
	ready    []*ready                  // of each replica
	count    int                       // of all that were ever started
	told     map[agent.RunID]agent.Run // that nothing comes after
	figures  crash.Figures
	missed   int // ticks that the next report told as missed
}

// orders are what a replica is told: its environment.
type orders map[string]string

// TestMain makes a child of this binary a replica.
func TestMain(m *testing.M) {
	var o orders
	if crash.Orders(&o) {
		crash.Exit(serve(o))
	}
	goleak.VerifyTestMain(m)
}

// serve is `deckhand serve`.
func serve(o orders) error {
	<-crash.Gate()
	ctx := context.Background()
	cfg, err := config.Load(config.Flags{}, func(name string) string { return o[name] })
	if err != nil {
		return err
	}
	a, err := app.New(ctx, app.Options{
		Config: cfg, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Ready: func(string) { fmt.Fprintln(os.Stderr, readyLine) },
	})
	if err != nil {
		return err
	}
	return errors.Join(a.Run(ctx), a.Close())
}

// newCluster makes a cluster of a configuration file, and of a Slack with its
// moods; it has no replicas yet.
func newCluster(t *testing.T, file string, chaos slacktest.Chaos) *cluster {
	t.Helper()
	f := &cluster{t: t, dir: t.TempDir(), told: map[agent.RunID]agent.Run{}, Server: slacktest.New(slacktest.Config{Scopes: slack.Scopes(), Chaos: chaos})}
	t.Cleanup(f.Close)
	db := redistest.Start(t)
	at := filepath.Join(f.dir, "deckhand.yaml")
	if err := os.WriteFile(at, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	f.orders = orders{
		"DECKHAND_CONFIG":    at,
		"DECKHAND_REDIS_URL": db.URL, "DECKHAND_WORKSPACE": f.dir, "DECKHAND_HTTP_ADDR": "127.0.0.1:0",
		"DECKHAND_MODEL": "nobody", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
		"SLACK_API_URL": f.URL() + "/api", "SLACK_BOT_TOKEN": f.BotToken, "SLACK_APP_TOKEN": f.AppToken,
	}
	var err error
	if f.store, err = redis.Open(t.Context(), redis.Config{URL: db.URL}); err != nil {
		t.Fatal(err)
	}
	f.runs = &runs.Client{Journals: f.store}
	t.Cleanup(func() {
		for _, r := range f.replicas {
			r.Kill()
		}
		if err := f.store.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			f.lastWords()
		}
	})
	return f
}

// lastWords logs what the replicas had to complain about.
func (f *cluster) lastWords() {
	files, _ := filepath.Glob(filepath.Join(f.dir, "*.err")) // the pattern is in order
	for _, file := range files {
		said, err := os.ReadFile(file)
		var lines []string
		for line := range strings.Lines(string(said)) {
			if !strings.Contains(line, "level=INFO") {
				lines = append(lines, line)
			}
		}
		f.t.Logf("%s (%v, %d lines):\n%s", filepath.Base(file), err, len(lines), strings.Join(lines[max(0, len(lines)-15):], ""))
	}
}

// start starts a replica in the i-th place, and does not wait until it is ready.
func (f *cluster) start(i int) {
	f.t.Helper()
	f.count++
	said, err := os.Create(filepath.Join(f.dir, fmt.Sprintf("replica-%d.err", f.count)))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = said.Close() }) // everything was read by then
	seen := &ready{file: said, said: make(chan struct{})}
	r, err := crash.Start(f.orders, seen, nil) // what it said is in its file
	if err == nil {
		err = r.Open()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	if i == len(f.replicas) {
		f.replicas, f.ready = append(f.replicas, r), append(f.ready, seen)
	} else {
		f.replicas[i], f.ready[i] = r, seen
	}
}

// awaitReady waits until the i-th replica serves.
func (f *cluster) awaitReady(i int) {
	f.t.Helper()
	select {
	case <-f.ready[i].said:
	case <-f.replicas[i].Done:
		f.t.Fatal("a replica ended before it was ready")
	case <-time.After(patience):
		f.t.Fatal("a replica does not get ready")
	}
}

// readyLine is what a replica says when it serves.
const readyLine = "ready to serve"

// ready keeps what a replica says in a file, and notices that it is ready.
type ready struct {
	file *os.File
	said chan struct{}
	once sync.Once
	text bytes.Buffer // until then
}

// Write is called by one goroutine.
func (r *ready) Write(p []byte) (int, error) {
	select {
	case <-r.said:
	default:
		if r.text.Write(p); bytes.Contains(r.text.Bytes(), []byte(readyLine+"\n")) {
			r.once.Do(func() { close(r.said) })
		}
	}
	return r.file.Write(p)
}

// post is a message of Deckhand's, as its metadata names it.
type post struct {
	Run  agent.RunID    `json:"run"`
	Key  string         `json:"key"`
	Kind agent.PostKind `json:"kind"`

	slacktest.Message
}

// cards are all messages of the bot.
func (f *cluster) cards() []post {
	var list []post
	for _, m := range f.FromBot() {
		c := post{Message: m}
		if m.Metadata != nil {
			if err := json.Unmarshal(m.Metadata.EventPayload, &c); err != nil {
				f.t.Errorf("the metadata of %s: %v", m.TS, err)
			}
		}
		list = append(list, c)
	}
	return list
}

// ticks are the runs of scheduled reports, by their schedule.
func (f *cluster) ticks() map[string][]agent.Run {
	f.t.Helper()
	infos, err := f.store.Runs(f.t.Context(), agent.RunFilter{})
	if err != nil {
		f.t.Fatal(err)
	}
	all := map[string][]agent.Run{}
	for _, info := range infos {
		r, known := f.told[info.Run]
		if !known {
			if r, err = f.runs.Load(f.t.Context(), info.Run); err != nil {
				f.t.Fatal(err)
			}
		}
		if !r.Scheduled() {
			continue
		}
		if r.Shown["report"].Message != "" {
			f.told[info.Run] = r
		}
		all[r.Brief.Tick.Schedule] = append(all[r.Brief.Tick.Schedule], r)
	}
	return all
}

// pass lets the time go by.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal("the test is over")
	}
}

// poll looks until it is so or patience is over: another process gives no signal.
func poll(so func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return false
}
