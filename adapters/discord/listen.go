package discord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/adapters/discord/gateway"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	hearWithin = 10 * time.Second // the store may take long; whoever waits is told so before
	typeWithin = 1500 * time.Millisecond
	parallel   = 64   // threads that are heard side by side
	maxWaiting = 4096 // events that wait for their turn
	grace      = 3 * time.Second
)

var errDeaf = errors.New("the process is starting or ending")

// intake is the state of the listening side.
type intake struct {
	people people
	halls  halls
	roles  roles
	marks  *ingest.Watermarks
	missed *ingest.Backlog
	quiet  ingest.LogLimiter
	queue  *ingest.KeyedQueue
	aside  chan struct{}      // slots of what is done after an event was heard
	marked *ingest.KeyedQueue // reactions, which may have to wait long: by channel, as Discord counts them
	times  patience

	mu         sync.Mutex
	work       func(parcel) error // nil while nobody listens
	crew       sync.WaitGroup     // everything that work began
	linked     bool               // the gateway is connected
	registered bool               // the commands are
	trouble    error              // why there is no connection
	unready    error              // why the commands are not registered
	refused    error              // why the bot's token is good for nothing
	revoked    chan struct{}      // the bot's token was refused
}

func (in *intake) open(marks *ingest.Watermarks) {
	in.people.open()
	in.halls.open()
	in.roles.open()
	in.marks, in.missed = marks, ingest.NewBacklog(marks)
	in.queue = ingest.NewKeyedQueue(parallel, maxWaiting)
	in.aside, in.marked = make(chan struct{}, parallel), ingest.NewKeyedQueue(parallel, maxWaiting)
	in.times = defaultPatience()
	in.revoked = make(chan struct{}, 1)
}

// Listen takes in what people do until ctx ends. An error means that the token
// or what it may do cannot be used: it wraps bot.ErrRefused and names the variable.
func (d *Discord) Listen(ctx context.Context, hear bot.Hear) error {
	if !d.cfg.Gateway && d.cfg.PublicKey == "" {
		return fmt.Errorf("there is no way in for events: %w; leave discord.gateway on, or set DISCORD_PUBLIC_KEY (HTTP)", bot.ErrRefused)
	}
	late, release := wait.Outlive(ctx, grace)
	defer release()
	if !d.in.begin(func(p parcel) error { return d.receive(late, hear, p) }) {
		return errors.New("the Discord platform is listening already")
	}
	links, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var g sync.WaitGroup
	broken := make(chan error, 1)
	if d.cfg.Gateway {
		g.Go(func() { broken <- gateway.Run(links, d.connection()) })
		g.Go(func() { d.catchUps(inner, late, hear) })
		g.Go(func() { d.keepMarks(inner) })
	} else {
		d.in.missed.Release()
	}
	g.Go(func() { d.keepRegistered(inner) })
	g.Go(func() { d.mend(inner) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-broken:
	}
	up := d.connected()
	cancel()
	d.in.end()
	if d.cfg.Gateway {
		d.saveMarks(late, up)
	}
	cut()
	g.Wait()
	return err
}

func (in *intake) begin(work func(parcel) error) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.work != nil {
		return false
	}
	in.work = work
	return true
}

// end takes in nothing more and waits for what is under way.
func (in *intake) end() {
	in.mu.Lock()
	in.work = nil
	in.mu.Unlock()
	in.crew.Wait()
}

// take deals with something that Discord sent and that was proved to be
// Discord's. An error says that it will not be dealt with.
func (d *Discord) take(p parcel) error {
	d.in.mu.Lock()
	work := d.in.work
	if work != nil {
		d.in.crew.Add(1)
	}
	d.in.mu.Unlock()
	if work == nil {
		return errDeaf
	}
	defer d.in.crew.Done()
	return work(p)
}

// receive puts a parcel into its lanes. Whoever asked with an interaction is
// told to wait as soon as that takes too long.
func (d *Discord) receive(ctx context.Context, hear bot.Hear, p parcel) error {
	n, err := d.parse(p)
	if err != nil {
		d.in.quiet.Warn(d.log, "an event of Discord's cannot be read and is ignored", "kind", p.kind, "why", err)
		if n == nil {
			return err
		}
		text := textUnread
		if wrong, is := errors.AsType[*optionError](err); is {
			text = wrong.text
		}
		d.prompt(ctx, func(ctx context.Context) { d.refuse(ctx, n, text) })
		return nil
	}
	switch {
	case n == nil:
		return nil
	case n.reply != nil:
		d.receiveInteraction(ctx, hear, n)
		return nil
	case !n.heard():
		d.skip(n)
		return nil
	}
	d.begin(n)
	queued := d.in.queue.Add(n.lanes(), d.in.crew.Go, func() {
		d.in.missed.Wait(ctx)
		answer, err := d.tell(ctx, hear, n)
		d.end(n, err == nil)
		if err != nil {
			d.log.Warn("a message could not be written down; it is read again", "where", n.in.Message.String(), "error", err)
			d.in.missed.NoteFailure()
			return
		}
		d.answer(ctx, n, answer)
	})
	if !queued {
		d.end(n, false)
		d.in.quiet.Warn(d.log, "too many events wait: a message is read again later")
		d.in.missed.NoteFailure()
	}
	return nil
}

// receiveInteraction hears a command, a click or a form. What may begin a run
// is told to wait at once, since the run's thread begins at that message.
func (d *Discord) receiveInteraction(ctx context.Context, hear bot.Hear, n *notice) {
	if !n.heard() {
		d.prompt(ctx, func(ctx context.Context) { d.complete(ctx, n) })
		return
	}
	if n.begins {
		d.in.crew.Go(func() {
			d.beginReply(ctx, n)
			d.queueInteraction(ctx, hear, n)
		})
		return
	}
	n.done = make(chan struct{})
	d.in.crew.Go(func() { d.think(ctx, n) })
	d.queueInteraction(ctx, hear, n)
}

func (d *Discord) queueInteraction(ctx context.Context, hear bot.Hear, n *notice) {
	queued := d.in.queue.Add(n.lanes(), d.in.crew.Go, func() {
		answer, err := d.tellAgain(ctx, hear, n)
		if n.done != nil {
			close(n.done)
		}
		if err != nil {
			d.log.Warn("an interaction could not be written down; the person is told so", "where", n.in.Where.String(), "error", err)
			d.prompt(ctx, func(ctx context.Context) { d.refuse(ctx, n, textLost) })
			return
		}
		d.answer(ctx, n, answer)
	})
	if !queued {
		d.in.quiet.Warn(d.log, "too many events wait: an interaction is refused")
		d.prompt(ctx, func(ctx context.Context) { d.refuse(ctx, n, textCrowded) })
	}
}

// beginReply tells the person to wait, in sight of all, and takes that message
// for the root of the run's thread.
func (d *Discord) beginReply(ctx context.Context, n *notice) {
	message, err := n.reply.think(ctx, false)
	if err != nil && !errors.Is(err, errTaken) {
		d.grumble("a command could not be acknowledged", place(n.guild, n.channel, ""), err)
	}
	c, known := d.hall(ctx, n)
	if known != nil || c.IsThread() || c.IsDirect() {
		return
	}
	if message == "" {
		if message, err = n.reply.message(ctx); err != nil {
			d.grumble("the answer to a command cannot be found; its run gets a thread of its own", place(n.guild, n.channel, ""), err)
		}
	}
	n.root, n.in.Begins = message, message != ""
}

// think tells whoever waits that it takes longer, as soon as it does.
func (d *Discord) think(ctx context.Context, n *notice) {
	t := time.NewTimer(d.in.times.think)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.done:
		return
	case <-ctx.Done():
		return
	}
	_, err := n.reply.think(ctx, true)
	if err != nil && !errors.Is(err, errTaken) {
		d.grumble("an interaction could not be acknowledged in time", place(n.guild, n.channel, ""), err)
	}
}

// refuse tells the person alone that nothing came of it.
func (d *Discord) refuse(ctx context.Context, n *notice, text string) {
	if n.typed != nil || n.reply.kind == discordgo.InteractionApplicationCommandAutocomplete {
		return // nothing can be said while somebody types
	}
	d.grumble("an interaction could not be answered", place(n.guild, n.channel, ""), n.reply.say(ctx, draw.Private(text)))
}

// tell finds out where it happened and who did it, and has it heard.
func (d *Discord) tell(ctx context.Context, hear bot.Hear, n *notice) (bot.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	if err := d.settle(ctx, n); err != nil {
		if errors.Is(err, bot.ErrGone) && n.reply == nil {
			d.log.Info("the channel of a message is gone; it is not heard", "channel", n.channel)
			return bot.Answer{}, nil
		}
		return bot.Answer{}, err
	}
	if n.edit {
		concerns, err := d.corrected(ctx, n)
		if err != nil || !concerns {
			return bot.Answer{}, err
		}
	}
	if act, is := n.in.Act.(bot.Said); is && !act.To && !n.edit && n.in.Where == n.in.Message {
		return bot.Answer{}, nil // chatter at the top level of a channel
	}
	by, err := d.who(ctx, n)
	if err != nil {
		return bot.Answer{}, err
	}
	n.in.By = by
	n.in.Act = d.worded(ctx, n)
	return hear(ctx, n.in)
}

// tellAgain is tell for what Discord does not give again: where it could not be
// written down it is heard once more, since another replica may only have been
// faster.
func (d *Discord) tellAgain(ctx context.Context, hear bot.Hear, n *notice) (bot.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	answer, err := d.tell(ctx, hear, n)
	if err == nil || !wait.Sleep(ctx, api.FirstPause) {
		return answer, err
	}
	return d.tell(ctx, hear, n)
}

// corrected decides what an edit is: a correction, where a run lives in the
// thread; else new words, if they speak to the bot.
func (d *Discord) corrected(ctx context.Context, n *notice) (concerns bool, err error) {
	run, err := d.cfg.Names.Value(ctx, livesName(n.in.Where))
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

// livesName is the name under which a store keeps the run that lives in a thread.
func livesName(thread bot.Address) string { return agent.ThreadName(thread.String()) }
