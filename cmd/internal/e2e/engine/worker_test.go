package engine

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/calc"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/policy"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// orders are what a worker process is told.
type orders struct {
	Redis           string // the distributed store's URL; empty: the embedded store
	Dir             string // of the embedded store
	Lease, Deadline time.Duration
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
	box, err := toolbox(o, &effects{killer: killer, run: o.Run})
	if err != nil {
		return err
	}
	model := openai.New(openai.Config{BaseURL: o.Model, Timeout: 20 * time.Second, Retries: 3, RetryMaxWait: time.Second})
	store, err := openStore(ctx, o, gate)
	if err != nil {
		return err
	}
	watched := &crash.Store{
		Store: store, Record: record, Killer: killer, Gate: gate,
		Counts: func(c agent.Commit) bool { return c.Run == o.Run },
	}
	l, err := loop.New(loop.Config{
		Store: watched, Blobs: watched, Model: model, Tools: box, Policy: policy.Default{},
		Log:       slog.New(slog.NewTextHandler(os.Stderr, nil)).With("pid", os.Getpid()),
		ModelName: "test", Workers: o.Workers, Lease: o.Lease,
	})
	if err != nil {
		return err
	}
	return l.Run(ctx)
}

// openStore opens the store as a worker. The embedded one is locked by the
// worker before this one until the gate opens.
func openStore(ctx context.Context, o orders, gate <-chan struct{}) (storetest.Store, error) {
	if o.Redis != "" {
		return redis.Open(ctx, redis.Config{URL: o.Redis, Lease: o.Lease})
	}
	<-gate
	return sqlite.Open(ctx, sqlite.Config{Dir: o.Dir, Lease: o.Lease}, sqlite.Worker)
}

func toolbox(o orders, e *effects) (*tools.Box, error) {
	space, err := workspace.New(workspace.Config{Dir: o.Workspace, Wait: 3 * time.Second})
	if err != nil {
		return nil, err
	}
	list := append(file.New(file.Config{Workspace: space, Trust: agent.Trusted}), calc.Tool{},
		newSendTool("post", agent.ClassSend, agent.RepeatProbeable, o, e),
		newSendTool("once", agent.ClassWrite, agent.RepeatOnce, o, e))
	for i := range list {
		list[i] = deadlyTool{Tool: list[i], effects: e, workspace: o.Workspace}
	}
	return tools.New(list...)
}
