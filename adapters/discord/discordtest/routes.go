package discordtest

import (
	"net/http"
	"time"
)

// The routes that faults are planned for most often.
const (
	PostMessage   = "POST /channels/{channel}/messages"
	EditMessage   = "PATCH /channels/{channel}/messages/{message}"
	DeleteMessage = "DELETE /channels/{channel}/messages/{message}"
	ReadMessages  = "GET /channels/{channel}/messages"
	React         = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
	StartThread   = "POST /channels/{channel}/threads"
	OpenThread    = "POST /channels/{channel}/messages/{message}/threads"
	Callback      = "POST /interactions/{interaction}/{token}/callback"
	FollowUp      = "POST /webhooks/{app}/{token}"
	EditOriginal  = "PATCH /webhooks/{app}/{token}/messages/{message}"
	Rename        = "name of a thread" // the limit within PATCH /channels/{channel}
	PutCommands   = "PUT /applications/{app}/guilds/{guild}/commands"
	OpenDM        = "POST /users/@me/channels"
)

// route is what a pattern does.
type route struct {
	name string
	fn   func(*Server, *call) (any, error) // nil: unknown
	rate Rate
	open bool // without the bot's token
}

func (s *Server) apiRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, rt := range routes() {
		rt.name = pattern
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, rt) })
	}
	return mux
}

func routes() map[string]route {
	often := Rate{10, 5 * time.Second}
	five := Rate{5, 5 * time.Second}
	rare := Rate{5, 20 * time.Second}
	out := map[string]route{
		"GET /gateway":                       {fn: (*Server).gateway, open: true},
		"GET /gateway/bot":                   {fn: (*Server).gatewayBot, rate: often},
		"GET /users/@me":                     {fn: (*Server).me, rate: often},
		"GET /users/{user}":                  {fn: (*Server).someUser, rate: often},
		"GET /users/@me/guilds":              {fn: (*Server).myGuilds, rate: often},
		OpenDM:                               {fn: (*Server).openDM, rate: often},
		"GET /oauth2/applications/@me":       {fn: (*Server).application, rate: often},
		"GET /applications/@me":              {fn: (*Server).application, rate: often},
		"GET /guilds/{guild}":                {fn: (*Server).getGuild, rate: often},
		"GET /guilds/{guild}/channels":       {fn: (*Server).guildChannels, rate: often},
		"GET /guilds/{guild}/roles":          {fn: (*Server).guildRoles, rate: often},
		"GET /guilds/{guild}/members":        {fn: (*Server).guildMembers, rate: often},
		"GET /guilds/{guild}/members/{user}": {fn: (*Server).guildMember, rate: often},
		"GET /guilds/{guild}/threads/active": {fn: (*Server).activeThreads, rate: often},

		"GET /channels/{channel}":                            {fn: (*Server).getChannel, rate: often},
		"PATCH /channels/{channel}":                          {fn: (*Server).patchChannel, rate: often},
		"DELETE /channels/{channel}":                         {fn: (*Server).deleteChannel, rate: five},
		"PUT /channels/{channel}/permissions/{overwrite}":    {fn: (*Server).putOverwrite, rate: often},
		"DELETE /channels/{channel}/permissions/{overwrite}": {fn: (*Server).dropOverwrite, rate: often},
		"POST /channels/{channel}/typing":                    {fn: (*Server).typing, rate: five},

		ReadMessages: {fn: (*Server).listMessages, rate: often},
		"GET /channels/{channel}/messages/{message}": {fn: (*Server).getMessage, rate: often},
		PostMessage:   {fn: (*Server).postMessage, rate: five},
		EditMessage:   {fn: (*Server).patchMessage, rate: five},
		DeleteMessage: {fn: (*Server).dropMessage, rate: Rate{5, time.Second}},
		React:         {fn: (*Server).putReaction, rate: Rate{1, 250 * time.Millisecond}},
		"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/{user}": {fn: (*Server).dropReaction, rate: Rate{1, 250 * time.Millisecond}},

		StartThread: {fn: (*Server).startThread, rate: Rate{50, 5 * time.Minute}},
		OpenThread:  {fn: (*Server).openThread, rate: Rate{50, 5 * time.Minute}},
		"GET /channels/{channel}/threads/archived/public":  {fn: (*Server).archivedThreads, rate: often},
		"GET /channels/{channel}/thread-members":           {fn: (*Server).threadMembers, rate: often},
		"GET /channels/{channel}/thread-members/{user}":    {fn: (*Server).threadMember, rate: often},
		"PUT /channels/{channel}/thread-members/{user}":    {fn: (*Server).joinThread, rate: often},
		"DELETE /channels/{channel}/thread-members/{user}": {fn: (*Server).leaveThread, rate: often},

		Callback: {fn: (*Server).callback, open: true},
		FollowUp: {fn: (*Server).followUp, rate: five, open: true},
		"GET /webhooks/{app}/{token}/messages/{message}": {fn: (*Server).getAnswer, rate: five, open: true},
		EditOriginal: {fn: (*Server).editAnswer, rate: five, open: true},
		"DELETE /webhooks/{app}/{token}/messages/{message}": {fn: (*Server).dropAnswer, rate: five, open: true},
	}
	for _, where := range []string{"/applications/{app}/commands", "/applications/{app}/guilds/{guild}/commands"} {
		out["GET "+where] = route{fn: (*Server).listCommands, rate: often}
		out["PUT "+where] = route{fn: (*Server).putCommands, rate: rare}
		out["POST "+where] = route{fn: (*Server).postCommand, rate: rare}
		out["GET "+where+"/{command}"] = route{fn: (*Server).getCommand, rate: often}
		out["PATCH "+where+"/{command}"] = route{fn: (*Server).patchCommand, rate: rare}
		out["DELETE "+where+"/{command}"] = route{fn: (*Server).dropCommand, rate: rare}
	}
	return out
}
