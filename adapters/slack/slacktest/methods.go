package slacktest

import "time"

// method is one method of the Web API.
type method struct {
	scope     string // "*:x" is channels:x, groups:x, im:x or mpim:x, after the channel
	perMinute int    // 0: not limited
	app       bool   // called with the app token
	open      bool   // called without a token
	fn        func(*Server, *call) (obj, error)
}

var scopeOf = map[string]string{"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}

// The tiers of the Web API, in calls a minute.
const (
	tier2 = 20
	tier3 = 50
	tier4 = 100
)

func methods() map[string]method {
	return map[string]method{
		"api.test":              {open: true, fn: (*Server).apiTest},
		"auth.test":             {fn: (*Server).authTest},
		"auth.revoke":           {fn: (*Server).authRevoke},
		"apps.connections.open": {app: true, fn: (*Server).connectionsOpen},

		"chat.postMessage":   {scope: "chat:write", fn: (*Server).chatPost},
		"chat.update":        {scope: "chat:write", perMinute: tier3, fn: (*Server).chatUpdate},
		"chat.delete":        {scope: "chat:write", perMinute: tier3, fn: (*Server).chatDelete},
		"chat.postEphemeral": {scope: "chat:write", perMinute: tier4, fn: (*Server).chatEphemeral},
		"chat.getPermalink":  {fn: (*Server).chatPermalink},
	}
}

func (s *Server) apiTest(c *call) (obj, error) {
	if code := c.str("error"); code != "" {
		return nil, no(code)
	}
	args := obj{}
	for k, v := range c.args {
		args[k] = v
	}
	return obj{"args": args}, nil
}

func (s *Server) authTest(*call) (obj, error) {
	return obj{
		"url": s.base + "/", "team": "Slacktest", "user": s.user(BotUser).Name,
		"team_id": Team, "user_id": BotUser, "bot_id": Bot, "is_enterprise_install": false,
	}, nil
}

func (s *Server) authRevoke(c *call) (obj, error) {
	if !c.flag("test") {
		s.revoked[c.token] = true
		s.change()
	}
	return obj{"revoked": !c.flag("test")}, nil
}

// connectionsOpen gives a ticket for one connection.
func (s *Server) connectionsOpen(*call) (obj, error) {
	ticket := s.id("ticket-")
	s.tickets[ticket] = time.Now().Add(30 * time.Second)
	return obj{"url": "ws" + s.base[len("http"):] + "/link?ticket=" + ticket + "&app_id=" + App}, nil
}
