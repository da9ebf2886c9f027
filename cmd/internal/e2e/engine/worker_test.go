package engine

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// orders are what a worker process is told.
type orders struct {
	Store           crash.Place
	Deadline        time.Duration
	Workers         int
	Model, Receiver string // addresses of the model and of the receiver
	Workspace       string
	Record          string // the file that keeps what was acknowledged
	Run             agent.RunID
	At              crash.Boundary // of Run, where the worker kills itself
}

// work is the worker process. It takes up work when a line arrives on its
// standard input, and ends with the process that holds the other end.
func work(o orders) error {
	gate := crash.Gate()
	ctx := context.Background()
	record, err := crash.OpenRecord(o.Record)
	if err != nil {
		return err
	}
	if o.At.What == "append" {
		return dieAppending(o, record)
	}
	killer := crash.NewKiller(o.At, record)
	store, err := openStore(ctx, o, gate)
	if err != nil {
		return err
	}
	watched := &crash.Store{
		Store: store, Record: record, Killer: killer, Gate: gate,
		Counts: func(c agent.Commit) bool { return c.Run == o.Run },
	}
	c := config.Defaults()
	c.DataDir, c.Workspace = "", o.Workspace
	c.Engine.Workers, c.Engine.Lease = o.Workers, o.Store.Lease
	c.Model.Name, c.Model.BaseURL, c.Model.Stream = "test", o.Model, false
	c.Model.Timeout, c.Model.RetryMaxWait = 20*time.Second, time.Second
	counted := &effects{killer: killer, run: o.Run}
	process, err := app.New(ctx, app.Options{
		Config: c, Store: watched, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)).With("pid", os.Getpid()), WorkOnly: true,
		Trust: agent.Trusted, Tools: []agent.Tool{
			newSendTool("post", agent.ClassSend, agent.RepeatProbeable, o, counted),
			newSendTool("once", agent.ClassWrite, agent.RepeatOnce, o, counted),
		},
		Wrap: func(t agent.Tool) agent.Tool { return deadlyTool{Tool: t, effects: counted, workspace: o.Workspace} },
	})
	if err != nil {
		return err
	}
	return process.Run(ctx)
}

// openStore opens the store as a worker. The embedded one is locked by the
// worker before this one until the gate opens.
func openStore(ctx context.Context, o orders, gate <-chan struct{}) (storetest.Store, error) {
	if o.Store.Redis == "" {
		<-gate
	}
	return o.Store.Open(ctx, sqlite.Worker)
}
