package intake

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// Word to the administrators that something did not happen.

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
		Tick: &agent.Tick{At: time.Now().UTC()}}, "Something did not happen ("+a.Kind+")", a.Text)
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
