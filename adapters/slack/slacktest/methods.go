package slacktest

// This file lists every Web API method that is served, with its scope and
// rate limit, and implements the small ones: users, channels, reactions.

import (
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// The tiers of the Web API, in calls a minute.
const (
	tier2 = 20
	tier3 = 50
	tier4 = 100
	often = 600
)

func methods() map[string]method {
	return map[string]method{
		"auth.test":             {fn: authTest},
		"apps.connections.open": {app: true, fn: connectionsOpen},

		"usergroups.users.list": {scope: "usergroups:read", perMinute: tier2, fn: usergroupsUsers},
		"users.conversations":   {scope: "*:read", perMinute: tier3, fn: usersConversations},
		"users.info":            {scope: "users:read", perMinute: tier4, fn: usersInfo},

		"conversations.history": {scope: "*:history", perMinute: tier3, fn: conversationsHistory},
		"conversations.info":    {scope: "*:read", perMinute: tier3, fn: conversationsInfo},
		"conversations.open":    {scope: "im:write", perMinute: tier3, fn: conversationsOpen},
		"conversations.replies": {scope: "*:history", perMinute: tier3, fn: conversationsReplies},

		"chat.delete":        {scope: "chat:write", perMinute: tier3, fn: chatDelete},
		"chat.postEphemeral": {scope: "chat:write", perMinute: tier4, fn: chatEphemeral},
		"chat.postMessage":   {scope: "chat:write", fn: chatPost},
		"chat.update":        {scope: "chat:write", perMinute: tier3, fn: chatUpdate},

		"reactions.add": {scope: "reactions:write", perMinute: tier3, fn: reactionsAdd},

		"views.open":    {perMinute: tier4, fn: viewsOpen},
		"views.publish": {perMinute: tier4, fn: viewsPublish},

		"files.completeUploadExternal": {scope: "files:write", perMinute: tier4, fn: filesComplete},
		"files.getUploadURLExternal":   {scope: "files:write", perMinute: tier4, fn: filesUploadURL},
		"files.info":                   {scope: "files:read", perMinute: tier4, fn: filesInfo},

		"agents.sessions.rename":                {scope: "chat:write", perMinute: tier3, fn: agentRename},
		"agents.sessions.setStatus":             {scope: "chat:write", perMinute: tier3, fn: agentStatus},
		"assistant.threads.setStatus":           {scope: "chat:write", perMinute: often, fn: assistantStatus},
		"assistant.threads.setSuggestedPrompts": {scope: "assistant:write", perMinute: tier4, fn: assistantPrompts},
	}
}

func authTest(s *workspace, _ *call) (obj, error) {
	return obj{
		"url": s.URL() + "/", "team": "Slacktest", "user": s.user(BotUser).Name,
		"team_id": Team, "user_id": BotUser, "bot_id": Bot, "is_enterprise_install": false,
	}, nil
}

// connectionsOpen gives a ticket for one connection.
func connectionsOpen(s *workspace, _ *call) (obj, error) {
	ticket := s.id("ticket-")
	s.sockets.tickets[ticket] = time.Now().Add(30 * time.Second)
	return obj{"url": "ws" + s.URL()[len("http"):] + "/link?ticket=" + ticket + "&app_id=" + App}, nil
}

func (s *workspace) userJSON(u *User) obj {
	_, offset := time.Now().In(zone(u.TZ)).Zone()
	profile := obj{"real_name": u.RealName, "display_name": u.Name, "team": u.TeamID}
	if slices.Contains(s.cfg.Scopes, "users:read.email") {
		platformtest.Put(profile, "email", u.Email)
	}
	if u.Bot {
		profile["bot_id"], profile["api_app_id"] = u.BotID, s.app(u.BotID)
	}
	return obj{
		"id": u.ID, "team_id": u.TeamID, "name": u.Name, "real_name": u.RealName, "deleted": u.Deleted,
		"tz": u.TZ, "tz_offset": offset, "profile": profile, "is_bot": u.Bot, "is_app_user": false,
		"is_admin": u.Admin, "is_owner": u.Owner, "is_stranger": u.Stranger,
		"is_restricted": u.Restricted || u.UltraRestricted, "is_ultra_restricted": u.UltraRestricted, "updated": 1700000000,
	}
}

func zone(name string) *time.Location {
	if l, err := time.LoadLocation(name); err == nil {
		return l
	}
	return time.UTC
}

func (s *workspace) channelJSON(c *Channel) obj {
	out := obj{
		"id": c.ID, "created": 1700000000, "creator": Ann, "context_team_id": Team,
		"is_channel": c.kind() == "channel" || c.kind() == "group", "is_group": false, "is_im": c.IM != "", "is_mpim": c.MPIM,
		"is_private": c.kind() != "channel", "is_archived": c.Archived, "is_general": c.ID == General, "is_open": true,
		"is_shared": c.Shared, "is_ext_shared": c.Shared, "is_member": c.has(BotUser), "num_members": len(c.Members),
		"topic": obj{"value": c.Topic, "creator": "", "last_set": 0}, "purpose": obj{"value": "", "creator": "", "last_set": 0},
	}
	platformtest.Put(out, "user", c.IM)
	platformtest.Put(out, "name", c.Name)
	platformtest.Put(out, "name_normalized", c.Name)
	if c.Shared {
		out["shared_team_ids"] = []string{Team, OtherTeam}
	}
	return out
}

func usersInfo(s *workspace, c *call) (obj, error) {
	u := s.user(c.str("user"))
	if u == nil {
		return nil, no("user_not_found")
	}
	return obj{"user": s.userJSON(u)}, nil
}

func usersConversations(s *workspace, c *call) (obj, error) {
	user := c.str("user")
	platformtest.Default(&user, BotUser)
	types := c.str("types")
	platformtest.Default(&types, "public_channel")
	var found []*Channel
	for _, ch := range s.channels {
		seen := ch.has(user) && (user == BotUser || ch.has(BotUser) || ch.kind() == "channel")
		if !seen || ch.Archived && c.flag("exclude_archived") {
			continue
		}
		if slices.Contains(strings.Split(types, ","), typeOf[ch.kind()]) {
			found = append(found, ch)
		}
	}
	some, cursor := slice(c, found)
	out := make([]obj, 0, len(some))
	for _, ch := range some {
		out = append(out, s.channelJSON(ch))
	}
	return obj{"channels": out, "response_metadata": obj{"next_cursor": cursor}}, nil
}

var typeOf = map[string]string{"channel": "public_channel", "group": "private_channel", "im": "im", "mpim": "mpim"}

// visible finds a channel that the bot may know of.
func (s *workspace) visible(id string) (*Channel, error) {
	c := s.channel(id)
	if c == nil || c.kind() != "channel" && !c.has(BotUser) {
		return nil, no("channel_not_found")
	}
	return c, nil
}

// conversationsOpen opens a direct message with one person, or with several.
func conversationsInfo(s *workspace, c *call) (obj, error) {
	ch, err := s.visible(c.str("channel"))
	if err != nil {
		return nil, err
	}
	return obj{"channel": s.channelJSON(ch)}, nil
}

func conversationsOpen(s *workspace, c *call) (obj, error) {
	if id := c.str("channel"); id != "" {
		ch, err := s.visible(id)
		if err != nil {
			return nil, err
		}
		return obj{"channel": s.channelJSON(ch), "no_op": true, "already_open": true}, nil
	}
	users := slices.DeleteFunc(strings.Split(c.str("users"), ","), func(u string) bool { return u == "" || u == BotUser })
	if len(users) == 0 {
		return nil, no("users_list_not_supplied")
	}
	for _, id := range users {
		switch u := s.user(id); {
		case u == nil:
			return nil, no("user_not_found")
		case u.Deleted:
			return nil, no("user_disabled")
		case u.Bot:
			return nil, no("cannot_dm_bot")
		}
	}
	if len(users) == 1 {
		return obj{"channel": s.channelJSON(s.im(users[0]))}, nil
	}
	members := append(slices.Clone(users), BotUser)
	slices.Sort(members)
	for _, ch := range s.channels {
		if ch.MPIM && slices.Equal(slices.Sorted(slices.Values(ch.Members)), members) {
			return obj{"channel": s.channelJSON(ch)}, nil
		}
	}
	ch := &Channel{ID: s.id("G"), Name: "mpdm-" + strings.ToLower(strings.Join(users, "--")), MPIM: true, Members: members}
	s.channels = append(s.channels, ch)
	s.Change()
	return obj{"channel": s.channelJSON(ch)}, nil
}

func usergroupsUsers(s *workspace, c *call) (obj, error) {
	for _, g := range s.groups {
		if g.ID == c.str("usergroup") && (!g.Disabled || c.flag("include_disabled")) {
			return obj{"users": slices.Concat([]string{}, g.Users)}, nil
		}
	}
	return nil, no("no_such_subteam")
}

// target finds the message that a reaction is about.
func target(s *workspace, c *call) (*message, error) {
	ch, err := s.readable(c.str("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.str("timestamp"))
	if m == nil {
		return nil, no("message_not_found")
	}
	return m, nil
}

func reactionsAdd(s *workspace, c *call) (obj, error) {
	m, err := target(s, c)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(c.str("name"), ":")
	if name == "" || strings.ContainsAny(name, " <>") {
		return nil, no("invalid_name")
	}
	if ch := s.channel(m.Channel); ch.Archived {
		return nil, no("is_archived")
	}
	if !m.react(BotUser, name) {
		return nil, no("already_reacted")
	}
	s.events.tellReaction("reaction_added", BotUser, name, m)
	s.Change()
	return obj{}, nil
}
