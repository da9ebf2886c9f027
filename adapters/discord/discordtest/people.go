package discordtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mention writes "@bot text" in a channel or thread and returns the message's id.
func (s *Server) Mention(user, channel, text string, files ...Upload) string {
	if !strings.Contains(text, "<@"+BotUser+">") {
		text = "<@" + BotUser + "> " + text
	}
	return s.Say(user, channel, text, files...)
}

// Say writes text, as it goes over the wire (<@ID>), in a channel or thread.
// Without the intent for message content the bot sees that something was said,
// and not what.
func (s *Server) Say(user, channel, text string, files ...Upload) string {
	return s.say(user, channel, "", text, true, files)
}

// Reply answers a message, with or without pinging its author.
func (s *Server) Reply(user, channel, to, text string, ping bool, files ...Upload) string {
	return s.say(user, channel, to, text, ping, files)
}

// DM writes text to the bot in a direct message.
func (s *Server) DM(user, text string, files ...Upload) string {
	return s.Say(user, s.DMChannel(user), text, files...)
}

// DMChannel is the id of the direct message between a person and the bot.
func (s *Server) DMChannel(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dm(user).ID
}

func (s *Server) say(user, channel, to, text string, ping bool, files []Upload) string {
	s.mu.Lock()
	defer s.mu.Unlock()
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
func (s *Server) EditMessage(user, channel, id, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, id)
	if m == nil || m.Author != user {
		return fmt.Errorf("discordtest: no message %s in %s that %s may edit", id, channel, user)
	}
	return s.rewrite(m, &content{Content: &text})
}

// DeleteMessage is a person's deletion of a message.
func (s *Server) DeleteMessage(channel, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, id)
	if m == nil {
		return fmt.Errorf("discordtest: no message %s in %s to delete", id, channel)
	}
	s.remove(m)
	return nil
}

// React sets a person's reaction.
func (s *Server) React(user, channel, id, emoji string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, id)
	if m == nil {
		return fmt.Errorf("discordtest: no message %s in %s to react to", id, channel)
	}
	if !s.react(m, user, emoji) {
		return fmt.Errorf("discordtest: %s has reacted with %s already", user, emoji)
	}
	return nil
}

// StartThread opens a person's thread, from a message unless that is empty,
// and returns its id.
func (s *Server) StartThread(user, channel, from, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil {
		return "", fmt.Errorf("discordtest: no channel %s for a thread", channel)
	}
	if from == "" {
		return s.newThread(c, s.id(), user, name, PublicThread, nil).ID, nil
	}
	m := s.message(channel, from)
	if m == nil || m.Flags&FlagHasThread != 0 {
		return "", fmt.Errorf("discordtest: no message %s in %s, or it has a thread", from, channel)
	}
	t := s.newThread(c, m.ID, user, name, PublicThread, nil)
	m.Flags |= FlagHasThread
	s.post(&message{Message: Message{Channel: t.ID, Type: ThreadStarter, Author: user}})
	return t.ID, nil
}

// ArchiveThread closes a thread, and locks it when only moderators may open it again.
func (s *Server) ArchiveThread(thread string, locked bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(thread)
	if c == nil || !c.Thread() {
		return fmt.Errorf("discordtest: no thread %s to archive", thread)
	}
	s.archive(c, true, locked)
	return nil
}

// DeleteChannel deletes a channel or a thread.
func (s *Server) DeleteChannel(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(id)
	if c == nil {
		return fmt.Errorf("discordtest: no channel %s to delete", id)
	}
	s.dropChannel(c)
	return nil
}

// Allow changes the permissions of a role or a member in a channel.
func (s *Server) Allow(channel string, o Overwrite) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil {
		return fmt.Errorf("discordtest: no channel %s to change", channel)
	}
	s.overwrite(c, o)
	s.tell(&event{kind: "CHANNEL_UPDATE", intent: IntentGuilds, data: s.channelJSON(c)})
	return nil
}

// RemoveBot throws the bot out of a guild.
func (s *Server) RemoveBot(guildID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guildID)
	if g == nil || !g.botIn {
		return fmt.Errorf("discordtest: the bot is not in %s", guildID)
	}
	g.botIn = false
	g.Members = slices.DeleteFunc(g.Members, func(m Member) bool { return m.User == BotUser })
	s.tell(&event{kind: "GUILD_DELETE", intent: IntentGuilds, data: obj{"id": g.ID}})
	s.change()
	return nil
}

// InviteBot brings the bot back.
func (s *Server) InviteBot(guildID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guildID)
	if g == nil || g.botIn {
		return fmt.Errorf("discordtest: no guild %s, or the bot is in it", guildID)
	}
	role := BotRole
	if g.role(role) == nil {
		role = OtherRole
	}
	g.botIn = true
	g.Members = append(g.Members, Member{User: BotUser, Roles: []string{role}})
	s.tell(&event{kind: "GUILD_CREATE", intent: IntentGuilds, data: s.guildFull(g)})
	s.change()
	return nil
}

// AddUser adds a person or a bot, or changes one with the same id.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	def(&u.Name, "user"+u.ID)
	s.users = slices.DeleteFunc(s.users, func(o *User) bool { return o.ID == u.ID })
	s.users = append(s.users, &u)
	s.change()
}

// AddMember brings a person into a guild, or changes their roles and name there.
func (s *Server) AddMember(guildID string, m Member) error {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	s.tellMember(kind, g, g.member(m.User))
	return nil
}

// RemoveMember takes a person out of a guild.
func (s *Server) RemoveMember(guildID, user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(guildID)
	if g == nil || g.member(user) == nil {
		return fmt.Errorf("discordtest: %s is no member of %s", user, guildID)
	}
	g.Members = slices.DeleteFunc(g.Members, func(m Member) bool { return m.User == user })
	if g.botIn {
		s.tell(&event{kind: "GUILD_MEMBER_REMOVE", intent: IntentMembers, data: obj{"guild_id": g.ID, "user": s.userJSON(user)}})
	}
	s.change()
	return nil
}

func (s *Server) tellMember(kind string, g *guild, m *Member) {
	if g.botIn {
		data := s.memberJSON(g, m, true)
		data["guild_id"] = g.ID
		own := m.User == BotUser
		s.tell(&event{kind: kind, wanted: func(intents int) bool { return own || intents&IntentMembers != 0 }, data: data})
	}
	s.change()
}

// AddRole adds a role to a guild, or changes the one with the same id.
func (s *Server) AddRole(guildID string, r Role) error {
	s.mu.Lock()
	defer s.mu.Unlock()
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
		s.tell(&event{kind: kind, intent: IntentGuilds, data: obj{"guild_id": g.ID, "role": roleJSON(g, at)}})
	}
	s.change()
	return nil
}

// AddChannel adds a channel, or changes the one with the same id.
func (s *Server) AddChannel(c Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	def(&c.Guild, Guild)
	c.changed = time.Now()
	kind := "CHANNEL_CREATE"
	if s.channel(c.ID) != nil {
		kind = "CHANNEL_UPDATE"
	}
	s.channels = slices.DeleteFunc(s.channels, func(o *Channel) bool { return o.ID == c.ID })
	s.channels = append(s.channels, &c)
	if s.sees(BotUser, &c) && !c.Thread() {
		s.tell(&event{kind: kind, intent: IntentGuilds, data: s.channelJSON(&c)})
	}
	s.change()
}
