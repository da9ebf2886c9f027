package api

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Platform is the name of the platform: what its principals and addresses begin with.
const Platform = "discord"

// DirectSpace is the workspace of direct conversations.
const DirectSpace = "@me"

// Address is that of a thread, of a message in the channel that holds it, or
// without an id of a channel. Without a server it is a direct conversation.
func Address(guild, channel, id string) bot.Address {
	if guild == "" {
		guild = DirectSpace
	}
	return bot.Address{Platform: Platform, Workspace: guild, Channel: channel, ID: id}
}

// ChannelOf is the channel that holds the messages of an address: a thread is a
// channel of its own.
func ChannelOf(to bot.Address) string {
	if to.ID != "" && to.Workspace != DirectSpace {
		return to.ID
	}
	return to.Own()
}

// Thread is the address of a thread. A private one is a place of its own: its
// parent's readers do not see what is said there.
func Thread(guild, parent, id string, private bool) bot.Address {
	if private {
		parent += agent.Inner + id
	}
	return Address(guild, parent, id)
}

// Within is the address to post at: a private thread, also where it is named as a
// channel, takes messages itself.
func Within(to bot.Address) bot.Address {
	if to.ID == "" && to.Inner() {
		to.ID = to.Own()
	}
	return to
}

// begins reports whether the thread may have begun at a message of its channel.
func begins(thread bot.Address) bool {
	return thread.ID != "" && thread.ID != thread.Own() && thread.Workspace != DirectSpace
}

// Principal is a person or a bot as authority names them.
func Principal(id string) string { return Platform + ":" + id }

// RolePrincipal is a role as authority names it.
func RolePrincipal(id string) string { return Platform + ":&" + id }

// UserID is the id of a person, if the principal is one of Discord's.
func UserID(principal string) (id string, is bool) {
	id, is = strings.CutPrefix(principal, Platform+":")
	return id, is && IsID(id)
}
