package discord

// This file declares an event as it arrives and as the adapter works with it,
// and picks the reader for its kind. Reading makes no calls, so it is done
// before an event waits for its turn.

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/discord/interact"
	"github.com/deckhand-bot/deckhand/bot"
)

// The events of the gateway that are understood.
const (
	eventMessage     = "MESSAGE_CREATE"
	eventEdit        = "MESSAGE_UPDATE"
	eventDeletion    = "MESSAGE_DELETE"
	eventInteraction = "INTERACTION_CREATE"
)

// envelope is something from Discord that was proved to be from Discord.
type envelope struct {
	kind    string
	payload []byte
	again   bool // it was delivered before, perhaps
	// body takes the first response to an interaction that came over HTTP.
	body chan<- []byte
}

// update is an event that concerns the bot, before anybody was asked where
// exactly it happened and who did it.
type update struct {
	in bot.Inbound // without a place and a person
	// guild, channel and id are where it happened: the channel may be a thread,
	// the id is the message's, empty for what is none.
	guild, channel, id string
	// known is what Discord said about the channel.
	known api.Channel
	// root is a message at the channel's top level that this belongs to: the
	// thread that begins there, if there is one.
	root   string
	user   discordgo.User
	member *api.Member
	// raw is the text of a Said or a Commanded as it goes over the wire, names
	// are the people in it.
	raw   string
	names map[string]string
	// channels are those that Discord said more about.
	channels map[string]api.Channel
	edit     bool // a correction, where a run lives in the thread
	again    bool
	// reply answers an interaction; nil for a message.
	reply *interact.Reply
	// begins says that an interaction may begin a thread at its own reply.
	begins bool
	done   chan struct{} // closed when it was heard
	// typed is what is being typed into an option; there is nothing to hear.
	typed *commands.Typed
}

// account is who the bot is in Discord: what an event is read with.
type account struct {
	api       *api.Client
	appID     string
	botUser   string // the bot as a person: what a mention names
	botName   string
	allowBots []string // that may speak to this one
}

// parse reads an event. Without an error nil means that it is none of the bot's
// business. With an error there may be an update with the way to answer.
func (a *account) parse(p envelope) (*update, error) {
	var n *update
	var err error
	switch p.kind {
	case eventMessage, eventEdit:
		var s api.Message
		if err = json.Unmarshal(p.payload, &s); err == nil {
			n, err = a.readMessage(&s, p.kind == eventEdit)
		}
	case eventDeletion:
		var s api.Message
		if err = json.Unmarshal(p.payload, &s); err == nil {
			n, err = readDeletion(&s)
		}
	case eventInteraction:
		n, err = a.parseInteraction(p)
	}
	if n != nil {
		n.again = p.again
		if n.in.At.IsZero() {
			n.in.At = time.Now().UTC()
		}
	}
	if err != nil {
		return n, fmt.Errorf("%w: %w", api.ErrMalformed, err)
	}
	return n, nil
}

// isEvent reports whether there is something to hear.
func (n *update) isEvent() bool { return n.in.Act != nil }

// orderKeys are what the update must stay in order with: its thread, and for what
// opens one the top level of its channel.
func (n *update) orderKeys() []string {
	if n.root == "" || n.root == n.channel {
		return []string{n.channel}
	}
	return []string{n.channel, n.root}
}
