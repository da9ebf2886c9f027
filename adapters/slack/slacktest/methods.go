package slacktest

import (
	"encoding/json"
	"time"
)

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
	often = 600
)

func methods() map[string]method {
	return map[string]method{
		"auth.test":             {fn: (*Server).authTest},
		"apps.connections.open": {app: true, fn: (*Server).connectionsOpen},

		"usergroups.users.list": {scope: "usergroups:read", perMinute: tier2, fn: (*Server).usergroupsUsers},
		"users.conversations":   {scope: "*:read", perMinute: tier3, fn: (*Server).usersConversations},
		"users.info":            {scope: "users:read", perMinute: tier4, fn: (*Server).usersInfo},

		"conversations.history": {scope: "*:history", perMinute: tier3, fn: (*Server).conversationsHistory},
		"conversations.open":    {scope: "im:write", perMinute: tier3, fn: (*Server).conversationsOpen},
		"conversations.replies": {scope: "*:history", perMinute: tier3, fn: (*Server).conversationsReplies},

		"chat.delete":        {scope: "chat:write", perMinute: tier3, fn: (*Server).chatDelete},
		"chat.postEphemeral": {scope: "chat:write", perMinute: tier4, fn: (*Server).chatEphemeral},
		"chat.postMessage":   {scope: "chat:write", fn: (*Server).chatPost},
		"chat.update":        {scope: "chat:write", perMinute: tier3, fn: (*Server).chatUpdate},

		"reactions.add": {scope: "reactions:write", perMinute: tier3, fn: (*Server).reactionsAdd},

		"views.open":    {perMinute: tier4, fn: (*Server).viewsOpen},
		"views.publish": {perMinute: tier4, fn: (*Server).viewsPublish},

		"files.completeUploadExternal": {scope: "files:write", perMinute: tier4, fn: (*Server).filesComplete},
		"files.getUploadURLExternal":   {scope: "files:write", perMinute: tier4, fn: (*Server).filesUploadURL},
		"files.info":                   {scope: "files:read", perMinute: tier4, fn: (*Server).filesInfo},

		"agents.sessions.setStatus":             {scope: "chat:write", perMinute: often, fn: (*Server).agentStatus},
		"assistant.threads.setStatus":           {scope: "chat:write", perMinute: often, fn: (*Server).assistantStatus},
		"assistant.threads.setSuggestedPrompts": {scope: "assistant:write", perMinute: tier4, fn: (*Server).assistantPrompts},
	}
}

func (s *Server) authTest(*call) (obj, error) {
	return obj{
		"url": s.base + "/", "team": "Slacktest", "user": s.user(BotUser).Name,
		"team_id": Team, "user_id": BotUser, "bot_id": Bot, "is_enterprise_install": false,
	}, nil
}

// connectionsOpen gives a ticket for one connection.
func (s *Server) connectionsOpen(*call) (obj, error) {
	ticket := s.id("ticket-")
	s.tickets[ticket] = time.Now().Add(30 * time.Second)
	return obj{"url": "ws" + s.base[len("http"):] + "/link?ticket=" + ticket + "&app_id=" + App}, nil
}

// decode is JSON as Go has it; nil when it is none.
func decode(raw json.RawMessage) any {
	var v any
	_ = json.Unmarshal(raw, &v) // nil then
	return v
}
