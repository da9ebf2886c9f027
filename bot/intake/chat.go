package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// Config is what a Chat is made of.
type Config struct {
	Desk  *runs.Client
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
	Recurring recurring.Recurring
	Reporter  recurring.Reporter
	// Zone is the time zone of times that name none, from people whose own is
	// not known; empty: UTC.
	Zone string
	// Unpriced is why a run cannot have a budget in money, empty if it can.
	Unpriced string
	// CatchUp is the age from which a goal that was missed is asked about
	// before it starts; 0: none is.
	CatchUp time.Duration
	Log     *slog.Logger
}

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
	if cfg.Reporter.Desk == nil {
		cfg.Reporter.Desk, cfg.Reporter.Log = cfg.Desk, cfg.Log
	}
	c := &Chat{cfg, &bot.Platforms{}}
	for _, p := range cfg.Platforms {
		c.Join(p)
	}
	return c
}

// Join adds a platform that got connected; it is asked for what its threads
// hold, and for direct conversations.
func (c *Chat) Join(p bot.Platform) { c.platforms.Join(p) }

// request is one event on its way in.
type request struct {
	*Chat
	in  bot.Inbound
	now time.Time
	// dedupe goes into the commit that writes the event down: the keys by which
	// it is known again.
	dedupe  runs.Dedupe
	written bool
}

// Receive takes in one event: it decides what it is and who may do it, writes it
// down in one commit with the keys of the event, and says what the platform
// answers at once. An event that was heard before has an empty answer. An error
// means that the event is not written down: the platform delivers it again.
func (c *Chat) Receive(ctx context.Context, in bot.Inbound) (bot.Answer, error) {
	h := &request{Chat: c, in: in, now: time.Now(), dedupe: runs.Dedupe{Once: in.Keys, Set: map[string]string{}}}
	if in.By.ID == "" || in.Act == nil || !c.cfg.Desk.Authority.Hears(in.By) {
		return bot.Answer{}, nil
	}
	tired, err := c.count(ctx, h)
	if err != nil || tired {
		return bot.Answer{}, err
	}
	a, err := c.act(ctx, h)
	if err != nil {
		a, err = h.refusal(ctx, err)
	}
	if err == nil && !h.written {
		a, err = h.once(ctx, a)
	}
	if errors.Is(err, agent.ErrSeen) {
		return bot.Answer{}, nil
	}
	if err != nil {
		return bot.Answer{}, fmt.Errorf("what %s did at %s is not written down: %w", in.By.ID, in.Where, err)
	}
	return a, nil
}

// act does what the event asks for. Where somebody else's event came in between,
// it is looked at anew; a message may be a new goal once its run has ended.
func (c *Chat) act(ctx context.Context, h *request) (a bot.Answer, err error) {
	_, said := h.in.Act.(bot.Said)
	for range maxMoves {
		a, err = c.acted(ctx, h)
		if !errors.Is(err, errMoved) && (!said || !errors.Is(err, runs.ErrEnded)) {
			break
		}
	}
	return a, err
}

func (c *Chat) acted(ctx context.Context, h *request) (bot.Answer, error) {
	switch a := h.in.Act.(type) {
	case bot.Said:
		return message{decider{h}}.receive(ctx, a)
	case bot.Commanded:
		return call{decider{h}}.receive(ctx, a.Text)
	case bot.Pressed:
		return press{decider{h}}.receive(ctx, a.Button)
	case bot.Filled:
		return fill{decider{h}}.receive(ctx, a)
	case bot.Stopped:
		return h.stopped(ctx)
	case bot.Visited:
		return h.visited(ctx)
	}
	return bot.Answer{}, nil
}

// once makes sure that an answer about which nothing was written is given one
// time only, whichever replica gets the event again.
func (h *request) once(ctx context.Context, a bot.Answer) (bot.Answer, error) {
	if a == (bot.Answer{}) || a.Home != nil || len(h.dedupe.Once) == 0 {
		return a, nil
	}
	return a, h.cfg.Desk.Note(ctx, h.dedupe)
}

// wrote marks the event as written down, where it was.
func (h *request) wrote(err error) error {
	if err == nil {
		h.written = true
	}
	return err
}

// maxBots is how many messages of bots in a row are heard in a thread without
// one of a person.
const maxBots = 5

// count counts the messages of bots in a row, so that two of them do not talk
// for ever; tired: this one is not heard.
func (c *Chat) count(ctx context.Context, h *request) (tired bool, err error) {
	if _, said := h.in.Act.(bot.Said); !said || len(h.cfg.Desk.Authority.AllowBots) == 0 {
		return false, nil
	}
	name := "bots/" + h.in.Where.String()
	if h.topLevel() {
		name = "bots/" + h.in.Where.Place() // each of them begins a thread of its own
	}
	value, err := h.cfg.Store.Value(ctx, name)
	if err != nil {
		return false, err
	}
	n, _ := strconv.Atoi(value) // "" is none
	switch {
	case h.in.By.Bot && n >= maxBots:
		h.cfg.Log.Info("a bot is not heard any more until a person speaks", "bot", h.in.By.ID, "where", h.in.Where.String())
		return true, nil
	case h.in.By.Bot:
		h.dedupe.Set[name] = strconv.Itoa(n + 1)
	case value != "":
		h.dedupe.Set[name] = ""
	}
	return false, nil
}

// topLevel reports whether the event happened in the channel itself, also
// where a thread may begin at it.
func (h *request) topLevel() bool {
	return h.in.Where.ID == "" || h.in.Begins || h.in.Where.ID == h.in.Message.ID
}

// spoke reports whether the event is a message, which can be marked: a click's
// message is the bot's own.
func (h *request) spoke() bool {
	_, said := h.in.Act.(bot.Said)
	return said && h.in.Message != (bot.Address{})
}

// marked is the short answer to a message, or the text where there is none to mark.
func (h *request) marked(run agent.RunID, text string) bot.Answer {
	if h.spoke() {
		return bot.Answer{Mark: bot.MarkNoted, Run: run}
	}
	return bot.Answer{Private: text, Run: run}
}

func private(text string, values ...any) bot.Answer {
	return bot.Answer{Private: fmt.Sprintf(text, values...)}
}

// resident is the run that lives in the thread, of no ID if there is none.
// Live reports whether it still takes in what is said.
func (h *request) resident(ctx context.Context) (r agent.Run, live bool, err error) {
	if h.in.Where.ID == "" {
		return r, false, nil
	}
	id, err := h.cfg.Store.Value(ctx, agent.ThreadName(h.in.Where.String()))
	if err != nil || id == "" {
		return r, false, err
	}
	r, err = h.cfg.Desk.Load(ctx, agent.RunID(id))
	if errors.Is(err, agent.ErrNoRun) { // it expired
		return agent.Run{}, false, nil
	}
	return r, err == nil && listens(r), err
}

// listens reports whether anything that is said still reaches the run.
func listens(r agent.Run) bool { return r.Ended == nil && r.Cancelled == nil && r.Report == nil }

// platform is the platform of an address or principal, nil if it is not served.
func (h *request) platform(of string) bot.Platform {
	name, _, _ := strings.Cut(of, ":")
	return h.platforms.Named(name)
}
