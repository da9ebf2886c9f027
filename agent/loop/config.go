package loop

// This file says what a Loop needs from outside: the interfaces it is given,
// the settings with their defaults, and the engine that is built from them
// once, at the start.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/fold"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/checkins"
	"github.com/deckhand-bot/deckhand/agent/loop/cost"
	"github.com/deckhand-bot/deckhand/agent/loop/lease"
	"github.com/deckhand-bot/deckhand/agent/playbook"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/agent/redact"
	"github.com/deckhand-bot/deckhand/agent/taint"
)

// Toolbox is the set of tools that runs may use. It may change while they run.
type Toolbox interface {
	// Specs lists the tools that there are now, sorted by name. Nobody changes a
	// list: the same one is the same tools, other tools are another list.
	Specs() []agent.ToolSpec
	Tool(name string) (agent.Tool, bool)
	// Check validates arguments by the tool's schema; its error is one
	// sentence for the model.
	Check(name string, arguments json.RawMessage) error
	// Nearest returns known names that resemble the name, the nearest first.
	Nearest(name string) []string
}

// Finder is a Toolbox that finds tools by words, the best first.
type Finder interface {
	// Find returns tools that fit a request, none where nothing does.
	Find(request string, n int) []agent.Match
	// Rank returns the nearest tools for a text, however little they fit.
	Rank(text string, n int) []agent.Match
}

// Blobs keeps artifacts, snapshots and names, and waits for news; every store
// does.
type Blobs interface {
	agent.Snapshots
	agent.Artifacts
	AwaitWord(ctx context.Context, run agent.RunID, after uint64) error
	Values(ctx context.Context, prefix string) (map[string]string, error)
	limit.Store
}

// Poster shows runs to people. Its posts are effects like any tool's: journalled
// before they are made, and probed for after a crash or a lost answer. Edits of
// the card are neither: they are made again.
type Poster interface {
	// May takes a turn at the place's pace, or says how long to wait for one.
	May(ctx context.Context, r agent.Run, p agent.Post) (wait time.Duration, err error)
	// Post makes a post. Its result's text is an agent.Shown.
	Post(ctx context.Context, r agent.Run, p agent.Post, c agent.Call) agent.Result
	// Find looks whether an earlier attempt of the post was made.
	Find(ctx context.Context, r agent.Run, p agent.Post, in agent.ToolIntent) (done bool, result agent.Result, err error)
	// Show brings the card up to date and returns when to look again; zero:
	// when something happens.
	Show(ctx context.Context, r agent.Run) (again time.Duration)
	// Deadline is how long after its intent a post's request has certainly ended.
	Deadline(p agent.Post) time.Duration
}

// Scheduler keeps what the model understood as a schedule.
type Scheduler interface {
	// Schedule checks the order, which was given to the run, against what its author
	// may have, and returns what is to be written down with it. An error means that
	// it could not be found out.
	Schedule(ctx context.Context, run agent.RunID, from agent.Ordered, o agent.ScheduleOrder) (agent.ScheduleAnswer, error)
}

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
	Poster Poster // nil: this process shows nothing
	// Redact takes secrets out of results and prompts, and keeps them from leaving
	// with a call; nil: it knows well-known shapes alone.
	Redact *redact.Redactor
	// Scheduler, when set, keeps the schedules that people order in plain words.
	Scheduler Scheduler
	Log       *slog.Logger

	ModelName, FastName string
	Prices              map[string]cost.Price
	MaxAnswer           int // tokens of one answer
	// Window, when set, is a model's context window in tokens, 0: it is not
	// known. Conversations are kept within it.
	Window  func(ctx context.Context, model string) int
	Workers int           // strands at once in this process
	Lease   time.Duration // the store's lease time
	Grace   time.Duration // for finishing steps at the end
	// Patience is how an endpoint of the model is met that is limited or away.
	Patience limit.Patience
	// What each model takes in a minute, 0: what its answers say.
	RequestsPerMinute, TokensPerMinute int
	// Wider lists counters beyond the run's own that each model call is
	// charged to: a person's, a channel's, the whole month's.
	Wider func(b agent.RunStarted, at time.Time) []cost.Allowance
	// Steers, when set, says whether a person may (still) steer the run: words
	// that are understood later count as far as their author may then.
	Steers func(r agent.Run, by string, also []string) bool
	// Playbooks, when set, are the roles and playbooks as their files are now.
	Playbooks func() *playbook.Library
	// Withhold, when set, returns a tool's result, or what is kept in its place
	// where its text may not reach a model.
	Withhold func(r agent.Result) agent.Result
	// File, when set, says why a delivered file is not there, nil if it is.
	File func(folder, path string) error
	// CheckIns is how often the clock calls check-ins of the tasks at work; 0, or
	// Runs nil: never.
	CheckIns time.Duration
	Runs     checkins.Lister
	// Alarm, when set, tells people of a run that this process cannot go on
	// with and cannot even pause. The text is Markdown.
	Alarm func(ctx context.Context, run agent.RunID, text string)
	// Outages, when set, hears of a model whose endpoint gives no answers.
	Outages Outages
	// Offer and OfferTokens are how many tools a request offers, and how many tokens
	// of them, before it offers those only that fit.
	Offer, OfferTokens int
	// NoThought has no thought asked for with calls, and none kept.
	NoThought bool
	// Memory, when set, is what outlives runs: looked up before the first question
	// of a run and of each task, added to at the end.
	Memory records.Memory
	// Only, when set, is the one run that is worked.
	Only agent.RunID
}

// Outages hears of models whose endpoints give no answers, and of those that do
// again. Both are called often, and return soon.
type Outages interface {
	// Away says that the model gives no answers, in a few words without hosts
	// ("does not take the key"). Refused says that a person has to mend it.
	Away(ctx context.Context, model, why string, refused bool)
	Back(ctx context.Context, model string)
}

// engine is what every turn works with.
type engine struct {
	Config
	book    *prompt.Book
	schemas map[string]*jsonschema.Resolved // decision functions
	own     map[string]json.RawMessage      // their schemas as they are offered
	folds   *fold.Cache[*memory]
	leases  *lease.Set
	limits  *limit.Limiter
	heard   atomic.Bool // the model answered this process
	denials *denials
	origins *taint.Tracer // of arguments
}

// maxFitting is how many playbooks the planner is shown.
const maxFitting = 3

// newEngine checks the configuration and prepares the prompts.
func newEngine(c Config) (*engine, error) {
	if c.Store == nil || c.Blobs == nil || c.Model == nil || c.Tools == nil || c.Policy == nil || c.Log == nil {
		return nil, errors.New("loop: Store, Blobs, Model, Tools, Policy and Log are all needed")
	}
	c.MaxAnswer = orDefault(c.MaxAnswer, 4096)
	c.Workers = orDefault(c.Workers, 16)
	c.Offer, c.OfferTokens = orDefault(c.Offer, 20), orDefault(c.OfferTokens, 4000)
	c.Lease = orDefault(c.Lease, 3*time.Second)
	c.Grace = orDefault(c.Grace, 8*time.Second)
	if c.Redact == nil {
		c.Redact = &redact.Redactor{}
	}
	book, err := openBook(c)
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
	own := map[string]json.RawMessage{}
	for _, f := range book.Functions() {
		own[f.Name] = f.Parameters
	}
	return &engine{Config: c, book: book, schemas: schemas, own: own, leases: lease.New(c.Store, c.Lease, c.Log), denials: &denials{}, origins: &taint.Tracer{},
		limits: limit.New(limit.Config{Store: c.Blobs, Requests: c.RequestsPerMinute, Tokens: c.TokensPerMinute}),
		folds: fold.New(fold.Config{Journals: c.Store, Snapshots: c.Blobs, Log: c.Log, Most: maxFolds, Bytes: maxFoldBytes, Copies: 1},
			func() *memory { return &memory{} })}, nil
}

// openBook prepares the prompts.
func openBook(c Config) (*prompt.Book, error) {
	book, err := prompt.Open()
	if err != nil {
		return nil, err
	}
	book.Redacts(c.Redact.Text)
	if !c.NoThought {
		book.Thinks()
	}
	if c.Scheduler != nil {
		book.Schedules()
	}
	if c.Playbooks != nil {
		book.Playbooks(func(goal string) (shown []string) {
			for _, b := range c.Playbooks().Fitting(goal, maxFitting) {
				shown = append(shown, b.Shown())
			}
			return shown
		})
	}
	return book, nil
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
