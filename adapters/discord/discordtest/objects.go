package discordtest

// This file builds the JSON in which Discord describes users, members, roles,
// guilds, channels and messages, so that calls and events show them alike.

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const stamp = "2006-01-02T15:04:05.000000-07:00"

func (s *world) userJSON(id string) obj {
	u := s.user(id)
	if u == nil {
		return obj{"id": id, "username": "deleted", "discriminator": "0", "avatar": nil, "global_name": nil, "public_flags": 0}
	}
	out := obj{"id": u.ID, "username": u.Name, "discriminator": "0", "avatar": nil, "global_name": nil, "public_flags": 0}
	platformtest.Put(out, "global_name", u.GlobalName)
	if u.Bot {
		out["bot"], out["discriminator"] = true, "0001"
	}
	return out
}

// memberJSON is a member, with the user when it stands alone.
func (s *world) memberJSON(g *guild, m *Member, alone bool) obj {
	roles := append([]string{}, m.Roles...)
	out := obj{
		"roles": roles, "nick": nil, "avatar": nil, "joined_at": "2024-01-01T00:00:00.000000+00:00", "premium_since": nil,
		"deaf": false, "mute": false, "flags": 0, "pending": false, "communication_disabled_until": nil,
	}
	platformtest.Put(out, "nick", m.Nick)
	if alone {
		out["user"] = s.userJSON(m.User)
	}
	return out
}

func roleJSON(g *guild, i int) obj {
	r := g.Roles[i]
	return obj{
		"id": r.ID, "name": r.Name, "permissions": strconv.FormatInt(r.Permissions, 10), "mentionable": r.Mentionable,
		"color": 0, "hoist": false, "managed": r.ID == BotRole || r.ID == OtherRole, "position": i, "flags": 0, "icon": nil, "unicode_emoji": nil,
	}
}

func rolesJSON(g *guild) []obj {
	out := make([]obj, 0, len(g.Roles))
	for i := range g.Roles {
		out = append(out, roleJSON(g, i))
	}
	return out
}

// guildJSON is a guild as the REST API gives it.
func (s *world) guildJSON(g *guild) obj {
	return obj{
		"id": g.ID, "name": g.Name, "icon": nil, "owner_id": g.Owner, "roles": rolesJSON(g), "emojis": []obj{}, "stickers": []obj{}, "features": []string{},
		"region": "", "afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
		"premium_tier": 0, "preferred_locale": "en-US", "nsfw_level": 0, "system_channel_flags": 0, "application_id": nil,
	}
}

// guildFull is a guild as GUILD_CREATE gives it.
func (s *world) guildFull(g *guild) obj {
	out := s.guildJSON(g)
	channels, threads, members := []obj{}, []obj{}, []obj{}
	for _, c := range s.channels {
		switch {
		case c.Guild != g.ID || c.Deleted || !s.sees(BotUser, c):
		case c.Thread() && !c.Archived:
			threads = append(threads, s.channelJSON(c))
		case !c.Thread():
			channels = append(channels, s.channelJSON(c))
		}
	}
	if m := g.member(BotUser); m != nil {
		members = append(members, s.memberJSON(g, m, true))
	}
	out["channels"], out["threads"], out["members"] = channels, threads, members
	out["member_count"], out["large"], out["unavailable"] = len(g.Members), false, false
	out["joined_at"], out["voice_states"], out["presences"] = "2024-01-01T00:00:00.000000+00:00", []obj{}, []obj{}
	out["stage_instances"], out["guild_scheduled_events"], out["soundboard_sounds"] = []obj{}, []obj{}, []obj{}
	return out
}

func (s *world) channelJSON(c *Channel) obj {
	out := obj{"id": c.ID, "type": c.Type, "flags": 0, "last_message_id": nil}
	platformtest.Put(out, "last_message_id", s.lastIn(c.ID))
	if c.Type == DMChannel {
		out["recipients"] = []obj{s.userJSON(c.Recipient)}
		return out
	}
	out["guild_id"], out["name"] = c.Guild, c.Name
	if c.Thread() {
		at := c.changed.UTC().Format(stamp)
		out["parent_id"], out["owner_id"], out["rate_limit_per_user"] = c.Parent, c.Owner, 0
		out["member_count"], out["message_count"], out["total_message_sent"] = len(c.Members), s.countIn(c.ID), s.countIn(c.ID)
		out["thread_metadata"] = obj{
			"archived": c.Archived, "locked": c.Locked, "auto_archive_duration": c.AutoArchive,
			"archive_timestamp": at, "create_timestamp": at, "invitable": true,
		}
		if slices.Contains(c.Members, BotUser) {
			out["member"] = s.threadMemberJSON(c, BotUser)
		}
		return out
	}
	over := []obj{}
	for _, o := range c.Overwrites {
		over = append(over, obj{"id": o.ID, "type": o.Type, "allow": strconv.FormatInt(o.Allow, 10), "deny": strconv.FormatInt(o.Deny, 10)})
	}
	out["position"], out["nsfw"], out["topic"], out["parent_id"] = 0, false, c.Topic, nil
	out["permission_overwrites"], out["rate_limit_per_user"] = over, 0
	return out
}

func (s *world) lastIn(channel string) string {
	for _, m := range slices.Backward(s.messages) {
		if m.Channel == channel && m.For == "" {
			return m.ID
		}
	}
	return ""
}

func (s *world) countIn(channel string) int {
	n := 0
	for _, m := range s.messages {
		if m.Channel == channel && m.For == "" && !m.Deleted && m.Type != ThreadStarter {
			n++
		}
	}
	return n
}

func (s *world) threadMemberJSON(c *Channel, user string) obj {
	return obj{"id": c.ID, "user_id": user, "join_timestamp": c.changed.UTC().Format(stamp), "flags": 0}
}

// messageJSON is a message; without content for those who may not read it.
func (s *world) messageJSON(m *message, content bool) obj {
	files := []obj{}
	for _, f := range m.Files {
		files = append(files, s.fileJSON(m, f))
	}
	mentions := []obj{}
	for _, id := range m.mentioned() {
		mentions = append(mentions, s.userJSON(id))
	}
	out := obj{
		"id": m.ID, "channel_id": m.Channel, "type": m.Type, "author": s.userJSON(m.Author), "content": "", "embeds": []obj{}, "components": []obj{},
		"attachments": []obj{}, "mentions": mentions, "mention_roles": append([]string{}, m.Pings.Roles...), "mention_everyone": m.Pings.Everyone,
		"pinned": false, "tts": false, "flags": m.Flags, "timestamp": m.Posted.UTC().Format(stamp), "edited_timestamp": nil,
	}
	if content {
		out["content"], out["embeds"], out["components"], out["attachments"] = m.Content, list(m.Embeds), list(m.Components), files
	}
	if !m.Edited.IsZero() {
		out["edited_timestamp"] = m.Edited.UTC().Format(stamp)
	}
	if m.Author == BotUser {
		out["application_id"] = App
	}
	s.attach(out, m, content)
	return out
}

// attach adds what not every message has.
func (s *world) attach(out obj, m *message, content bool) {
	if len(m.Reactions) > 0 {
		var set []obj
		for _, r := range m.Reactions {
			set = append(set, obj{"count": len(r.Users), "me": slices.Contains(r.Users, BotUser), "emoji": obj{"id": nil, "name": r.Name}})
		}
		out["reactions"] = set
	}
	if m.Interaction != "" {
		if i := s.interactionByID(m.Interaction); i != nil {
			out["interaction_metadata"] = obj{"id": i.ID, "type": i.Type, "user": s.userJSON(i.User), "authorizing_integration_owners": obj{}}
		}
	}
	if t := s.channel(m.ID); t != nil && m.Flags&FlagHasThread != 0 {
		out["thread"] = s.channelJSON(t)
	}
	switch {
	case m.Type == ThreadStarter:
		parent := ""
		if t := s.channel(m.Channel); t != nil {
			parent = t.Parent
		}
		out["message_reference"] = obj{"channel_id": parent, "message_id": m.Channel}
	case m.ReplyTo != "":
		out["message_reference"] = obj{"type": 0, "channel_id": m.Channel, "message_id": m.ReplyTo}
		out["referenced_message"] = nil
		if r := s.message(m.Channel, m.ReplyTo); r != nil {
			r := *r
			r.ReplyTo = ""
			out["referenced_message"] = s.messageJSON(&r, content || r.Author == BotUser)
		}
	}
}

func (s *world) fileJSON(m *message, f File) obj {
	out := obj{
		"id": f.ID, "filename": f.Name, "size": len(f.Data), "content_type": f.Mimetype,
		"url": s.fileURL(m.Channel, f), "proxy_url": s.fileURL(m.Channel, f),
	}
	platformtest.Put(out, "description", f.Description)
	return out
}

// list is an array that is never null.
func list(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("[]")
	}
	return raw
}

// message is a message with what only the server knows.
type message struct {
	Message
	nonceUntil time.Time
	named      []string // whom it mentions since it was edited; nil: whom it pinged
}

// mentioned are those whom a message names. An edit pings nobody.
func (m *message) mentioned() []string {
	if m.named != nil {
		return m.named
	}
	return m.Pings.Users
}

// system says whether nobody wrote it.
func (m *message) system() bool { return m.Type == ThreadCreated || m.Type == ThreadStarter }
