package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// Toolbox is the set of tools that runs may use.
type Toolbox interface {
	// Specs lists the tools, sorted by name.
	Specs() []agent.ToolSpec
	Tool(name string) (agent.Tool, bool)
	// Check validates arguments by the tool's schema; its error is one
	// sentence for the model.
	Check(name string, arguments json.RawMessage) error
	// Nearest returns known names that resemble the name, the nearest first.
	Nearest(name string) []string
}

// Blobs keeps artifacts, snapshots and names, and waits for news; every store
// does.
type Blobs interface {
	Snapshot(ctx context.Context, run agent.RunID) (seq uint64, data []byte, err error)
	KeepSnapshot(ctx context.Context, run agent.RunID, seq uint64, data []byte) error
	PutBlob(ctx context.Context, data []byte) (hash string, err error)
	Blob(ctx context.Context, hash string) ([]byte, error)
	Await(ctx context.Context, run agent.RunID, after uint64) error
	Values(ctx context.Context, prefix string) (map[string]string, error)
}

// Price is what a model's tokens cost, in billionths of a dollar per million
// tokens.
type Price struct{ Input, Cached, Output agent.Nano }

// GCPercent suits the loop's garbage, which is mostly requests and answers:
// collecting less often costs some memory and saves a tenth of the time.
// Programs pass it to debug.SetGCPercent unless GOGC says otherwise.
const GCPercent = 150

// Config bounds and wires a Loop. Zero fields take the defaults of New.
type Config struct {
	Store  agent.Store
	Blobs  Blobs
	Model  llm.Model
	Tools  Toolbox
	Policy agent.Policy
	Voice  Voice // nil: this process shows nothing
	Log    *slog.Logger

	ModelName, FastName string
	Prices              map[string]Price
	MaxAnswer           int           // tokens of one answer
	Workers             int           // strands at once in this process
	Lease               time.Duration // the store's lease time
	Grace               time.Duration // for finishing steps at the end
	// Wider lists counters beyond the run's own that each model call is
	// charged to: a person's, a channel's, the whole month's.
	Wider func(b agent.RunStarted, at time.Time) []Allowance
	// File, when set, says why a delivered file is not there, nil if it is.
	File func(folder, path string) error
	// CheckIns is how often the clock calls check-ins of the tasks at work; 0, or
	// Runs nil: never.
	CheckIns time.Duration
	Runs     Lister
	// Only, when set, is the one run that is worked.
	Only agent.RunID
}

// Allowance is a counter of money or tokens with its limit, 0: none.
type Allowance struct {
	Counter string // without the unit
	Limits  agent.Limits
}

// Loop works strands until its context ends.
type Loop struct {
	Config
	book    *prompt.Book
	schemas map[string]*jsonschema.Resolved // decision functions
	folds   *folds
	held    *held
}

// New checks the configuration and prepares the prompts.
func New(c Config) (*Loop, error) {
	if c.Store == nil || c.Blobs == nil || c.Model == nil || c.Tools == nil || c.Policy == nil || c.Log == nil {
		return nil, errors.New("loop: Store, Blobs, Model, Tools, Policy and Log are all needed")
	}
	c.MaxAnswer = orDefault(c.MaxAnswer, 4096)
	c.Workers = orDefault(c.Workers, 16)
	c.Lease = orDefault(c.Lease, 3*time.Second)
	c.Grace = orDefault(c.Grace, 8*time.Second)
	book, err := prompt.Open()
	if err != nil {
		return nil, err
	}
	schemas, err := resolve(book.Functions())
	if err != nil {
		return nil, err
	}
	for name := range schemas {
		if _, taken := c.Tools.Tool(name); taken {
			return nil, fmt.Errorf("loop: a tool is called %s, which is a function of Deckhand's own: give it another name", name)
		}
	}
	return &Loop{Config: c, book: book, schemas: schemas,
		folds: newFolds(c.Store, c.Blobs, c.Log), held: newHeld(c.Store, c.Lease, c.Log)}, nil
}

func orDefault[T int | time.Duration](v, d T) T {
	if v > 0 {
		return v
	}
	return d
}

func resolve(functions []llm.Function) (map[string]*jsonschema.Resolved, error) {
	schemas := make(map[string]*jsonschema.Resolved, len(functions))
	for _, f := range functions {
		var s jsonschema.Schema
		if err := s.UnmarshalJSON(f.Parameters); err != nil {
			return nil, fmt.Errorf("function %s: %w", f.Name, err)
		}
		r, err := s.Resolve(nil)
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", f.Name, err)
		}
		schemas[f.Name] = r
	}
	return schemas, nil
}

// claimWait is how long one claim waits for work. Stores wake it earlier.
const claimWait = 5 * time.Second

// Run claims and works strands until ctx ends; then it lets the steps under
// way finish for at most Config.Grace, hands the rest back and returns nil.
// An error means that the store refused to hand out work at all.
func (l *Loop) Run(ctx context.Context) error {
	hard, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	extend, stopExtending := context.WithCancel(hard)
	var keeper errgroup.Group
	keeper.Go(func() error { l.held.keep(extend); return nil })

	stopClock := l.clock(ctx)
	defer stopClock()

	var turns sync.WaitGroup
	err := l.claim(ctx, hard, &turns)

	done := make(chan struct{})
	go func() { turns.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(l.Grace):
		l.Log.Warn("steps are cut off and handed back", "after", l.Grace)
		cut()
		<-done
	}
	stopExtending()
	_ = keeper.Wait()
	return err
}

// claim hands due strands to goroutines, as many as there are workers.
func (l *Loop) claim(ctx, hard context.Context, turns *sync.WaitGroup) error {
	slots := make(chan struct{}, l.Workers)
	backoff := wait.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for ctx.Err() == nil {
		n := acquire(ctx, slots)
		leases, err := l.Store.Claim(ctx, n, claimWait, l.Only)
		for range n - len(leases) {
			<-slots
		}
		if err != nil && ctx.Err() == nil {
			pause := backoff.Next()
			l.Log.Error("cannot claim work; trying again", "pause", pause, "err", err)
			wait.Sleep(ctx, pause)
			continue
		}
		backoff.Reset()
		for _, lease := range leases {
			turns.Go(func() {
				defer func() { <-slots }()
				l.work(ctx, hard, lease)
			})
		}
	}
	return nil
}

// maxClaim bounds one claim, so that replicas share a burst.
const maxClaim = 64

// acquire waits for one free slot and takes up to maxClaim.
func acquire(ctx context.Context, slots chan struct{}) int {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n := 1; n < maxClaim; n++ {
		select {
		case slots <- struct{}{}:
		default:
			return n
		}
	}
	return maxClaim
}
