package discordtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// People is what people do in a world. Where somebody waits for the app, the call
// returns when it was acknowledged.
type People struct{ *world }

// Mention writes "@bot text" in a channel or thread and returns the message's id.
func (s People) Mention(user, channel, text string, files ...Upload) string {
	if !strings.Contains(text, "<@"+BotUser+">") {
		text = "<@" + BotUser + "> " + text
	}
	return s.Say(user, channel, text, files...)
}

// Say writes text, as it goes over the wire (<@ID>), in a channel or thread.
// Without the intent for message content the bot sees that something was said,
// and not what.
func (s People) Say(user, channel, text string, files ...Upload) string {
	return s.say(user, channel, "", text, true, files)
}

// Reply answers a message, with or without pinging its author.
func (s People) Reply(user, channel, to, text string, ping bool, files ...Upload) string {
	return s.say(user, channel, to, text, ping, files)
}

// DM writes text to the bot in a direct message.
func (s People) DM(user, text string, files ...Upload) string {
	return s.Say(user, s.DMChannel(user), text, files...)
}

// DMChannel is the id of the direct message between a person and the bot.
func (s People) DMChannel(user string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.dm(user).ID
}

func (s People) say(user, channel, to, text string, ping bool, files []Upload) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := &message{Message: Message{Channel: channel, Author: user, Content: text, ReplyTo: to}}
	if to != "" {
		m.Type = ReplyMessage
	}
	for _, f := range files {
		m.Files = append(m.Files, s.keep(f))
	}
	m.Pings = s.pings(m, &allowed{Parse: defaultParse, Replied: ping})
	s.lastID |= 1<<22 - 1 // nobody writes within a millisecond of anything else
	s.post(m)
	return m.ID
}

// EditMessage is a person's edit of a message.
func (s People) EditMessage(user, channel, id, text string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.message(channel, id)
	if m == nil || m.Author != user {
		return fmt.Errorf("discordtest: no message %s in %s that %s may edit", id, channel, user)
	}
	return s.rewrite(m, &content{Content: &text})
}

// DeleteMessage is a person's deletion of a message.
func (s People) DeleteMessage(channel, id string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.message(channel, id)
	if m == nil {
		return fmt.Errorf("discordtest: no message %s in %s to delete", id, channel)
	}
	s.remove(m)
	return nil
}

// StartThread opens a person's thread, from a message unless that is empty,
// and returns its id.
func (s People) StartThread(user, channel, from, name string) (string, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c := s.channel(channel)
	if c == nil {
		return "", fmt.Errorf("discordtest: no channel %s for a thread", channel)
	}
	if from == "" {
		return newThread(s.world, c, s.id(), user, name, PublicThread, nil).ID, nil
	}
	m := s.message(channel, from)
	if m == nil || m.Flags&FlagHasThread != 0 {
		return "", fmt.Errorf("discordtest: no message %s in %s, or it has a thread", from, channel)
	}
	t := newThread(s.world, c, m.ID, user, name, PublicThread, nil)
	m.Flags |= FlagHasThread
	s.post(&message{Message: Message{Channel: t.ID, Type: ThreadStarter, Author: user}})
	return t.ID, nil
}

// ArchiveThread closes a thread, and locks it when only moderators may open it again.
func (s People) ArchiveThread(thread string, locked bool) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c := s.channel(thread)
	if c == nil || !c.Thread() {
		return fmt.Errorf("discordtest: no thread %s to archive", thread)
	}
	archive(s.world, c, true, locked)
	return nil
}

// DeleteChannel deletes a channel or a thread.
func (s People) DeleteChannel(id string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c := s.channel(id)
	if c == nil {
		return fmt.Errorf("discordtest: no channel %s to delete", id)
	}
	dropChannel(s.world, c)
	return nil
}

// Allow changes the permissions of a role or a member in a channel.
func (s People) Allow(channel string, o Overwrite) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c := s.channel(channel)
	if c == nil {
		return fmt.Errorf("discordtest: no channel %s to change", channel)
	}
	overwrite(s.world, c, o)
	s.events.tell(&event{kind: "CHANNEL_UPDATE", intent: IntentGuilds, data: s.channelJSON(c)})
	return nil
}

// RemoveBot throws the bot out of a guild.
func (s People) RemoveBot(guildID string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	g := s.guild(guildID)
	if g == nil || !g.botIn {
		return fmt.Errorf("discordtest: the bot is not in %s", guildID)
	}
	g.botIn = false
	g.Members = slices.DeleteFunc(g.Members, func(m Member) bool { return m.User == BotUser })
	s.events.tell(&event{kind: "GUILD_DELETE", intent: IntentGuilds, data: obj{"id": g.ID}})
	s.Change()
	return nil
}

// InviteBot lets the bot into a guild that it was thrown out of.
func (s People) InviteBot(guildID string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	g := s.guild(guildID)
	if g == nil || g.botIn {
		return fmt.Errorf("discordtest: the bot is in %s already, or there is none", guildID)
	}
	g.botIn = true
	g.Members = append(g.Members, Member{User: BotUser})
	s.events.tell(&event{kind: "GUILD_CREATE", intent: IntentGuilds, data: s.guildFull(g)})
	s.Change()
	return nil
}

// AddUser adds a person or a bot, or changes one with the same id.
func (s People) AddUser(u User) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	platformtest.Default(&u.Name, "user"+u.ID)
	s.users = slices.DeleteFunc(s.users, func(o *User) bool { return o.ID == u.ID })
	s.users = append(s.users, &u)
	s.Change()
}

// AddMember brings a person into a guild, or changes their roles and name there.
func (s People) AddMember(guildID string, m Member) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	g := s.guild(guildID)
	if g == nil {
		return fmt.Errorf("discordtest: no guild %s to join", guildID)
	}
	kind := "GUILD_MEMBER_ADD"
	if old := g.member(m.User); old != nil {
		kind = "GUILD_MEMBER_UPDATE"
		*old = m
	} else {
		g.Members = append(g.Members, m)
	}
	s.events.tellMember(kind, g, g.member(m.User))
	return nil
}

func (s *outbox) tellMember(kind string, g *guild, m *Member) {
	if g.botIn {
		data := s.memberJSON(g, m, true)
		data["guild_id"] = g.ID
		own := m.User == BotUser
		s.tell(&event{kind: kind, wanted: func(intents int) bool { return own || intents&IntentMembers != 0 }, data: data})
	}
	s.Change()
}

// AddRole adds a role to a guild, or changes the one with the same id.
func (s People) AddRole(guildID string, r Role) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	g := s.guild(guildID)
	if g == nil {
		return fmt.Errorf("discordtest: no guild %s for a role", guildID)
	}
	kind := "GUILD_ROLE_CREATE"
	at := slices.IndexFunc(g.Roles, func(o Role) bool { return o.ID == r.ID })
	if at >= 0 {
		kind = "GUILD_ROLE_UPDATE"
		g.Roles[at] = r
	} else {
		g.Roles = append(g.Roles, r)
		at = len(g.Roles) - 1
	}
	if g.botIn {
		s.events.tell(&event{kind: kind, intent: IntentGuilds, data: obj{"guild_id": g.ID, "role": roleJSON(g, at)}})
	}
	s.Change()
	return nil
}

// AddChannel adds a channel, or changes the one with the same id.
func (s People) AddChannel(c Channel) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	platformtest.Default(&c.Guild, Guild)
	c.changed = time.Now()
	kind := "CHANNEL_CREATE"
	if s.channel(c.ID) != nil {
		kind = "CHANNEL_UPDATE"
	}
	s.channels = slices.DeleteFunc(s.channels, func(o *Channel) bool { return o.ID == c.ID })
	s.channels = append(s.channels, &c)
	if s.sees(BotUser, &c) && !c.Thread() {
		s.events.tell(&event{kind: kind, intent: IntentGuilds, data: s.channelJSON(&c)})
	}
	s.Change()
}
