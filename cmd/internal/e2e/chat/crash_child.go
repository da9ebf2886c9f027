package chat

// This file is the child process of the crash suite: a whole Deckhand that
// kills itself right before or after a chosen commit or post, so that the
// suite can see how the next process goes on.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// orders are what a child is told.
type orders struct {
	Store   crash.Place
	Dir     string // of the workspace and the record
	Ticket  string // to the platform
	At      crash.Boundary
	From    int // the number of the first run to die in
	Workers int
}

func (o orders) workspace() string { return filepath.Join(o.Dir, "workspace") }
func (o orders) record() string    { return filepath.Join(o.Dir, "record") }

// Child is Deckhand as the child of Crash. TestMain calls it before it runs any
// test; in any other process it does nothing.
func Child(a Adapter) {
	var o orders
	if crash.Orders(&o) {
		crash.Exit(serve(o, a))
	}
}

// serve takes up work when it is let, and ends by SIGKILL alone.
func serve(o orders, a Adapter) error {
	<-crash.Gate()
	ctx := context.Background()
	store, err := o.Store.Open(ctx, sqlite.Worker)
	if err != nil {
		return err
	}
	old, err := store.Runs(ctx, agent.RunFilter{})
	if err != nil {
		return err
	}
	record, err := crash.OpenRecord(o.record())
	if err != nil {
		return err
	}
	killer := crash.NewKiller(o.At, record)
	counted := newCounted(o.From, old)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("pid", os.Getpid())
	platform, err := connect(ctx, a, o, Wiring{
		Names: store, Log: log, Client: &http.Client{Transport: &wire{RoundTripper: &http.Transport{}, sends: a.Sends, killer: killer, counted: counted}},
	})
	if err != nil {
		return err
	}
	process, err := assemble(ctx, parts{
		store:    &crash.Store{Store: store, Record: record, Killer: killer, Counts: counted.has},
		platform: platform, model: script{killer}, workspace: o.workspace(),
		workers: o.Workers, lease: lease, timeout: childPostTimeout(), log: log, rules: rules{
			Authority:    config.Authority{RequesterMayApprove: true},
			PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Expires: time.Hour, CatchUp: 24 * time.Hour,
		},
	})
	if err != nil {
		return err
	}
	return process.Run(ctx)
}

// childPostTimeout is how long a child's post may take: short, so that one that was
// lost is soon looked for, and longer where many suites share the machine.
func childPostTimeout() time.Duration {
	if crash.Soak() {
		return postTimeout
	}
	return postTimeout / 2
}

// How a child connects: it pauses as long as the platform asks for, else from
// the first pause to the last, and takes so long at most.
const (
	connectFirst  = 50 * time.Millisecond
	connectLast   = time.Second
	connectWithin = 30 * time.Second
)

// connect connects, and tries again while the platform is rude or busy.
func connect(ctx context.Context, a Adapter, o orders, w Wiring) (bot.Platform, error) {
	until := time.Now().Add(connectWithin)
	for pause := connectFirst; ; pause = min(2*pause, connectLast) {
		p, err := a.Open(ctx, o.Ticket, w)
		if err == nil || errors.Is(err, bot.ErrRefused) {
			return p, err
		}
		wait := pause
		if busy, is := errors.AsType[*bot.BusyError](err); is {
			wait = max(busy.After, pause)
		}
		if time.Until(until) < wait {
			return nil, fmt.Errorf("no connection within %s: %w", connectWithin, err)
		}
		w.Log.Warn("cannot connect; trying again", "pause", wait, "err", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// counted are the runs whose commits and posts are numbered: those that were not
// there when the child took up work, and that the child before it did not leave.
type counted struct {
	from int

	mu    sync.Mutex
	old   map[agent.RunID]bool
	begun bool
}

func newCounted(from int, old []agent.RunInfo) *counted {
	c := &counted{from: from, old: map[agent.RunID]bool{}}
	for _, info := range old {
		c.old[info.Run] = true
	}
	return c
}

// has says whether a commit is one to such a run.
func (c *counted) has(commit agent.Commit) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range commit.Events {
		if b, is := e.Body.(agent.RunStarted); is && number(b.Goal) < c.from {
			c.old[commit.Run] = true // it is what the child before this one left
		}
	}
	if commit.Run == "" || c.old[commit.Run] {
		return false
	}
	c.begun = true
	return true
}

// any says whether such a run has begun.
func (c *counted) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun
}

// wire is a connection at whose posts the child may die.
type wire struct {
	http.RoundTripper
	sends   func(*http.Request) bool
	killer  *crash.Killer
	counted *counted
}

// RoundTrip passes the boundaries before the request is sent, and after the
// server has accepted it and before anybody reads its answer.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if !w.sends(req) || !w.counted.any() {
		return w.RoundTripper.RoundTrip(req)
	}
	n, d := w.killer.Count("post"), crash.Death{About: req.URL.Path}
	w.killer.Pass("post", "before", n, d)
	resp, err := w.RoundTripper.RoundTrip(req)
	w.killer.Pass("post", "after", n, d)
	return resp, err
}

// script is the model of a child: for a goal about berth N it appends one line
// about berth N to the file of that berth. Runs side by side don't share one: a
// question about a file that changed meanwhile is put again. Before and after it has
// understood people's words the child may die.
type script struct{ killer *crash.Killer }

// logFile is where the line of a berth goes.
func logFile(berth string) string {
	return "log-" + strings.TrimPrefix(berth, "berth no. ") + ".md"
}

var numberedBerth = regexp.MustCompile(`berth no\. \d+`)

// number is the number of the berth that a goal is about.
func number(goal string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(numberedBerth.FindString(goal), "berth no. "))
	if err != nil {
		return 0 // it is about none
	}
	return n
}

// Complete answers by a pure function of the request.
func (s script) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	berth := numberedBerth.FindString(read(r))
	m := &scriptedModel{parts: []taskScript{work("a", once(toolCall{"append_to_file", map[string]any{"path": logFile(berth), "text": berth + "\n"}}))},
		means: map[string]agent.Meaning{uncommon: agent.MeansQuestion}}
	if r.Purpose != llm.Hear {
		return m.Complete(ctx, r)
	}
	n, d := s.killer.Count("hear"), crash.Death{Run: agent.RunID(r.Run), Strand: agent.StrandID(r.Strand), About: "people's words"}
	s.killer.Pass("hear", "before", n, d)
	answer, err := m.Complete(ctx, r)
	s.killer.Pass("hear", "after", n, d)
	return answer, err
}
