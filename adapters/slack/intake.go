package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/bot"
)

// hearWithin is how long a message has to be written down: Slack gives up after
// three seconds, the store may take longer.
const hearWithin = 10 * time.Second

// envelope is something from Slack that was proved to be from Slack. Done is
// called once: without an error it is written down, or of no concern, and can
// be acknowledged, with what Slack is to do at once (nil: nothing).
type envelope struct {
	kind    string
	payload []byte
	again   bool // it was delivered before
	done    func(now json.RawMessage, err error)
}

// Listen takes in what people do until ctx ends. An error means that the tokens
// cannot be used: it wraps bot.ErrRefused and names the variable.
func (s *Slack) Listen(ctx context.Context, hear bot.Hear) error {
	if s.cfg.AppToken == "" && s.cfg.SigningSecret == "" {
		return fmt.Errorf("there is no way in for events: %w; set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)", bot.ErrRefused)
	}
	session := ingest.Session[envelope]{
		Name: "Slack",
		Receive: func(ctx context.Context, e envelope) error {
			s.receive(ctx, hear, e)
			return nil
		},
		Connect: s.connect, Connected: s.connected,
		CatchUp: ingest.CatchUp{Read: func(ctx, late context.Context) error { return s.catchUp(ctx, late, hear) },
			Backoff: s.in.times.backoff(), Failed: s.in.times.failed, Resent: true},
		SaveEvery: s.in.times.save,
		Beside:    []func(context.Context){s.recheckToken},
	}
	if s.cfg.AppToken == "" {
		session.Connect = nil
		s.in.Missed.NoteGap()
	}
	return s.in.Listen(ctx, session)
}

// take gives an envelope to whoever listens.
func (s *Slack) take(e envelope) {
	if err := s.in.Take(e); err != nil {
		e.done(nil, err)
	}
}

// receive reads an envelope, and has what is in it heard when its turn comes.
func (s *Slack) receive(ctx context.Context, hear bot.Hear, e envelope) {
	var u *wire.Update
	err := guard.Do(s.log, "a payload", func() (err error) { u, err = s.Read(e.kind, e.payload); return err })
	if err != nil {
		s.in.Log.Warn(s.log, "a payload of Slack's cannot be read and is ignored", "kind", e.kind, "why", err)
	}
	if u == nil {
		e.done(nil, nil)
		return
	}
	u.Again = e.again
	mark := markOf(u)
	if !u.Heard() || !s.conversation(u) {
		s.in.Marks.Skip(mark.Place, mark.At)
		e.done(nil, nil)
		s.beside(ctx, u)
		return
	}
	var answer bot.Answer
	err = s.in.Hear(ctx, mark, u.Keys(), s.hearing(hear, u, &answer), func(err error) {
		e.done(s.keptOpen(ctx, u, answer), err)
		if err != nil {
			s.log.Warn("an event could not be written down; Slack will send it again", "where", u.In.Where.String(), "error", err)
			return
		}
		s.answer(ctx, u, answer)
	})
	if err != nil {
		e.done(nil, err)
	}
}

// hearing has an update heard and keeps the answer. What is in vain is only
// answered: whoever said it is known by the id alone, if by nothing else.
func (s *Slack) hearing(hear bot.Hear, u *wire.Update, answer *bot.Answer) ingest.Hearing {
	return func(ctx context.Context, inVain error) (err error) {
		if inVain == nil {
			*answer, err = s.deliver(ctx, hear, u)
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, hearWithin)
		defer cancel()
		if u.In.InVain = inVain; u.In.By.ID == "" {
			u.In.By.ID = wire.Principal(cmp.Or(u.User, u.Bot))
			u.In.By.Bot = u.User == ""
		}
		*answer, err = hear(ctx, u.In)
		return err
	}
}

// deliver finds out who did it and has it heard.
func (s *Slack) deliver(ctx context.Context, hear bot.Hear, u *wire.Update) (bot.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	switch u.In.Act.(type) {
	case bot.PlaceBack, bot.PlaceGone: // nobody did it
		return hear(ctx, u.In)
	}
	if u.Edit {
		run, err := s.cfg.Names.Value(ctx, agent.ThreadName(u.In.Where.String()))
		if err != nil || run == "" {
			return bot.Answer{}, err
		}
	}
	by, err := s.Author(ctx, u, s.cfg.Groups)
	if err != nil {
		return bot.Answer{}, err
	}
	u.In.By = by
	if u.Alone {
		if u.In.Where, err = s.Direct(ctx, by.ID); err != nil {
			return bot.Answer{}, fmt.Errorf("open the direct conversation with %s: %w", by.ID, err)
		}
	}
	u.In.Act = s.readableAct(ctx, u)
	return hear(ctx, u.In)
}

// readableAct is the act with its text as people read it. The acknowledgement
// does not wait long for the names in it.
func (s *Slack) readableAct(ctx context.Context, u *wire.Update) bot.Act {
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	channels := map[string]bot.Address{}
	by := wire.Spelling{
		Name: func(user string) string { return s.NameFor(ctx, user) },
		Channel: func(id, label string) string {
			u.In.Channels = channels
			return ingest.ChannelWord(channels, label, s.Address(id, ""))
		},
	}
	switch act := u.In.Act.(type) {
	case bot.Said:
		act.Text = s.Readable(u.Raw, by)
		if u.Edit {
			act.Text = bot.Correction + act.Text
		}
		return act
	case bot.Commanded:
		act.Text = s.Readable(u.Raw, by)
		return act
	case bot.Pressed, bot.Filled, bot.Stopped, bot.Visited, bot.Opened, bot.Unsaid, bot.PlaceBack, bot.PlaceGone:
	}
	return u.In.Act
}
