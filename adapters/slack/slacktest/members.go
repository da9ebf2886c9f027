package slacktest

import (
	"slices"
	"strings"
	"time"
)

func (s *Server) userJSON(u *User) obj {
	_, offset := time.Now().In(zone(u.TZ)).Zone()
	profile := obj{"real_name": u.RealName, "display_name": u.Name, "team": u.TeamID}
	if slices.Contains(s.cfg.Scopes, "users:read.email") {
		put(profile, "email", u.Email)
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

func (s *Server) channelJSON(c *Channel) obj {
	out := obj{
		"id": c.ID, "created": 1700000000, "creator": Ann, "context_team_id": Team,
		"is_channel": c.kind() == "channel" || c.kind() == "group", "is_group": false, "is_im": c.IM != "", "is_mpim": c.MPIM,
		"is_private": c.kind() != "channel", "is_archived": c.Archived, "is_general": c.ID == General, "is_open": true,
		"is_shared": c.Shared, "is_ext_shared": c.Shared, "is_member": c.has(BotUser), "num_members": len(c.Members),
		"topic": obj{"value": c.Topic, "creator": "", "last_set": 0}, "purpose": obj{"value": "", "creator": "", "last_set": 0},
	}
	put(out, "user", c.IM)
	put(out, "name", c.Name)
	put(out, "name_normalized", c.Name)
	if c.Shared {
		out["shared_team_ids"] = []string{Team, OtherTeam}
	}
	return out
}

func (s *Server) usersInfo(c *call) (obj, error) {
	u := s.user(c.str("user"))
	if u == nil {
		return nil, no("user_not_found")
	}
	return obj{"user": s.userJSON(u)}, nil
}

func (s *Server) usersConversations(c *call) (obj, error) {
	user := c.str("user")
	def(&user, BotUser)
	types := c.str("types")
	def(&types, "public_channel")
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
func (s *Server) visible(id string) (*Channel, error) {
	c := s.channel(id)
	if c == nil || c.kind() != "channel" && !c.has(BotUser) {
		return nil, no("channel_not_found")
	}
	return c, nil
}

// conversationsOpen opens a direct message with one person, or with several.
func (s *Server) conversationsOpen(c *call) (obj, error) {
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
	s.change()
	return obj{"channel": s.channelJSON(ch)}, nil
}

func (s *Server) usergroupsUsers(c *call) (obj, error) {
	for _, g := range s.groups {
		if g.ID == c.str("usergroup") && (!g.Disabled || c.flag("include_disabled")) {
			return obj{"users": slices.Concat([]string{}, g.Users)}, nil
		}
	}
	return nil, no("no_such_subteam")
}
