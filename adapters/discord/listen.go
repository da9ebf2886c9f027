package discord

// This file takes each event from its arrival until the bot has heard it: in
// the order of its thread, with place and author looked up, and for
// interactions with "is thinking…" before Discord's three seconds are over.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/adapters/discord/gateway"
	"github.com/deckhand-bot/deckhand/adapters/discord/interact"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	hearWithin = 10 * time.Second // the store may take long; whoever waits is told so before
	parallel   = 64               // channels in which reactions are set side by side
	maxWaiting = 4096             // reactions that wait for their turn
)

// intake is the state of the listening side.
type intake struct {
	ingest.Intake[envelope]

	reactions *ingest.KeyedQueue // reactions, which may have to wait long: by channel, as Discord counts them
	times     timeouts

	mu         sync.Mutex
	linked     bool  // the gateway is connected
	registered bool  // the commands are
	trouble    error // why there is no connection
	unready    error // why the commands are not registered
}

func (in *intake) open(marks *ingest.Watermarks, clock agent.Clock, log *slog.Logger) {
	in.Init(marks, func(ctx context.Context) (int64, error) {
		now, err := ingest.Now(ctx, clock)
		return api.FirstID(now), err
	}, log)
	in.reactions = ingest.NewKeyedQueue(parallel, maxWaiting)
	in.times = defaultTimeouts()
}

// Listen takes in what people do until ctx ends. An error means that the token
// or what it may do cannot be used: it wraps bot.ErrRefused and names the variable.
func (d *Discord) Listen(ctx context.Context, hear bot.Hear) error {
	if !d.cfg.Gateway && d.cfg.PublicKey == "" {
		return fmt.Errorf("there is no way in for events: %w; leave discord.gateway on, or set DISCORD_PUBLIC_KEY (HTTP)", bot.ErrRefused)
	}
	session := ingest.Session[envelope]{
		Name:      "Discord",
		Receive:   func(ctx context.Context, p envelope) error { return d.receive(ctx, hear, p) },
		Connected: d.connected,
		Beside:    []func(context.Context){d.keepRegistered, d.recheckToken},
	}
	if d.cfg.Gateway {
		session.Connect = func(ctx context.Context) error { return gateway.Run(ctx, d.gatewayConfig()) }
		session.Read = func(ctx, late context.Context) error { return d.catchUp(ctx, late, hear) }
		session.Failed, session.Backoff, session.SaveEvery = d.in.times.failed, d.in.times.backoff(), d.in.times.save
	} else {
		d.in.Missed.Release()
	}
	return d.in.Listen(ctx, session)
}

// receive puts an event into the queue of its thread. Whoever asked with an interaction is
// told to wait as soon as that takes too long.
func (d *Discord) receive(ctx context.Context, hear bot.Hear, p envelope) error {
	if ofPlace(p.kind) {
		hearOfPlace(ctx, d, hear, p)
		return nil
	}
	var n *update
	err := guard.Do(d.log, "an event", func() (err error) { n, err = d.parse(p); return err }, "kind", p.kind)
	if err != nil {
		d.in.Log.Warn(d.log, "an event of Discord's cannot be read and is ignored", "kind", p.kind, "why", err)
		if n == nil {
			return err
		}
		text := textUnread
		if wrong, is := errors.AsType[*commands.OptionError](err); is {
			text = wrong.Text
		}
		d.answers.promptly(ctx, func(ctx context.Context) { d.refuse(ctx, n, text) })
		return nil
	}
	switch {
	case n == nil:
		return nil
	case n.reply != nil:
		d.receiveInteraction(ctx, hear, n)
		return nil
	case !n.isEvent():
		mark := d.markOf(n)
		d.in.Marks.Skip(mark.Place, mark.At)
		return nil
	}
	var answer bot.Answer
	err = d.in.Hear(ctx, d.markOf(n), n.orderKeys(), d.hearing(hear, n, &answer), func(err error) {
		if err != nil {
			d.log.Warn("a message could not be written down; it is read again", "where", n.in.Message.String(), "error", err)
			return
		}
		d.answers.answer(ctx, n, answer)
	})
	if err != nil {
		d.in.Log.Warn(d.log, "too many events wait: a message is read again later")
	}
	return nil
}

// receiveInteraction hears a command, a click or a form. What may begin a run
// is told to wait at once, since the run's thread begins at that message.
func (d *Discord) receiveInteraction(ctx context.Context, hear bot.Hear, n *update) {
	if !n.isEvent() {
		d.answers.promptly(ctx, func(ctx context.Context) { d.complete(ctx, n) })
		return
	}
	if n.begins {
		d.in.Go(func() {
			d.deferInSight(ctx, n)
			d.queueInteraction(ctx, hear, n)
		})
		return
	}
	n.done = make(chan struct{})
	d.in.Go(func() { d.deferSoon(ctx, n) })
	d.queueInteraction(ctx, hear, n)
}

func (d *Discord) queueInteraction(ctx context.Context, hear bot.Hear, n *update) {
	queued := d.in.Enqueue(n.orderKeys(), func() {
		answer, err := d.hearNow(ctx, hear, n)
		if n.done != nil {
			close(n.done)
		}
		if err != nil {
			d.log.Warn("an interaction could not be written down; the person is told so", "where", n.in.Where.String(), "error", err)
			d.answers.promptly(ctx, func(ctx context.Context) { d.refuse(ctx, n, textLost) })
			return
		}
		d.answers.answer(ctx, n, answer)
	})
	if !queued {
		d.in.Log.Warn(d.log, "too many events wait: an interaction is refused")
		d.answers.promptly(ctx, func(ctx context.Context) { d.refuse(ctx, n, textCrowded) })
	}
}

// deferInSight tells the person to wait, in sight of all, and takes that message
// for the root of the run's thread.
func (d *Discord) deferInSight(ctx context.Context, n *update) {
	message, err := n.reply.Defer(ctx, false)
	if err != nil && !errors.Is(err, interact.ErrTaken) {
		d.answers.logFailure("a command could not be acknowledged", api.Address(n.guild, n.channel, ""), err)
	}
	c, known := d.channelOf(ctx, n)
	if known != nil || c.IsThread() || c.IsDirect() {
		return
	}
	if message == "" {
		if message, err = n.reply.Message(ctx); err != nil {
			d.answers.logFailure("the answer to a command cannot be found; its run gets a thread of its own", api.Address(n.guild, n.channel, ""), err)
		}
	}
	n.root, n.in.Begins = message, message != ""
}

// deferSoon tells whoever waits that it takes longer, as soon as it does.
func (d *Discord) deferSoon(ctx context.Context, n *update) {
	t := time.NewTimer(d.in.times.think)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.done:
		return
	case <-ctx.Done():
		return
	}
	_, err := n.reply.Defer(ctx, true)
	if err != nil && !errors.Is(err, interact.ErrTaken) {
		d.answers.logFailure("an interaction could not be acknowledged in time", api.Address(n.guild, n.channel, ""), err)
	}
}

// refuse tells the person alone that nothing came of it.
func (d *Discord) refuse(ctx context.Context, n *update, text string) {
	if n.typed != nil || n.reply.Completes() {
		return // nothing can be said while somebody types
	}
	d.answers.logFailure("an interaction could not be answered", api.Address(n.guild, n.channel, ""), n.reply.Tell(ctx, draw.Private(text)))
}

// hear finds out where it happened and who did it, and has it heard.
func (d *Discord) hear(ctx context.Context, hear bot.Hear, n *update) (bot.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	if err := d.locate(ctx, n); err != nil {
		if (errors.Is(err, bot.ErrGone) || errors.Is(err, bot.ErrBarred)) && n.reply == nil {
			d.log.Info("the channel of a message is gone; it is not heard", "channel", n.channel)
			return bot.Answer{}, nil
		}
		return bot.Answer{}, err
	}
	if _, is := n.in.Act.(bot.Unsaid); is {
		return d.hearUnsaid(ctx, hear, n)
	}
	if n.edit {
		concerns, err := d.readEdit(ctx, n)
		if err != nil || !concerns {
			return bot.Answer{}, err
		}
	}
	if act, is := n.in.Act.(bot.Said); is && !act.To && !n.edit && n.in.Where == n.in.Message {
		return bot.Answer{}, nil // chatter at the top level of a channel
	}
	by, err := d.directory.Who(ctx, n.guild, n.user, n.member)
	if err != nil {
		return bot.Answer{}, err
	}
	n.in.By = by
	n.in.Act = d.readWords(ctx, n)
	return hear(ctx, n.in)
}

// hearUnsaid has it heard that a message was deleted, where a run lives.
func (d *Discord) hearUnsaid(ctx context.Context, hear bot.Hear, n *update) (bot.Answer, error) {
	run, err := d.cfg.Names.Value(ctx, threadName(n.in.Where))
	if err != nil || run == "" {
		return bot.Answer{}, err
	}
	return hear(ctx, n.in)
}

// hearing has a message heard and keeps the answer. What is in vain is only
// answered: whoever said it is known by the id alone, if by nothing else.
func (d *Discord) hearing(hear bot.Hear, n *update, answer *bot.Answer) ingest.Hearing {
	return func(ctx context.Context, inVain error) (err error) {
		if inVain == nil {
			*answer, err = d.hear(ctx, hear, n)
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, hearWithin)
		defer cancel()
		if n.in.InVain = inVain; n.in.By.ID == "" {
			n.in.By = bot.Person{ID: api.Principal(n.user.ID), Bot: n.user.Bot}
		}
		*answer, err = hear(ctx, n.in)
		return err
	}
}

// hearNow is hear for what Discord does not give again: where it could not be
// written down it is heard once more, since another replica may only have been
// faster, and then answered in words, unless it is the store that is away.
func (d *Discord) hearNow(ctx context.Context, hear bot.Hear, n *update) (answer bot.Answer, err error) {
	heard := d.hearing(hear, n, &answer)
	once := func(inVain error) error {
		return guard.Do(d.log, "an interaction", func() error { return heard(ctx, inVain) }, "where", n.in.Where.String())
	}
	if err = once(nil); err == nil || !wait.Sleep(ctx, api.FirstPause) {
		return answer, err
	}
	if err = once(nil); err == nil || !d.in.StoreAnswers(ctx) {
		return answer, err
	}
	return answer, once(err)
}

// readEdit decides what an edit is: a correction, where a run lives in the
// thread; else new words, if they speak to the bot.
func (d *Discord) readEdit(ctx context.Context, n *update) (concerns bool, err error) {
	run, err := d.cfg.Names.Value(ctx, threadName(n.in.Where))
	if err != nil {
		return false, fmt.Errorf("look for the run that lives in a thread: %w", err)
	}
	said, _ := n.in.Act.(bot.Said) // an edit is nothing else
	n.edit = run != ""
	if n.edit {
		n.in.Keys = n.in.Keys[len(n.in.Keys)-1:]
		said.To, said.Files = false, nil
		n.in.Act = said
		return true, nil
	}
	n.in.Keys = n.in.Keys[:1]
	return said.To, nil
}

// threadName is the name under which a store keeps the run that lives in a thread.
func threadName(thread bot.Address) string { return agent.ThreadName(thread.String()) }
