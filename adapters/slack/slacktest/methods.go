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
		"api.test":              {open: true, fn: (*Server).apiTest},
		"auth.test":             {fn: (*Server).authTest},
		"auth.revoke":           {perMinute: tier3, fn: (*Server).authRevoke},
		"apps.connections.open": {app: true, fn: (*Server).connectionsOpen},

		"bots.info":             {scope: "users:read", perMinute: tier3, fn: (*Server).botsInfo},
		"team.info":             {scope: "team:read", perMinute: tier3, fn: (*Server).teamInfo},
		"usergroups.list":       {scope: "usergroups:read", perMinute: tier2, fn: (*Server).usergroupsList},
		"usergroups.users.list": {scope: "usergroups:read", perMinute: tier2, fn: (*Server).usergroupsUsers},
		"users.conversations":   {scope: "*:read", perMinute: tier3, fn: (*Server).usersConversations},
		"users.info":            {scope: "users:read", perMinute: tier4, fn: (*Server).usersInfo},
		"users.list":            {scope: "users:read", perMinute: tier2, fn: (*Server).usersList},

		"conversations.history": {scope: "*:history", perMinute: tier3, fn: (*Server).conversationsHistory},
		"conversations.info":    {scope: "*:read", perMinute: tier3, fn: (*Server).conversationsInfo},
		"conversations.join":    {scope: "channels:join", perMinute: tier3, fn: (*Server).conversationsJoin},
		"conversations.list":    {scope: "*:read", perMinute: tier2, fn: (*Server).conversationsList},
		"conversations.members": {scope: "*:read", perMinute: tier4, fn: (*Server).conversationsMembers},
		"conversations.open":    {scope: "im:write", perMinute: tier3, fn: (*Server).conversationsOpen},
		"conversations.replies": {scope: "*:history", perMinute: tier3, fn: (*Server).conversationsReplies},

		"chat.appendStream":  {scope: "chat:write", perMinute: tier4, fn: (*Server).chatAppendStream},
		"chat.delete":        {scope: "chat:write", perMinute: tier3, fn: (*Server).chatDelete},
		"chat.getPermalink":  {fn: (*Server).chatPermalink},
		"chat.postEphemeral": {scope: "chat:write", perMinute: tier4, fn: (*Server).chatEphemeral},
		"chat.postMessage":   {scope: "chat:write", fn: (*Server).chatPost},
		"chat.startStream":   {scope: "chat:write", perMinute: tier2, fn: (*Server).chatStartStream},
		"chat.stopStream":    {scope: "chat:write", perMinute: tier2, fn: (*Server).chatStopStream},
		"chat.update":        {scope: "chat:write", perMinute: tier3, fn: (*Server).chatUpdate},

		"reactions.add":    {scope: "reactions:write", perMinute: tier3, fn: (*Server).reactionsAdd},
		"reactions.get":    {scope: "reactions:read", perMinute: tier3, fn: (*Server).reactionsGet},
		"reactions.remove": {scope: "reactions:write", perMinute: tier2, fn: (*Server).reactionsRemove},

		"views.open":    {perMinute: tier4, fn: (*Server).viewsOpen},
		"views.publish": {perMinute: tier4, fn: (*Server).viewsPublish},
		"views.push":    {perMinute: tier4, fn: (*Server).viewsPush},
		"views.update":  {perMinute: tier4, fn: (*Server).viewsUpdate},

		"files.completeUploadExternal": {scope: "files:write", perMinute: tier4, fn: (*Server).filesComplete},
		"files.getUploadURLExternal":   {scope: "files:write", perMinute: tier4, fn: (*Server).filesUploadURL},
		"files.info":                   {scope: "files:read", perMinute: tier4, fn: (*Server).filesInfo},

		"agents.sessions.setStatus":             {scope: "chat:write", perMinute: often, fn: (*Server).agentStatus},
		"assistant.threads.setStatus":           {scope: "chat:write", perMinute: often, fn: (*Server).assistantStatus},
		"assistant.threads.setSuggestedPrompts": {scope: "assistant:write", perMinute: tier4, fn: (*Server).assistantPrompts},
		"assistant.threads.setTitle":            {scope: "assistant:write", perMinute: tier4, fn: (*Server).assistantTitle},
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

// decode is JSON as Go has it; nil when it is none.
func decode(raw json.RawMessage) any {
	var v any
	_ = json.Unmarshal(raw, &v) // nil then
	return v
}
