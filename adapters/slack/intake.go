package slack

// This file takes in what Slack sends: it begins to listen, reads each envelope
// and gives what is in it its turn.

import (
	"context"
	"fmt"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/bot"
)

// Listen takes in what people do until ctx ends. An error means that the tokens
// cannot be used: it wraps bot.ErrRefused and names the variable.
func (s *Slack) Listen(ctx context.Context, hear bot.Hear) error {
	if s.cfg.AppToken == "" && s.cfg.SigningSecret == "" {
		return fmt.Errorf("there is no way in for events: %w; set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)", bot.ErrRefused)
	}
	h := hearer{s, hear}
	session := ingest.Session[envelope]{
		Name: "Slack",
		Receive: func(ctx context.Context, e envelope) error {
			s.receive(ctx, h, e)
			return nil
		},
		Connect: s.connect, Connected: s.connected,
		CatchUp: ingest.CatchUp{Read: func(ctx, late context.Context) error { return s.catchUp(ctx, late, h) },
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

// receive reads an envelope, and has what is in it heard when its turn comes.
func (s *Slack) receive(ctx context.Context, h hearer, e envelope) {
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
	r := response{Slack: s, u: u}
	err = s.in.Hear(ctx, mark, u.Keys(), h.hearing(u, &r.answer), func(err error) {
		e.done(r.keptOpen(ctx), err)
		if err != nil {
			s.log.Warn("an event could not be written down; Slack will send it again", "where", u.In.Where.String(), "error", err)
			return
		}
		r.give(ctx)
	})
	if err != nil {
		e.done(nil, err)
	}
}
