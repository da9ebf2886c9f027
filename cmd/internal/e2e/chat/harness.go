package chat

// This file is what a scenario runs in: a local platform, a store and the
// Deckhands that work there, with ways to wait for what people should see.

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// patience is how long a test waits for what must happen: far longer than that
// takes where a dozen others want the same processor. A wait ends with what it
// waits for, so only a failure takes so long.
const patience = 2 * time.Minute

// Scenarios are for busy machines, too: a worker that is alive keeps its lease,
// and a post's time is over only where its answer was lost.
const (
	calmLease = 5 * time.Second
	calmPost  = 4 * time.Second
)

// The times of the crash form. A post whose answer was lost is looked for when
// its time is over: it is shorter than by default, but long enough for a busy
// machine.
const (
	lease       = 600 * time.Millisecond
	postTimeout = 2 * time.Second
)

// harness is a Deckhand with its people: a platform, a store, and one or two
// processes that work there.
type harness struct {
	*testing.T
	Server
	adapter Adapter
	model   *scriptedModel
	rules   rules
	robots  []string

	dir     string
	server  *redistest.Server // nil: the embedded store
	store   storetest.Store   // of the newest process
	desk    *runs.Client
	living  []*process
	timeout time.Duration // of a post
	replica int
	broken  bool // the run's place is gone: nothing there can be edited
}

// process is a Deckhand at work in this test.
type process struct {
	cancel context.CancelFunc
	ended  chan error
	close  func() error
	client *http.Client
}

// open builds a harness in which nobody works yet.
func open(t *testing.T, a Adapter, m *scriptedModel) *harness {
	t.Helper()
	h := &harness{T: t, Server: a.Server(t), adapter: a, model: m, dir: t.TempDir(), timeout: calmPost, rules: rules{
		Authority:    config.Authority{RequesterMayApprove: true},
		PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Expires: time.Hour, CatchUp: 24 * time.Hour,
	}}
	h.rules.Authority.Start = h.Crew()
	t.Cleanup(h.leave)
	return h
}

func (h *harness) workspace() string { return filepath.Join(h.dir, "workspace") }

// join starts a process, and returns when it is connected.
func (h *harness) join() {
	h.Helper()
	h.part()
	store, closing := h.openStore()
	h.store = store
	client := &http.Client{Transport: &http.Transport{}}
	log := slog.New(slog.NewTextHandler(h.Output(), nil)).With("replica", h.replica)
	h.replica++
	platform, err := h.adapter.Open(h.Context(), h.Ticket(), Wiring{
		Names: store, Client: client, Log: log, Robots: h.robots,
	})
	if err != nil {
		h.Fatal(err)
	}
	a, err := assemble(h.Context(), parts{
		store: store, platform: platform, model: h.model, workspace: h.workspace(),
		workers: 8, lease: calmLease, timeout: h.timeout, rules: h.rules, log: log,
	})
	if err != nil {
		h.Fatal(err)
	}
	h.desk = a.Client()
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	p := &process{cancel: cancel, ended: make(chan error, 1), close: closing, client: client}
	go func() { p.ended <- a.Run(ctx) }()
	h.living = append(h.living, p)
	h.greet()
}

// greet waits until everybody who works is connected.
func (h *harness) greet() {
	h.Helper()
	ctx, cancel := h.bounded()
	defer cancel()
	if err := h.Greet(ctx, len(h.living)); err != nil {
		h.Fatalf("waiting until %d are connected: %v\n%s", len(h.living), err, h.scene())
	}
}

// part waits until nobody is connected who works no more: what people do would
// go to them, and come to nothing.
func (h *harness) part() {
	h.Helper()
	ctx, cancel := h.bounded()
	defer cancel()
	if err := h.Part(ctx, len(h.living)); err != nil {
		h.Fatalf("waiting until no more than %d are connected: %v\n%s", len(h.living), err, h.scene())
	}
}

func (h *harness) openStore() (storetest.Store, func() error) {
	h.Helper()
	if h.server != nil {
		s, err := redis.Open(h.Context(), redis.Config{URL: h.server.URL, Lease: calmLease})
		if err != nil {
			h.Fatal(err)
		}
		return s, s.Close
	}
	s, err := sqlite.Open(h.Context(), sqlite.Config{Dir: filepath.Join(h.dir, "data"), Lease: calmLease}, sqlite.Worker)
	if err != nil {
		h.Fatal(err)
	}
	return s, s.Close
}

// leave ends every process, as SIGTERM does.
func (h *harness) leave() {
	h.Helper()
	for _, p := range h.living {
		p.cancel()
	}
	for _, p := range h.living {
		h.end(p)
	}
	h.living = nil
}

// end ends one process.
func (h *harness) end(p *process) {
	h.Helper()
	p.cancel()
	if err := errors.Join(<-p.ended, p.close()); err != nil {
		h.Error(err)
	}
	p.client.CloseIdleConnections()
}

// distributed puts the house on a Redis, which outlives whoever works there.
func distributed(h *harness) {
	h.server = redistest.Start(h.T)
	h.Cleanup(h.leave)
}

func (h *harness) bounded() (context.Context, context.CancelFunc) {
	if crash.Soak() {
		return context.WithTimeout(h.Context(), 3*patience)
	}
	return context.WithTimeout(h.Context(), patience)
}

// sees waits until what can be seen is as wanted.
func (h *harness) sees(what string, cond func() bool) {
	h.Helper()
	ctx, cancel := h.bounded()
	defer cancel()
	if err := h.Wait(ctx, cond); err != nil {
		h.Fatalf("waiting until %s: %v\n%s", what, err, h.scene())
	}
}

// until follows a run until the condition holds.
func (h *harness) until(run agent.RunID, what string, holds func(agent.Run) bool) agent.Run {
	h.Helper()
	ctx, cancel := h.bounded()
	defer cancel()
	for {
		r, err := h.desk.Load(ctx, run)
		if err != nil {
			h.Fatalf("waiting until %s: %v", what, err)
		}
		if holds(r) {
			return r
		}
		if err := h.store.Await(ctx, run, r.Seq); err != nil {
			h.Fatalf("waiting until %s: %v; the run: %+v\n%s", what, err, card.StatusOf(r), h.scene())
		}
	}
}

// kinds are the posts of the kind that stand in the thread ("": anywhere).
func (h *harness) kinds(kind agent.PostKind) []Post {
	return slices.DeleteFunc(h.Posts(), func(p Post) bool { return p.Kind != kind })
}

// runs are all runs, the oldest first.
func (h *harness) runs() []agent.RunID {
	h.Helper()
	infos, err := h.store.Runs(h.Context(), agent.RunFilter{})
	if err != nil {
		h.Fatal(err)
	}
	slices.SortStableFunc(infos, func(a, b agent.RunInfo) int { return a.Started.Compare(b.Started) })
	list := make([]agent.RunID, len(infos))
	for i, info := range infos {
		list[i] = info.Run
	}
	return list
}

// card waits for the n-th card, counted from 1, and returns it with its run.
func (h *harness) card(n int) (Post, agent.RunID) {
	h.Helper()
	h.sees("there is card "+string(rune('0'+n)), func() bool { return len(h.kinds(agent.PostCard)) >= n })
	p := h.kinds(agent.PostCard)[n-1]
	for _, run := range h.runs() {
		r := h.load(run)
		if r.Shown["card"].Message == "" {
			r = h.until(run, "its card is journalled", func(r agent.Run) bool { return r.Shown["card"] != agent.Shown{} })
		}
		if r.Card() == p.Message.String() {
			return p, run
		}
	}
	h.Fatalf("no run has the card at %s\n%s", p.Message, h.scene())
	return p, ""
}

func (h *harness) load(run agent.RunID) agent.Run {
	h.Helper()
	r, err := h.desk.Load(h.Context(), run)
	if err != nil {
		h.Fatal(err)
	}
	return r
}

// reading is how long people take to read a question before they write.
const reading = 3 * time.Second

// asked waits for the n-th question on the platform, counted from 1, and lets people
// read it.
func (h *harness) asked(n int) Post {
	h.Helper()
	h.sees("there is question "+string(rune('0'+n)), func() bool { return len(h.kinds(agent.PostCheckpoint)) >= n })
	h.Pass(reading)
	for _, run := range h.runs() { // people take longer to read than that to be written down
		if len(h.living) > 0 {
			h.until(run, "what was put is journalled", func(r agent.Run) bool { return !unsettled(r) })
		}
	}
	return h.kinds(agent.PostCheckpoint)[n-1]
}

// unsettled reports whether a question of the run is on its way to people.
func unsettled(r agent.Run) bool {
	return r.Ended == nil && slices.ContainsFunc(r.OpenCheckpoints(), func(c agent.Checkpoint) bool {
		_, made := r.Shown[agent.KeyAsk(c.ID)]
		return r.Put(c) && !made
	})
}

// ends waits until the run's end is told: by its report, or by its card.
func (h *harness) ends(run agent.RunID, state agent.RunState) agent.Run {
	h.Helper()
	r := h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
	if r.Ended.State != state {
		h.Fatalf("it ended %+v, want %s\n%s", r.Ended, state, h.scene())
	}
	if r.Report != nil && !r.Replied() {
		r = h.until(run, "its report is posted", func(r agent.Run) bool { return r.Shown["report"] != agent.Shown{} })
	}
	return r
}

// whole looks at everything that must hold when a scenario is over: each post
// once, no button left on what was decided, every event acknowledged, nothing
// said to the server that it does not know.
func (h *harness) whole() {
	h.Helper()
	h.sees("every event is acknowledged", func() bool { return h.Owed() == 0 })
	for _, run := range h.runs() {
		h.settled(run)
	}
	if twice := repeated(h.Posts()); len(twice) > 0 {
		h.Errorf("posted more than once: %q\n%s", twice, h.scene())
	}
	if unknown := h.Unknown(); len(unknown) > 0 {
		h.Errorf("calls that the platform does not have: %q", unknown)
	}
}

// settled wants a run that has ended to show it everywhere.
func (h *harness) settled(run agent.RunID) {
	h.Helper()
	r := h.load(run)
	if r.Ended == nil || h.broken {
		return
	}
	h.sees("the ended run has no buttons left, and its card says how it ended", func() bool {
		for _, p := range h.Posts() {
			isCard := p.Message.String() == r.Card()
			switch {
			case !isOf(r, p), p.Kind == agent.PostReport, p.Kind == agent.PostScheduled, isCard && r.Replied():
			case len(p.Buttons) > 0, isCard && !strings.Contains(p.Text, endingOf(r)):
				return false
			}
		}
		return true
	})
}

// endings are the words for how a run ended.
var endings = map[agent.RunState]string{agent.RunDone: "Done", agent.RunFailed: "Failed", agent.RunCancelled: "Cancelled"}

// endingOf is how the run's card says that it ended.
func endingOf(r agent.Run) string {
	if r.Ended.State == agent.RunFailed && agent.FinishedEarly(r) != nil {
		return "Finished early"
	}
	return endings[r.Ended.State]
}

// isOf reports whether the post is one of the run's cards and questions.
func isOf(r agent.Run, p Post) bool {
	for _, s := range r.Shown {
		if s.Message == p.Message.String() {
			return true
		}
	}
	return false
}

// repeated are the keys that stand on more than one post.
func repeated(posts []Post) []string {
	count := map[string]int{}
	var twice []string
	for _, p := range posts {
		if p.Key == "" {
			continue
		}
		if count[p.Key]++; count[p.Key] == 2 {
			twice = append(twice, p.Key)
		}
	}
	return twice
}

// file wants a file of the channel's folder to say just this.
func (h *harness) file(name, want string) {
	h.Helper()
	got, err := os.ReadFile(filepath.Join(h.workspace(), h.Channel().Folder(), name))
	if err != nil || string(got) != want {
		h.Errorf("%s is %q (%v), want %q", name, got, err, want)
	}
}

// absent wants a file of the channel's folder not to be there.
func (h *harness) absent(name string) {
	h.Helper()
	if _, err := os.Stat(filepath.Join(h.workspace(), h.Channel().Folder(), name)); !errors.Is(err, os.ErrNotExist) {
		h.Errorf("%s is there (%v)", name, err)
	}
}

// scene is what can be seen, for people.
func (h *harness) scene() string {
	var b strings.Builder
	for _, p := range h.Posts() {
		b.WriteString("— " + p.Message.String() + " in " + p.Thread.ID + " key " + p.Key + " (" + string(p.Kind) + ") buttons [" +
			strings.Join(p.Buttons, "|") + "] pings [" + strings.Join(p.Pings, " ") + "]\n" + p.Text[:min(len(p.Text), 600)] + "\n")
	}
	for _, w := range []Who{Ann, Ben, Cleo, Gus, Eve} {
		for _, text := range h.Whispers(w) {
			b.WriteString("  to " + string(w) + " alone: " + text + "\n")
		}
	}
	return b.String()
}
