package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Records is what the chat needs of a store beside journals.
type Records interface {
	Value(ctx context.Context, name string) (string, error)
	Values(ctx context.Context, prefix string) (map[string]string, error)
	SetValue(ctx context.Context, name, value string) error
	Spent(ctx context.Context, counter string) (int64, error)
}

// ChatConfig is what a Chat is made of.
type ChatConfig struct {
	Desk  *Desk
	Store Records
	// Brief is what is decided about a run before it starts, at a place
	// ("platform:workspace:channel"): limits, autonomy, plan approval,
	// approvers, quorum, expiry, slots. The rest is set by the chat.
	Brief func(place string) (agent.RunStarted, error)
	// Platforms are asked for what their threads hold, and for direct
	// conversations.
	Platforms []Platform
	Name      string // of the bot, as people see it
	// Recurring are the schedules; without a Store of their own those of Store.
	// Reporter makes the reports that are asked for; the zero one draws nothing.
	Recurring Recurring
	Reporter  Reporter
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
	cfg       ChatConfig
	platforms *platforms
}

// NewChat makes a Chat.
func NewChat(cfg ChatConfig) *Chat {
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
	c := &Chat{cfg, &platforms{}}
	for _, p := range cfg.Platforms {
		c.Join(p)
	}
	return c
}

// Join adds a platform that got connected; it is asked for what its threads
// hold, and for direct conversations.
func (c *Chat) Join(p Platform) { c.platforms.join(p) }

// hearing is one event on its way in.
type hearing struct {
	Chat
	in  Inbound
	now time.Time
	// along goes into the commit that writes the event down: the keys by which
	// it is known again.
	along   Along
	written bool
}

// Hear takes in one event: it decides what it is and who may do it, writes it
// down in one commit with the keys of the event, and says what the platform
// answers at once. An event that was heard before has an empty answer. An error
// means that the event is not written down: the platform delivers it again.
func (c *Chat) Hear(ctx context.Context, in Inbound) (Answer, error) {
	h := &hearing{Chat: *c, in: in, now: time.Now(), along: Along{Once: in.Keys, Set: map[string]string{}}}
	if in.By.ID == "" || in.Act == nil || !c.cfg.Desk.Authority.hears(in.By) {
		return Answer{}, nil
	}
	tired, err := h.count(ctx)
	if err != nil || tired {
		return Answer{}, err
	}
	a, err := h.act(ctx)
	if err != nil {
		a, err = h.refusal(ctx, err)
	}
	if err == nil && !h.written {
		a, err = h.once(ctx, a)
	}
	if errors.Is(err, agent.ErrSeen) {
		return Answer{}, nil
	}
	if err != nil {
		return Answer{}, fmt.Errorf("what %s did at %s is not written down: %w", in.By.ID, in.Where, err)
	}
	return a, nil
}

// act does what the event asks for. Where somebody else's event came in between,
// it is looked at anew; a message may be a new goal once its run has ended.
func (h *hearing) act(ctx context.Context) (a Answer, err error) {
	_, said := h.in.Act.(Said)
	for range maxMoves {
		a, err = h.acted(ctx)
		if !errors.Is(err, errMoved) && (!said || !errors.Is(err, ErrEnded)) {
			break
		}
	}
	return a, err
}

func (h *hearing) acted(ctx context.Context) (Answer, error) {
	switch a := h.in.Act.(type) {
	case Said:
		return h.said(ctx, a)
	case Commanded:
		return h.commanded(ctx, a.Text)
	case Pressed:
		return h.pressed(ctx, a.Button)
	case Filled:
		return h.filled(ctx, a)
	case Stopped:
		return h.stopped(ctx)
	case Visited:
		return h.visited(ctx)
	}
	return Answer{}, nil
}

// once makes sure that an answer about which nothing was written is given one
// time only, whichever replica gets the event again.
func (h *hearing) once(ctx context.Context, a Answer) (Answer, error) {
	if a == (Answer{}) || a.Home != nil || len(h.along.Once) == 0 {
		return a, nil
	}
	_, err := h.cfg.Desk.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Once: h.along.Once, Set: h.along.Set})
	return a, err
}

// wrote marks the event as written down, where it was.
func (h *hearing) wrote(err error) error {
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
func (h *hearing) count(ctx context.Context) (tired bool, err error) {
	if _, said := h.in.Act.(Said); !said || len(h.cfg.Desk.Authority.AllowBots) == 0 {
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
		h.along.Set[name] = strconv.Itoa(n + 1)
	case value != "":
		h.along.Set[name] = ""
	}
	return false, nil
}

// topLevel reports whether the event happened in the channel itself, also
// where a thread may begin at it.
func (h *hearing) topLevel() bool {
	return h.in.Where.ID == "" || h.in.Begins || h.in.Where.ID == h.in.Message.ID
}

// spoke reports whether the event is a message, which can be marked: a click's
// message is the bot's own.
func (h *hearing) spoke() bool {
	_, said := h.in.Act.(Said)
	return said && h.in.Message != (Address{})
}

// marked is the short answer to a message, or the text where there is none to mark.
func (h *hearing) marked(run agent.RunID, text string) Answer {
	if h.spoke() {
		return Answer{Mark: MarkNoted, Run: run}
	}
	return Answer{Private: text, Run: run}
}

func private(text string, values ...any) Answer { return Answer{Private: fmt.Sprintf(text, values...)} }

// resident is the run that lives in the thread, of no ID if there is none.
// Live reports whether it still takes in what is said.
func (h *hearing) resident(ctx context.Context) (r agent.Run, live bool, err error) {
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
func (h *hearing) platform(of string) Platform {
	name, _, _ := strings.Cut(of, ":")
	return h.platforms.named(name)
}
