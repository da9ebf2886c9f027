package discordtest

import (
	"net/http"
	"strconv"
	"strings"
)

func (s *Server) gateway(*call) (any, error) {
	return obj{"url": s.socketURL()}, nil
}

func (s *Server) gatewayBot(*call) (any, error) {
	return obj{"url": s.socketURL(), "shards": 1, "session_start_limit": obj{"total": 1000, "remaining": 999, "reset_after": 14400000, "max_concurrency": 1}}, nil
}

func (s *Server) socketURL() string { return "ws" + strings.TrimPrefix(s.base, "http") + "/gw" }

func (s *Server) me(*call) (any, error) {
	out := s.userJSON(BotUser)
	out["verified"], out["mfa_enabled"], out["email"], out["flags"] = true, false, nil, 0
	return out, nil
}

func (s *Server) someUser(c *call) (any, error) {
	if s.user(c.path("user")) == nil {
		return nil, no(http.StatusNotFound, 10013, "Unknown User")
	}
	return s.userJSON(c.path("user")), nil
}

func (s *Server) application(*call) (any, error) {
	flags := 0
	if s.cfg.Privileged&IntentContent != 0 {
		flags |= 1 << 19 // GATEWAY_MESSAGE_CONTENT_LIMITED, as small apps have it
	}
	if s.cfg.Privileged&IntentMembers != 0 {
		flags |= 1 << 15 // GATEWAY_GUILD_MEMBERS_LIMITED
	}
	return obj{
		"id": App, "name": "Deckhand", "icon": nil, "description": "", "bot_public": false, "bot_require_code_grant": false,
		"verify_key": s.PublicKey, "flags": flags, "bot": s.userJSON(BotUser), "owner": s.userJSON(Olga), "team": nil, "summary": "", "hook": true,
	}, nil
}

func (s *Server) myGuilds(*call) (any, error) {
	out := []obj{}
	for _, g := range s.guilds {
		if g.botIn {
			out = append(out, obj{"id": g.ID, "name": g.Name, "icon": nil, "owner": false, "permissions": strconv.FormatInt(s.granted(g, g.member(BotUser)), 10), "features": []string{}})
		}
	}
	return out, nil
}

// inside finds a guild that the bot is in.
func (s *Server) inside(c *call) (*guild, error) {
	g := s.guild(c.path("guild"))
	switch {
	case g == nil:
		return nil, no(http.StatusNotFound, 10004, "Unknown Guild")
	case !g.botIn:
		return nil, missingAccess()
	}
	return g, nil
}

func (s *Server) getGuild(c *call) (any, error) {
	g, err := s.inside(c)
	if err != nil {
		return nil, err
	}
	return s.guildJSON(g), nil
}

func (s *Server) guildRoles(c *call) (any, error) {
	g, err := s.inside(c)
	if err != nil {
		return nil, err
	}
	return rolesJSON(g), nil
}

func (s *Server) guildChannels(c *call) (any, error) {
	g, err := s.inside(c)
	if err != nil {
		return nil, err
	}
	out := []obj{}
	for _, ch := range s.channels {
		if ch.Guild == g.ID && !ch.Thread() && !ch.Deleted {
			out = append(out, s.channelJSON(ch))
		}
	}
	return out, nil
}

func (s *Server) guildMember(c *call) (any, error) {
	g, err := s.inside(c)
	if err != nil {
		return nil, err
	}
	m := g.member(c.path("user"))
	if m == nil {
		return nil, unknownMember()
	}
	return s.memberJSON(g, m, true), nil
}

// guildMembers needs the privileged intent.
func (s *Server) guildMembers(c *call) (any, error) {
	g, err := s.inside(c)
	if err != nil {
		return nil, err
	}
	if s.cfg.Privileged&IntentMembers == 0 {
		return nil, missingAccess()
	}
	out := []obj{}
	limit := 1
	if n, err := strconv.Atoi(c.query("limit")); err == nil && n > 0 {
		limit = n
	}
	for i := range g.Members {
		if len(out) < limit && older(g.Members[i].User, c.query("after")) > 0 {
			out = append(out, s.memberJSON(g, &g.Members[i], true))
		}
	}
	return out, nil
}
