package discordtest

import (
	"crypto/ed25519"
	"encoding/hex"
	"maps"
	"net/http"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Server is one Discord. Its methods may be called from any goroutine.
type Server struct {
	*world
	*outbox
	*sockets
	*web
	People
	Screen
}

// New opens a Discord with two guilds, their people and the bot. It listens at
// once; Close ends it.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	private := ed25519.NewKeyFromSeed([]byte("the seed of discordtest's key, 32"[:ed25519.SeedSize]))
	public, _ := private.Public().(ed25519.PublicKey) // that is its type
	w := &world{
		Token: "MTQwMDAw.discordtest.token", PublicKey: hex.EncodeToString(public), private: private,
		cfg: cfg, typed: map[string]int{},
	}
	w.events = &outbox{w}
	w.sockets = &sockets{world: w}
	w.api = &web{world: w, limits: cfg.Limits, buckets: map[string]*bucket{}}
	w.Init("discordtest", cfg.Chaos, w.sockets.cutAll)
	w.settle()
	w.api.mux = w.api.apiRoutes()
	s := &Server{world: w, outbox: w.events, sockets: w.sockets, web: w.api, People: People{w}, Screen: Screen{w}}
	w.Open(cfg.Addr, s.routes())
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, version := range []string{"/api/v9", "/api/v10", "/api"} {
		mux.Handle(version+"/", http.StripPrefix(version, http.HandlerFunc(s.serveAPI)))
	}
	mux.HandleFunc("/gw/", s.serveLink)
	mux.HandleFunc("/gw", s.serveLink)
	mux.HandleFunc("GET /attachments/{channel}/{file}/{name}", s.serveFile)
	return mux
}

// Fail lets the next n calls of a route (or of "*") meet a fault. A route is
// written as in Request.Route; PostMessage and its neighbours are the frequent ones.
func (s *Server) Fail(route string, n int, f Fault) { s.Plan(route, n, f) }

// Heal forgets every planned fault and stops the random ones.
func (s *Server) Heal() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Forget()
	s.mute, s.zombie = 0, false
}

// RejectV2 switches whether components v2 are refused.
func (s *Server) RejectV2(on bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.cfg.RejectV2 = on
}

// Revoke makes the bot's token worthless: calls are answered 401 and the
// sockets closed with 4004.
func (s *Server) Revoke() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.revoked = true
	s.closeAll(closeAuth, "Authentication failed.")
}

// Config says what kind of Discord New opens. The zero value is one with
// Discord's own limits, reached through the gateway, that grants no privileged
// intent.
type Config struct {
	Addr       string        // where to listen; default 127.0.0.1:0
	Deliver    string        // base URL of signed HTTP interactions; empty: over the gateway
	Privileged int           // the privileged intents that are granted; default none
	Limits     Limits        // the zero value enforces Discord's own
	AckWithin  time.Duration // how long the answer to an interaction may take; default 3 s
	TokenLife  time.Duration // of an interaction's token; default 15 min
	NonceLife  time.Duration // how long a nonce is remembered; default 5 min
	Heartbeat  time.Duration // interval of the gateway; default 41.25 s
	ResumeLife time.Duration // how long a lost session may be resumed; default 3 min
	RejectV2   bool          // components v2 are refused, as in older places
	Chaos      Chaos
}

// Rate is so many calls in each window.
type Rate struct {
	N   int
	Per time.Duration
}

// Limits are the rate limits. The zero value means Discord's own.
type Limits struct {
	Off    bool
	Global int             // calls a second; default 50
	Routes map[string]Rate // by route; instead of Discord's own
}

type (
	// Fault is what happens to a call instead of an answer, or beside it.
	Fault = platformtest.Fault
	// EventFault is what happens to an event on its way to the app.
	EventFault = platformtest.EventFault
	// Chaos are probabilities of random faults.
	Chaos = platformtest.Chaos
)

// The faults of every platform.
var (
	RateLimited = platformtest.RateLimited
	Unavailable = platformtest.Unavailable
	LostAnswer  = platformtest.LostAnswer
	LostRequest = platformtest.LostRequest
)

// BadGateway answers 502, which libraries like to try again by themselves.
func BadGateway() Fault { return Fault{Status: http.StatusBadGateway} }

// APIError answers with an error of Discord's.
func APIError(status, code int) Fault { return Fault{Status: status, Code: code} }

func (c Config) withDefaults() Config {
	platformtest.Default(&c.Addr, "127.0.0.1:0")
	platformtest.Default(&c.AckWithin, 3*time.Second)
	platformtest.Default(&c.TokenLife, 15*time.Minute)
	platformtest.Default(&c.NonceLife, 5*time.Minute)
	platformtest.Default(&c.Heartbeat, 41250*time.Millisecond)
	platformtest.Default(&c.ResumeLife, 3*time.Minute)
	c.Chaos = c.Chaos.WithDefaults()
	c.Limits = c.Limits.withDefaults()
	return c
}

// The routes that faults are planned for most often.
const (
	PostMessage         = "POST /channels/{channel}/messages"
	EditMessage         = "PATCH /channels/{channel}/messages/{message}"
	DeleteMessage       = "DELETE /channels/{channel}/messages/{message}"
	ReadMessages        = "GET /channels/{channel}/messages"
	React               = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
	StartThread         = "POST /channels/{channel}/threads"
	ListPublicArchived  = "GET /channels/{channel}/threads/archived/public"
	ListPrivateArchived = "GET /channels/{channel}/threads/archived/private"
	OpenThread          = "POST /channels/{channel}/messages/{message}/threads"
	Callback            = "POST /interactions/{interaction}/{token}/callback"
	FollowUp            = "POST /webhooks/{app}/{token}"
	EditOriginal        = "PATCH /webhooks/{app}/{token}/messages/{message}"
	Rename              = "name of a thread" // the limit within PATCH /channels/{channel}
	PutCommands         = "PUT /applications/{app}/guilds/{guild}/commands"
	OpenDM              = "POST /users/@me/channels"
)

// route is what a pattern does.
type route struct {
	name string
	fn   func(*world, *call) (any, error) // nil: unknown
	rate Rate
	open bool // without the bot's token
}

func (s *web) apiRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, rt := range routes() {
		rt.name = pattern
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, rt) })
	}
	return mux
}

// How often most routes may be called.
var (
	often = Rate{10, 5 * time.Second}
	five  = Rate{5, 5 * time.Second}
	rare  = Rate{5, 20 * time.Second}
)

func routes() map[string]route {
	out := placeRoutes()
	maps.Copy(out, messageRoutes())
	for _, where := range []string{"/applications/{app}/commands", "/applications/{app}/guilds/{guild}/commands"} {
		out["GET "+where] = route{fn: listCommands, rate: often}
		out["PUT "+where] = route{fn: putCommands, rate: rare}
		out["POST "+where] = route{fn: postCommand, rate: rare}
		out["GET "+where+"/{command}"] = route{fn: getCommand, rate: often}
		out["PATCH "+where+"/{command}"] = route{fn: patchCommand, rate: rare}
		out["DELETE "+where+"/{command}"] = route{fn: dropCommand, rate: rare}
	}
	return out
}

// placeRoutes are about people, servers and channels.
func placeRoutes() map[string]route {
	return map[string]route{
		"GET /gateway":                       {fn: gateway, open: true},
		"GET /gateway/bot":                   {fn: gatewayBot, rate: often},
		"GET /users/@me":                     {fn: me, rate: often},
		"GET /users/{user}":                  {fn: someUser, rate: often},
		"GET /users/@me/guilds":              {fn: myGuilds, rate: often},
		OpenDM:                               {fn: openDM, rate: often},
		"GET /oauth2/applications/@me":       {fn: application, rate: often},
		"GET /applications/@me":              {fn: application, rate: often},
		"GET /guilds/{guild}":                {fn: getGuild, rate: often},
		"GET /guilds/{guild}/channels":       {fn: guildChannels, rate: often},
		"GET /guilds/{guild}/roles":          {fn: guildRoles, rate: often},
		"GET /guilds/{guild}/members":        {fn: guildMembers, rate: often},
		"GET /guilds/{guild}/members/{user}": {fn: guildMember, rate: often},
		"GET /guilds/{guild}/threads/active": {fn: activeThreads, rate: often},

		"GET /channels/{channel}":                            {fn: getChannel, rate: often},
		"PATCH /channels/{channel}":                          {fn: patchChannel, rate: often},
		"DELETE /channels/{channel}":                         {fn: deleteChannel, rate: five},
		"PUT /channels/{channel}/permissions/{overwrite}":    {fn: putOverwrite, rate: often},
		"DELETE /channels/{channel}/permissions/{overwrite}": {fn: dropOverwrite, rate: often},
		"POST /channels/{channel}/typing":                    {fn: typing, rate: five},
	}
}

// messageRoutes are about messages, threads and answers.
func messageRoutes() map[string]route {
	return map[string]route{
		ReadMessages: {fn: listMessages, rate: often},
		"GET /channels/{channel}/messages/{message}": {fn: getMessage, rate: often},
		PostMessage:   {fn: postMessage, rate: five},
		EditMessage:   {fn: patchMessage, rate: five},
		DeleteMessage: {fn: dropMessage, rate: Rate{5, time.Second}},
		React:         {fn: putReaction, rate: Rate{1, 250 * time.Millisecond}},
		"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/{user}": {fn: dropReaction, rate: Rate{1, 250 * time.Millisecond}},

		StartThread:         {fn: startThread, rate: Rate{50, 5 * time.Minute}},
		OpenThread:          {fn: openThread, rate: Rate{50, 5 * time.Minute}},
		ListPublicArchived:  {fn: archivedThreads(PublicThread), rate: often},
		ListPrivateArchived: {fn: archivedThreads(PrivateThread), rate: often},
		"GET /channels/{channel}/users/@me/threads/archived/private": {fn: joinedThreads, rate: often},
		"GET /channels/{channel}/thread-members":                     {fn: threadMembers, rate: often},
		"GET /channels/{channel}/thread-members/{user}":              {fn: threadMember, rate: often},
		"PUT /channels/{channel}/thread-members/{user}":              {fn: joinThread, rate: often},
		"DELETE /channels/{channel}/thread-members/{user}":           {fn: leaveThread, rate: often},

		Callback: {fn: callback, open: true},
		FollowUp: {fn: followUp, rate: five, open: true},
		"GET /webhooks/{app}/{token}/messages/{message}": {fn: getAnswer, rate: five, open: true},
		EditOriginal: {fn: editAnswer, rate: five, open: true},
		"DELETE /webhooks/{app}/{token}/messages/{message}": {fn: dropAnswer, rate: five, open: true},
	}
}
