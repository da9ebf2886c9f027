package intake

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Word to the administrators that something did not happen.

// AlertMessage is the kind of alert about what could not be taken in.
const AlertMessage = "message"

// alarm tells the administrators of a place in which something cannot be taken
// in: once a day, and of a run wherever it is spoken of.
func (req *request) alarm(ctx context.Context, cause error) {
	id := req.in.Where.String()
	line := "What " + bot.Mention(req.in.By.ID) + " wrote or pressed in " + bot.Ref{Place: req.in.Where}.Mark() + " came to nothing, however often I tried; they know. " +
		"The reason: " + text.Safe(cause.Error()) + ". I do not try it again; the log of `deckhand serve` says more."
	if entry, is := errors.AsType[*agent.EntryError](cause); is {
		id = string(entry.Run)
		line = "What " + bot.Mention(req.in.By.ID) + " wrote or pressed came to nothing, as I cannot read its run; they know. `deckhand journal " + id + "` shows what is left of it: " +
			text.Safe(entry.Err.Error()) + ". Where a newer build wrote the journal, update the older replicas; where it is damaged, have the goal started again."
	}
	if req.cfg.Alarmed != nil {
		req.cfg.Alarmed(AlertMessage)
	}
	req.Alert(ctx, bot.Alert{ID: AlertMessage + "/" + id + "/" + req.now.UTC().Format(time.DateOnly), Kind: AlertMessage, Text: line})
}

// Alert tells each administrator in a direct conversation, once over all
// processes. What cannot be told is in the log.
func (c *Chat) Alert(ctx context.Context, a bot.Alert) {
	log := c.cfg.Log.With("kind", a.Kind, "alert", a.ID)
	log.Error("an alert", "text", a.Text)
	for _, who := range c.cfg.Runs.Authority.Admins {
		if err := c.tell(ctx, who, a); err != nil && !errors.Is(err, agent.ErrSeen) {
			log.Error("an administrator could not be told", "who", who, "err", err)
		}
	}
}

// tell opens a run that says it and nothing else: it is posted however
// long the platform is away.
func (c *Chat) tell(ctx context.Context, who string, a bot.Alert) error {
	to, err := c.conversation(ctx, who)
	if err != nil {
		return err
	}
	run := runs.ReportRun(agent.RunStarted{Goal: "Alert", Requester: who, ReplyTo: to.String(), Folder: to.Folder(), Direct: true,
		Tick: &agent.Tick{At: time.Now().UTC()}}, alertTitle(a.Kind), a.Text)
	run.Once = []string{"alert/" + a.ID + "/" + who}
	_, err = c.cfg.Runs.Begin(ctx, run)
	return err
}

// conversation is the address of the direct conversation with a principal; a
// bare id is one of any platform. The address has no thread, so a run that lives
// in the conversation stays the one that lives there.
func (c *Chat) conversation(ctx context.Context, who string) (to bot.Address, err error) {
	all := []string{who}
	if !strings.Contains(who, ":") {
		all = nil
		for _, name := range c.platforms.Names() {
			all = append(all, name+":"+who)
		}
	}
	err = bot.ErrNoDirect
	for _, who := range all {
		name, _, _ := strings.Cut(who, ":")
		director, can := c.platforms.Named(name).(bot.Director)
		if !can {
			continue
		}
		if to, err = director.Direct(ctx, who); err == nil {
			return to.At(""), nil
		}
	}
	return bot.Address{}, err
}

// alertTitle is what an alert is about, in a line.
func alertTitle(kind string) string {
	switch kind {
	case AlertMessage:
		return "I could not act on a message"
	case "tools":
		return "A source of tools has changed: shall I use what it says now?"
	case "schedule":
		return "Something planned did not happen"
	}
	return "Something needs an administrator (" + strings.ReplaceAll(kind, "-", " ") + ")"
}
