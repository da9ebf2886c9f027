package gateway

// This file keeps the bot connected: it dials, reads how each connection
// ended, and decides whether to resume the session, begin a new one after a
// pause, or report that Discord refuses the bot.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

// Config says how to connect, and who is told.
type Config struct {
	Client  *api.Client
	Intents discordgo.Intent
	// Linked is called when events come in; fresh: the session is a new one, and
	// what was said before it does not come any more.
	Linked func(fresh bool)
	// Unlinked is called when the connection has ended, with the reason.
	Unlinked func(error)
	// Event takes what happened, by its name. It is called in order and holds up
	// what comes next.
	Event func(kind string, payload json.RawMessage)
	// Refused is called when the bot's token is refused.
	Refused func(error)

	Hello   time.Duration  // for a connection to be greeted, and then to be ready
	Invalid time.Duration  // before a new session, where Discord refuses one; Discord says 1 to 5 s
	Settled time.Duration  // a connection that lived so long was a good one
	Backoff ingest.Backoff // between attempts
	Limiter *ingest.LogLimiter
	Log     *slog.Logger
}

const (
	maxFrame    = 32 << 20
	writeWithin = 5 * time.Second
)

// The codes with which Discord closes a connection that no new attempt mends,
// or that ends the session.
const (
	closedToken    = 4004
	closedSequence = 4007
	closedTimeout  = 4009
	closedShard    = 4010
	closedSharding = 4011
	closedVersion  = 4012
	closedIntents  = 4013
	closedDenied   = 4014
	closeToResume  = 4000 // our own: 1000 and 1001 would end the session
)

var (
	errNoHello = errors.New("the connection was not greeted")
	errZombie  = errors.New("the connection does not answer any more")
	errInvalid = errors.New("Discord refuses the session")       //nolint:staticcheck // a name
	errAsked   = errors.New("Discord asks for a new connection") //nolint:staticcheck // a name
)

// session is what a new connection resumes.
type session struct {
	id, url  string
	sequence int64
}

// Run keeps a connection until ctx ends. An error says that Discord refuses the
// bot before there was a session; later refusals are tried again.
func Run(ctx context.Context, cfg Config) error {
	var s session
	for first := true; ; {
		began := time.Now()
		err := cfg.connect(ctx, &s)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was to end
		}
		first = first && s.id == ""
		refusal := cfg.closed(&s, err)
		if first && refusal != nil {
			return refusal
		}
		cfg.Unlinked(err)
		pause := time.Duration(0)
		switch {
		case errors.Is(err, errInvalid):
			pause = cfg.Invalid/3 + rand.N(cfg.Invalid)
		case errors.Is(err, errAsked), time.Since(began) >= cfg.Settled:
			cfg.Backoff.Reset()
		default:
			pause = cfg.Backoff.After(err)
		}
		if refusal != nil {
			pause = max(pause, cfg.Backoff.Longest/2)
		}
		cfg.Log.Info("the connection to Discord ended; connecting again", "error", err, "resumes", s.id != "", "pause", pause)
		if !wait.Sleep(ctx, pause) {
			return nil
		}
	}
}

// closed learns from how a connection ended whether the session goes on. The
// error says that Discord refuses the bot for good.
func (cfg *Config) closed(s *session, err error) error {
	code := 0
	if end, is := errors.AsType[*websocket.CloseError](err); is {
		code = end.Code
	}
	switch code {
	case closedToken:
		*s = session{}
		cfg.Refused(fmt.Errorf("DISCORD_TOKEN is refused by the gateway: %w; reset the token on the application's page \"Bot\" and set the new one", bot.ErrRefused))
		return refused("DISCORD_TOKEN is refused by the gateway; reset the token on the application's page \"Bot\" and set the new one")
	case closedIntents, closedDenied:
		*s = session{}
		return refused("Discord refuses the gateway's intents; switch on \"Message Content Intent\" on the application's page \"Bot\", or switch it off here")
	case closedShard, closedSharding, closedVersion:
		*s = session{}
		return refused(fmt.Sprintf("Discord refuses the gateway connection (code %d): the bot is in too many servers for one connection, or this version of Deckhand is too old", code))
	case closedSequence, closedTimeout:
		*s = session{}
	}
	if api.TokenRefused(err) {
		return api.RefusedToken(err)
	}
	return nil
}

// refused is a refusal that another attempt cannot mend.
func refused(text string) error { return fmt.Errorf("%s: %w", text, bot.ErrRefused) }

// connect opens a connection and reads it until it ends.
func (cfg *Config) connect(ctx context.Context, s *session) error {
	conn, err := cfg.dial(ctx, s)
	if err != nil {
		return err
	}
	c := &connection{cfg: cfg, conn: conn, session: s}
	stop := context.AfterFunc(ctx, func() { c.close(websocket.CloseNormalClosure) })
	var beats sync.WaitGroup
	over, end := context.WithCancel(ctx)
	err = c.read(over, &beats)
	stop()
	end()
	c.close(closeToResume)
	beats.Wait()
	return err
}

// dial opens a connection: where the session is to be resumed, else where
// Discord says.
func (cfg *Config) dial(ctx context.Context, s *session) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Hello)
	defer cancel()
	target := s.url
	if target == "" {
		address, err := Address(ctx, cfg.Client)
		if err != nil {
			return nil, err
		}
		target = address
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return nil, errNoAddress
	}
	u.RawQuery = "v=" + discordgo.APIVersion + "&encoding=json"
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: cfg.Hello}
	conn, resp, err := dialer.DialContext(ctx, u.String(), nil)
	if resp != nil {
		_ = resp.Body.Close() // gorilla has read what there is
	}
	if err != nil {
		s.url = "" // the next attempt asks anew
		return nil, fmt.Errorf("open Discord's gateway: %w", err)
	}
	conn.SetReadLimit(maxFrame)
	return conn, nil
}

var errNoAddress = errors.New("Discord names no address of its gateway; is DISCORD_API_URL right?") //nolint:staticcheck // a name

// Address asks where the gateway is.
func Address(ctx context.Context, client *api.Client) (string, error) {
	var found struct {
		URL string `json:"url"`
	}
	if err := client.Call(ctx, http.MethodGet, discordgo.EndpointGateway, nil, &found); err != nil {
		return "", fmt.Errorf("ask Discord for its gateway: %w", err)
	}
	if u, err := url.Parse(found.URL); err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return "", errNoAddress
	}
	return found.URL, nil
}
