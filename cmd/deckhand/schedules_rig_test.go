package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// fleet is some replicas of `deckhand serve` over one Redis and one Slack.
type fleet struct {
	*slacktest.Server
	t     *testing.T
	dir   string
	env   []string
	store *redis.Store
	desk  *runs.Client
	ships []*process
	count int                       // of all that were ever started
	told  map[agent.RunID]agent.Run // that nothing comes after
}

// gather makes a fleet of a configuration file, and of a Slack with its moods; it
// has no replicas yet.
func gather(t *testing.T, file string, chaos slacktest.Chaos) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), told: map[agent.RunID]agent.Run{}, Server: slacktest.New(slacktest.Config{Scopes: slack.Scopes(), Chaos: chaos})}
	t.Cleanup(f.Close)
	db := redistest.Start(t)
	at := filepath.Join(f.dir, "deckhand.yaml")
	if err := os.WriteFile(at, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	f.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir, "GORACE=atexit_sleep_ms=0", "DECKHAND_CONFIG=" + at,
		"DECKHAND_REDIS_URL=" + db.URL, "DECKHAND_WORKSPACE=" + f.dir, "DECKHAND_HTTP_ADDR=127.0.0.1:0",
		"DECKHAND_MODEL=nobody", "OPENAI_BASE_URL=http://127.0.0.1:1/v1",
		"SLACK_API_URL=" + f.URL() + "/api", "SLACK_BOT_TOKEN=" + f.BotToken, "SLACK_APP_TOKEN=" + f.AppToken,
	}
	var err error
	if f.store, err = redis.Open(t.Context(), redis.Config{URL: db.URL}); err != nil {
		t.Fatal(err)
	}
	f.desk = &runs.Client{Journals: f.store}
	t.Cleanup(func() {
		for _, s := range f.ships {
			s.kill()
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
func (f *fleet) lastWords() {
	files, _ := filepath.Glob(filepath.Join(f.dir, "*.err"))
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

// launch starts a replica in the i-th place, and does not wait until it is ready.
func (f *fleet) launch(i int) {
	f.t.Helper()
	path, err := exec.LookPath("deckhand")
	if err != nil {
		f.t.Fatal(err)
	}
	f.count++
	said, err := os.Create(filepath.Join(f.dir, fmt.Sprintf("replica-%d.err", f.count)))
	if err != nil {
		f.t.Fatal(err)
	}
	defer said.Close()
	p := &process{cmd: exec.Command(path, "serve"), done: make(chan struct{}), err: said.Name()}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = f.dir, f.env, said, said
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		f.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // it is killed in the end
		close(p.done)
	}()
	if i == len(f.ships) {
		f.ships = append(f.ships, p)
	} else {
		f.ships[i] = p
	}
}

// ready waits until the i-th replica serves.
func (f *fleet) ready(i int) {
	f.t.Helper()
	if !poll(func() bool {
		said, err := os.ReadFile(f.ships[i].err)
		return err != nil || strings.Contains("\n"+string(said), "\nready ") || !f.ships[i].running()
	}) || !f.ships[i].running() {
		f.t.Fatal("a replica does not get ready")
	}
}

// post is a message of Deckhand's, as its metadata names it.
type post struct {
	Run  agent.RunID    `json:"run"`
	Key  string         `json:"key"`
	Kind agent.PostKind `json:"kind"`

	slacktest.Message
}

// cards are all messages of the bot.
func (f *fleet) cards() []post {
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
func (f *fleet) ticks() map[string][]agent.Run {
	f.t.Helper()
	infos, err := f.store.Runs(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	all := map[string][]agent.Run{}
	for _, info := range infos {
		r, known := f.told[info.Run]
		if !known {
			if r, err = f.desk.Load(f.t.Context(), info.Run); err != nil {
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
