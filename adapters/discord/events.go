package discord

// This file joins the gateway connection to the adapter: it chooses the
// intents, passes messages and interactions to the intake, and has the
// directory learn from all other events.

import (
	"encoding/json"
	"errors"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/gateway"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
)

// gatewayConfig is the gateway connection as this bot needs it.
func (d *Discord) gatewayConfig() gateway.Config {
	intents := discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if d.cfg.Content {
		intents |= discordgo.IntentsMessageContent
	}
	t := d.in.times
	return gateway.Config{
		Client: d.api, Intents: intents, Linked: d.in.link, Unlinked: d.in.unlink, Event: d.event, Refused: d.noteToken,
		Hello: t.hello, Invalid: t.invalid, Settled: t.settled, Backoff: t.backoff(), Limiter: &d.in.Log, Log: d.log,
	}
}

// event takes an event of the gateway: what people did is received, what tells
// of channels, servers and roles is remembered.
func (d *Discord) event(kind string, payload json.RawMessage) {
	switch kind {
	case eventMessage, eventEdit, eventDeletion, eventInteraction:
		if err := d.in.Take(envelope{kind: kind, payload: payload}); errors.Is(err, ingest.ErrNotListening) {
			d.in.Log.Warn(d.log, "an event came too late: it is read back after the next start", "kind", kind)
		}
	default:
		d.directory.Learn(kind, payload)
		if ofPlace(kind) {
			_ = d.in.Take(envelope{kind: kind, payload: payload}) // nobody listens: it is found out at the next try
		}
	}
}
