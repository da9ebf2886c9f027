package slack

// This file has an update heard: it finds out who did it and where, makes its
// text what people read, and hands it over to be written down.

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// hearWithin is how long a message has to be written down: Slack gives up after
// three seconds, the store may take longer.
const hearWithin = 10 * time.Second

// hearer has updates heard by whoever listens.
type hearer struct {
	*Slack

	hear bot.Hear
}

// hearing has an update heard and keeps the answer. What is in vain is only
// answered: whoever said it is known by the id alone, if by nothing else.
func (h hearer) hearing(u *wire.Update, answer *bot.Answer) ingest.Hearing {
	return func(ctx context.Context, inVain error) (err error) {
		if inVain == nil {
			*answer, err = h.deliver(ctx, u)
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, hearWithin)
		defer cancel()
		if u.In.InVain = inVain; u.In.By.ID == "" {
			u.In.By.ID = wire.Principal(cmp.Or(u.User, u.Bot))
			u.In.By.Bot = u.User == ""
		}
		*answer, err = h.hear(ctx, u.In)
		return err
	}
}

// deliver finds out who did it and has it heard.
func (h hearer) deliver(ctx context.Context, u *wire.Update) (bot.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	switch u.In.Act.(type) {
	case bot.PlaceBack, bot.PlaceGone: // nobody did it
		return h.hear(ctx, u.In)
	case bot.Said, bot.Commanded, bot.Pressed, bot.Filled, bot.Stopped, bot.Visited, bot.Opened, bot.Unsaid:
	}
	if u.Edit {
		run, err := h.cfg.Names.Value(ctx, agent.ThreadName(u.In.Where.String()))
		if err != nil || run == "" {
			return bot.Answer{}, err
		}
	}
	by, err := h.Author(ctx, u, h.cfg.Groups)
	if err != nil {
		return bot.Answer{}, err
	}
	u.In.By = by
	if u.Alone {
		if u.In.Where, err = h.Direct(ctx, by.ID); err != nil {
			return bot.Answer{}, fmt.Errorf("open the direct conversation with %s: %w", by.ID, err)
		}
	}
	u.In.Act = h.readableAct(ctx, u)
	return h.hear(ctx, u.In)
}

// readableAct is the act with its text as people read it. The acknowledgement
// does not wait long for the names in it.
func (h hearer) readableAct(ctx context.Context, u *wire.Update) bot.Act {
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	channels := map[string]bot.Address{}
	by := wire.Spelling{
		Name: func(user string) string { return h.NameFor(ctx, user) },
		Channel: func(id, label string) string {
			u.In.Channels = channels
			return ingest.ChannelWord(channels, label, h.Address(id, ""))
		},
	}
	switch act := u.In.Act.(type) {
	case bot.Said:
		act.Text = h.Readable(u.Raw, by)
		if u.Edit {
			act.Text = bot.Correction + act.Text
		}
		return act
	case bot.Commanded:
		act.Text = h.Readable(u.Raw, by)
		return act
	case bot.Pressed, bot.Filled, bot.Stopped, bot.Visited, bot.Opened, bot.Unsaid, bot.PlaceBack, bot.PlaceGone:
	}
	return u.In.Act
}
