package discord

// This file answers whether the adapter works: connected, its token accepted,
// its commands registered. It also retries the last two until they succeed,
// and holds the adapter's timeouts.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// timeouts is how long the adapter waits for what.
type timeouts struct {
	hello    time.Duration // for a connection to be greeted, and then to be ready
	invalid  time.Duration // before a new session, where Discord refuses one; Discord says 1 to 5 s
	think    time.Duration // of three seconds, until the person is told to wait
	second   time.Duration // of three seconds, for another replica to answer
	failed   time.Duration // after an event could not be heard
	save     time.Duration // between two notes of what was read
	first    time.Duration // the first pause between attempts
	longest  time.Duration // and the last
	settled  time.Duration // a connection that lived so long was a good one
	register time.Duration // for one attempt to register the commands
}

func defaultTimeouts() timeouts {
	return timeouts{hello: 10 * time.Second, invalid: 3 * time.Second, think: 1500 * time.Millisecond, second: 2200 * time.Millisecond,
		failed: 5 * time.Second, save: 5 * time.Second, first: 250 * time.Millisecond, longest: time.Minute, settled: 10 * time.Second,
		register: 30 * time.Second}
}

// backoff lie between attempts, and are longer where Discord asks for more.
func (p timeouts) backoff() ingest.Backoff {
	return ingest.NewBackoff(p.first, p.longest, func(err error) time.Duration {
		asked, _ := api.Wait(err)
		return asked
	})
}

// Ready is nil while events come in and the commands are registered.
func (d *Discord) Ready() error {
	if !d.in.Listening() {
		return errors.New("not listening to Discord yet")
	}
	if err := d.in.Token.Refused(); err != nil {
		return err
	}
	d.in.mu.Lock()
	defer d.in.mu.Unlock()
	switch {
	case d.cfg.Gateway && !d.in.linked && d.in.trouble != nil:
		return fmt.Errorf("not connected to Discord: %w", d.in.trouble)
	case d.cfg.Gateway && !d.in.linked:
		return errors.New("connecting to Discord")
	case !d.in.registered && d.in.unready != nil:
		return d.in.unready
	case !d.in.registered:
		return errors.New("registering the commands with Discord")
	}
	return nil
}

// link notes that the gateway is connected. A new session begins without what
// was said before it: it has to be read back.
func (in *intake) link(fresh bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.linked, in.trouble = true, nil
	if fresh {
		in.Missed.Hold()
		in.Missed.NoteGap()
	}
}

func (in *intake) unlink(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.linked, in.trouble = false, err
}

// connected reports whether events come in.
func (d *Discord) connected() bool {
	if !d.in.Listening() || d.in.Token.Refused() != nil {
		return false
	}
	d.in.mu.Lock()
	defer d.in.mu.Unlock()
	return d.in.linked || !d.cfg.Gateway
}

// keepRegistered registers the commands, once.
func (d *Discord) keepRegistered(ctx context.Context) {
	backoff := d.in.times.backoff()
	for {
		once, cancel := context.WithTimeout(ctx, d.in.times.register)
		changed, err := commands.Register(once, d.api, d.appID, d.cfg.GuildID)
		cancel()
		if ctx.Err() != nil {
			return
		}
		d.in.mu.Lock()
		d.in.registered, d.in.unready = err == nil, err
		d.in.mu.Unlock()
		if err == nil {
			d.log.Info("the commands are registered", "guild", d.cfg.GuildID, "changed", changed)
			return
		}
		d.log.Warn("the commands could not be registered; trying again", "error", err)
		if !wait.Sleep(ctx, backoff.After(err)) {
			return
		}
	}
}

// noteToken learns from a call whether Discord takes the bot's token.
func (d *Discord) noteToken(err error) {
	if d.in.Token.Note(err) {
		d.log.Error("Discord refuses the bot's token; trying again until it is accepted", "variable", "DISCORD_TOKEN")
	}
}

// recheckToken asks again and again while the token is refused.
func (d *Discord) recheckToken(ctx context.Context) {
	d.in.Token.Recheck(ctx, d.in.times.backoff(), func(ctx context.Context) error {
		var me discordgo.User
		return d.api.Call(ctx, "GET", discordgo.EndpointUser("@me"), nil, &me)
	}, func() { d.log.Info("Discord accepts the bot's token again", "variable", "DISCORD_TOKEN") })
}
