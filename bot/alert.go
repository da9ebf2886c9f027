package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Alert is something that did not happen and that administrators have to know of.
type Alert struct {
	ID   string // the same for the same trouble: it is told once
	Kind string // of trouble: schedule, run, check-in
	Text string // Markdown: what happened, to what, what to do next
}

// Alert tells each administrator in a direct conversation, once over all
// processes. What cannot be told is in the log.
func (c *Chat) Alert(ctx context.Context, a Alert) {
	log := c.cfg.Log.With("kind", a.Kind, "alert", a.ID)
	log.Error("an alert", "text", a.Text)
	for _, who := range c.cfg.Desk.Authority.Admins {
		if err := c.tell(ctx, who, a); err != nil && !errors.Is(err, agent.ErrSeen) {
			log.Error("an administrator could not be told", "who", who, "err", err)
		}
	}
}

// tell opens a run that says it and nothing else: its voice posts it however
// long the platform is away.
func (c *Chat) tell(ctx context.Context, who string, a Alert) error {
	name, _, of := strings.Cut(who, ":")
	if !of {
		return fmt.Errorf("%w: write the platform in front of the id", errNoDirect)
	}
	director, can := c.platforms.named(name).(Director)
	if !can {
		return errNoDirect
	}
	to, err := director.Direct(ctx, who)
	if err != nil {
		return err
	}
	to = to.At("") // what lives in the conversation is not disturbed
	zero := agent.Nano(0)
	_, err = c.cfg.Desk.Begin(ctx, Opening{
		Brief: agent.RunStarted{Goal: "Alert", Requester: who, ReplyTo: to.String(), Folder: to.Folder(), Slots: 1, Direct: true,
			Tick: &agent.Tick{At: time.Now().UTC(), Report: true}},
		After: []agent.Body{
			agent.Reported{Headline: "Something did not happen (" + a.Kind + ")", Body: a.Text, Artifacts: agent.Texts{}, Skipped: agent.Texts{}},
			agent.RunEnded{State: agent.RunDone, Cost: &zero},
		},
		Along: Along{Once: []string{"alert/" + a.ID + "/" + who}},
	})
	return err
}
