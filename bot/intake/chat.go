package intake

import (
	"context"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/lookup"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/remember"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// What a Chat is made of; every event becomes a request (request.go) of it.

// Config is what a Chat is made of.
type Config struct {
	Runs  *runs.Client
	Store bot.Records
	// Brief is what is decided about a run before it starts, at a place
	// ("platform:workspace:channel"): limits, autonomy, plan approval,
	// approvers, quorum, expiry, slots. The rest is set by the chat.
	Brief func(place string) (agent.RunStarted, error)
	// Platforms are asked for what their threads hold, and for direct
	// conversations.
	Platforms []bot.Platform
	Name      string // of the bot, as people see it
	// Recurring are the schedules; without a Store of their own those of Store.
	// Reporter makes the reports that are asked for; the zero one draws nothing.
	Recurring recurring.Schedules
	Reporter  recurring.Reporter
	// Zone is the time zone of times that name none, from people whose own is
	// not known; empty: UTC.
	Zone string
	// Unpriced is why a run cannot have a budget in money, empty if it can.
	Unpriced string
	// Places hear of places in which the bot may post again, and of those that
	// are gone (bot/reach); nil: nobody does.
	Places Places
	// Decisions are the newest decisions of a person in the audit chain, a line
	// each, the newest first; nil: there is no chain.
	Decisions func(ctx context.Context, by string) ([]string, error)
	// Tools answers questions about the tools that runs have.
	Tools lookup.Shelf
	// Memory is what is remembered beyond runs; nil: nothing.
	Memory remember.Store
	// CatchUp is the age from which a goal that was missed is asked about
	// before it starts; 0: none is.
	CatchUp time.Duration
	// Hear has a model find out what people's words in a run's thread mean, where
	// no exact word says it; else they are steering, or an answer.
	Hear bool
	// Rules are the rules of this installation that count for a run, in plain
	// words; nil: there are none.
	Rules func(r agent.Run) []string
	// Redact takes secrets out of all that is answered; nil: nothing does.
	Redact func(text string) string
	// Fair is how many runs people and places may have.
	Fair runs.Fair
	// Alarmed counts alerts that the chat raises itself, by their kind; nil:
	// nobody does.
	Alarmed func(kind string)
	Log     *slog.Logger
}

// Places hear what becomes of places.
type Places interface {
	// Back says that the bot may post again in a channel, or anywhere in a workspace.
	Back(ctx context.Context, at bot.Address) error
	// Gone says that a thread, a message or a channel was deleted.
	Gone(ctx context.Context, at, message bot.Address) error
}

// unheeded are places that nobody asks about.
type unheeded struct{}

func (unheeded) Back(context.Context, bot.Address) error              { return nil }
func (unheeded) Gone(context.Context, bot.Address, bot.Address) error { return nil }

// Chat hears people on chat platforms. It is safe for many goroutines.
type Chat struct {
	cfg       Config
	platforms *bot.Platforms
}

// New makes a Chat.
func New(cfg Config) *Chat {
	if cfg.Name == "" {
		cfg.Name = "Deckhand"
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Recurring.Store == nil {
		cfg.Recurring.Store = cfg.Store
	}
	if cfg.Reporter.Runs == nil {
		cfg.Reporter.Runs, cfg.Reporter.Log = cfg.Runs, cfg.Log
	}
	if cfg.Places == nil {
		cfg.Places = unheeded{}
	}
	c := &Chat{cfg, &bot.Platforms{Redact: cfg.Redact}}
	for _, p := range cfg.Platforms {
		c.Join(p)
	}
	return c
}

// Join adds a platform that got connected; it is asked for what its threads
// hold, and for direct conversations.
func (c *Chat) Join(p bot.Platform) { c.platforms.Join(p) }
