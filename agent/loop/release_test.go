package loop_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// release is data that the release before wrote (commit 1f7b7a2), with runs in
// every state; their goals say which.
type release struct {
	*testing.T
	store storetest.Store
	desk  *runs.Client
	runs  map[string]agent.Run // by goal
}

// kept is a file of testdata/release.
func kept(t *testing.T, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", "release", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// closing closes a store with the test.
func closing(t *testing.T, s io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// keptInSQLite is the data directory.
func keptInSQLite(t *testing.T) storetest.Store {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "deckhand.db"), kept(t, "sqlite.db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	return s
}

// keptInRedis are the keys, each a line of its name (base64), the milliseconds
// it had to live (0: for ever), and what DUMP gave (base64).
func keptInRedis(t *testing.T) storetest.Store {
	t.Helper()
	srv := redistest.Start(t)
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	lines := bufio.NewScanner(bytes.NewReader(kept(t, "redis.dump.gz")))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		key, err := base64.StdEncoding.DecodeString(words[0])
		if err != nil {
			t.Fatal(err)
		}
		data, err := base64.StdEncoding.DecodeString(words[2])
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Do(t.Context(), "RESTORE", key, words[1], data).Err(); err != nil {
			t.Fatalf("restore %s: %v", key, err)
		}
	}
	s, err := redis.Open(t.Context(), redis.Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	return s
}

// Data of the release before opens, lists and folds as that release left it,
// and its runs go on: nothing is forgotten, and nobody's gate is opened.
func TestTheReleaseBeforeGoesOn(t *testing.T) {
	for name, open := range map[string]func(*testing.T) storetest.Store{"sqlite": keptInSQLite, "redis": keptInRedis} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			r := &release{T: t, store: s, runs: map[string]agent.Run{},
				desk: &runs.Client{Journals: s, Authority: authority.Authority{RequesterMayApprove: true}}}
			r.lists()
			r.stands()
			r.names()
			r.work()
			r.goesOn()
		})
	}
}

// lists folds all runs, with the store's snapshots and without.
func (r *release) lists() {
	r.Helper()
	infos, err := r.store.Runs(r.Context(), agent.RunFilter{})
	if err != nil {
		r.Fatal(err)
	}
	for _, info := range infos {
		events, err := r.store.Read(r.Context(), info.Run, 0)
		if err != nil || uint64(len(events)) != info.Length {
			r.Fatalf("run %s has %d events of %d, %v", info.Run, len(events), info.Length, err)
		}
		run, err := r.desk.Load(r.Context(), info.Run)
		if err != nil {
			r.Fatal(err)
		}
		r.runs[strings.TrimPrefix(run.Brief.Goal, "goal: ")] = run
	}
}

// stands wants each run in its state.
func (r *release) stands() {
	r.Helper()
	want := map[string]agent.RunState{"done": agent.RunDone, "approval": agent.RunWaiting, "question": agent.RunWaiting,
		"review": agent.RunWaiting, "quorum": agent.RunWaiting, "paused": agent.RunPaused, "scheduled": agent.RunWaiting,
		"long": agent.RunWaiting, "deferred": agent.RunRunning, "cut off": agent.RunRunning}
	got := map[string]agent.RunState{}
	for goal, run := range r.runs {
		got[goal] = run.State()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("states (-want +got):\n%s", diff)
	}
	if run := r.runs["long"]; len(run.Said) != 300 {
		r.Errorf("the long run was told %d words", len(run.Said))
	}
	if seq, _, err := r.store.Snapshot(r.Context(), r.runs["long"].ID); err != nil || seq < 256 {
		r.Errorf("the long run's snapshot is at %d, %v", seq, err)
	}
	if tick := r.runs["scheduled"].Brief.Tick; tick == nil || tick.Schedule != "weekly" {
		r.Errorf("the schedule's run began with %+v", tick)
	}
	if run := r.runs["review"]; run.Review() == nil || !slices.Equal(run.Brief.Reviewers, []string{"slack:U7"}) {
		r.Errorf("under review: %+v by %v", run.Review(), run.Brief.Reviewers)
	}
}

// names wants names, once-keys and counters as they were.
func (r *release) names() {
	r.Helper()
	for name, want := range map[string]string{"thread/slack:T1:C1:17.2": string(r.runs["paused"].ID), "schedule/weekly": "kept as it is"} {
		if got, err := r.store.Value(r.Context(), name); err != nil || got != want {
			r.Errorf("name %s is %q, %v; want %q", name, got, err, want)
		}
	}
	if n, err := r.store.Spent(r.Context(), "month/2026-11/usd"); err != nil || n != 12 {
		r.Errorf("the month has spent %d, %v", n, err)
	}
	again := agent.Commit{ID: agent.NewID(), Once: []string{"message-1"}}
	if _, err := r.store.Commit(r.Context(), again); !errors.Is(err, agent.ErrSeen) {
		r.Errorf("a message that was taken in is taken in again: %v", err)
	}
	events, err := r.store.Read(r.Context(), r.runs["done"].ID, 0)
	if err != nil {
		r.Fatal(err)
	}
	artifacts := 0
	for _, e := range events {
		o, is := e.Body.(agent.ToolOutcome)
		if !is || o.Artifact == "" {
			continue
		}
		artifacts++
		if text, err := r.store.Blob(r.Context(), e.Run, o.Artifact); err != nil || len(text) != 30_000 {
			r.Errorf("the artifact of entry %d has %d bytes, %v", e.Seq, len(text), err)
		}
	}
	if artifacts != 2 {
		r.Errorf("%d results are artifacts", artifacts)
	}
}

// work runs the loop of this build over the data.
func (r *release) work() {
	r.Helper()
	box, err := tools.New(newNote("read", agent.ClassRead, agent.RepeatRead), newNote("write", agent.ClassWrite, agent.RepeatIdempotent),
		newNote("slow", agent.ClassRead, agent.RepeatRead), newNote("later", agent.ClassRead, agent.RepeatRead))
	if err != nil {
		r.Fatal(err)
	}
	model := scripted(func(q llm.Request) llm.Message {
		var talk strings.Builder
		for _, m := range q.Messages {
			talk.WriteString(m.Content)
		}
		said := talk.String()
		tool := "write"
		switch {
		case strings.Contains(said, "goal: review"):
			tool = "read"
		case strings.Contains(said, "goal: cut off"):
			tool = "slow"
		}
		return noter(tool, task("a", tool, nil))(q)
	})
	l, err := loop.New(loop.Config{Store: r.store, Blobs: r.store, Model: model, Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.NewTextHandler(r.Output(), nil)), ModelName: "test"})
	if err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	r.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.Error(err)
		}
	})
}

// until follows a run.
func (r *release) until(goal, what string, holds func(agent.Run) bool) agent.Run {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	for {
		run, err := r.desk.Load(ctx, r.runs[goal].ID)
		if err != nil {
			r.Fatalf("%s: %v", goal, err)
		}
		if holds(run) {
			return run
		}
		if err := r.store.Await(ctx, run.ID, run.Seq); err != nil {
			r.Fatalf("%s: waiting until %s: %v; it is %s", goal, what, err, run.State())
		}
	}
}

// decide answers the run's open question.
func (r *release) decide(goal string, by bot.Person, word string) error {
	r.Helper()
	c := r.runs[goal].OpenCheckpoint()
	if c == nil {
		r.Fatalf("%s: no question is open", goal)
	}
	d := agent.CheckpointDecided{ID: c.ID, Decision: word}
	if c.Ask == agent.CheckClarify {
		d.Answers = map[string]string{"q1": "the first"}
	}
	return r.desk.Decide(r.Context(), by, d)
}

// goesOn decides what is asked and wants every run to end as it should.
func (r *release) goesOn() {
	r.Helper()
	for _, goal := range []string{"approval", "scheduled", "long"} {
		if err := r.decide(goal, person, agent.DecideApprove); err != nil {
			r.Errorf("%s: %v", goal, err)
		}
	}
	if err := r.decide("question", person, agent.DecideAnswer); err != nil {
		r.Errorf("question: %v", err)
	}
	r.runs["question"] = r.until("question", "it is planned", func(run agent.Run) bool {
		c := run.OpenCheckpoint()
		return c != nil && c.Ask == agent.CheckApproval
	})
	if err := r.decide("question", person, agent.DecideApprove); err != nil {
		r.Errorf("question: %v", err)
	}
	if err := r.decide("review", person, agent.DecideApprove); !errors.Is(err, runs.ErrNotAllowed) {
		r.Errorf("somebody else reviewed: %v", err)
	}
	if err := r.decide("review", expert, agent.DecideApprove); err != nil {
		r.Errorf("review: %v", err)
	}
	if err := r.decide("quorum", bot.Person{ID: "slack:U8", Full: true}, agent.DecideApprove); !errors.Is(err, runs.ErrVoted) {
		r.Errorf("one person approved twice: %v", err)
	}
	if err := r.decide("quorum", expert, agent.DecideApprove); err != nil {
		r.Errorf("quorum: %v", err)
	}
	if err := r.desk.Control(r.Context(), r.runs["paused"].ID, person, agent.RunControlled{Word: agent.WordResume}); err != nil {
		r.Errorf("paused: %v", err)
	}
	if err := r.decide("paused", person, agent.DecideApprove); err != nil {
		r.Errorf("paused: %v", err)
	}
	for _, goal := range []string{"approval", "scheduled", "long", "question", "review", "quorum", "paused", "cut off"} {
		run := r.until(goal, "it has ended", func(run agent.Run) bool { return run.Ended != nil })
		if run.Ended.State != agent.RunDone {
			r.Errorf("%s: ended %+v", goal, run.Ended)
		}
		events, err := r.store.Read(r.Context(), run.ID, 0)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(written(r.T, agent.Run{}.Fold(events)), written(r.T, run)); diff != "" {
			r.Errorf("%s: fold (-journal +loaded):\n%s", goal, diff)
		}
	}
}

// written is a run as JSON, by which two are compared.
func written(t *testing.T, r agent.Run) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
