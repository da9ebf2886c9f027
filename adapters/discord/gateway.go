package discord

import (
	"context"
	"errors"
	"fmt"
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

// The library's own gateway is not used: it waits for HELLO for ever, panics at
// the frame "null", hides why it was closed, and its pauses take no notice of a
// context.

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
	errInvalid = errors.New("Discord refuses the session")
	errAsked   = errors.New("Discord asks for a new connection")
)

// session is what a new connection resumes.
type session struct {
	id, url  string
	sequence int64
}

// gateway keeps a connection until ctx ends.
func (d *Discord) gateway(ctx context.Context) error {
	backoff := d.in.times.pauses()
	var s session
	for first := true; ; {
		began := time.Now()
		err := d.connect(ctx, &s)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was to end
		}
		first = first && s.id == ""
		refusal := d.closed(&s, err)
		if first && refusal != nil {
			return refusal
		}
		d.in.unlink(err)
		lived := time.Since(began) >= d.in.times.settled
		pause := time.Duration(0)
		switch {
		case errors.Is(err, errInvalid):
			pause = d.in.times.invalid/3 + rand.N(d.in.times.invalid)
		case errors.Is(err, errAsked), lived:
			backoff.Reset()
		default:
			pause = backoff.After(err)
		}
		if refusal != nil {
			pause = max(pause, d.in.times.longest/2)
		}
		d.log.Info("the connection to Discord ended; connecting again", "error", err, "resumes", s.id != "", "pause", pause)
		if !wait.Sleep(ctx, pause) {
			return nil
		}
	}
}

// closed learns from how a connection ended whether the session goes on. The
// error says that Discord refuses the bot for good.
func (d *Discord) closed(s *session, err error) error {
	code := 0
	if end, is := errors.AsType[*websocket.CloseError](err); is {
		code = end.Code
	}
	switch code {
	case closedToken:
		*s = session{}
		d.noteRefused()
		return refusedGateway("DISCORD_TOKEN is refused by the gateway; reset the token on the application's page \"Bot\" and set the new one")
	case closedIntents, closedDenied:
		*s = session{}
		return refusedGateway("Discord refuses the gateway's intents; switch on \"Message Content Intent\" on the application's page \"Bot\", or switch it off here")
	case closedShard, closedSharding, closedVersion:
		*s = session{}
		return refusedGateway(fmt.Sprintf("Discord refuses the gateway connection (code %d): the bot is in too many servers for one connection, or this version of Deckhand is too old", code))
	case closedSequence, closedTimeout:
		*s = session{}
	}
	if api.TokenRefused(err) {
		return api.RefusedToken(err)
	}
	return nil
}

// noteRefused notes that the gateway refused the token; the API is asked until
// it accepts it again.
func (d *Discord) noteRefused() {
	d.in.mu.Lock()
	before := d.in.refused
	d.in.refused = fmt.Errorf("DISCORD_TOKEN is refused by the gateway: %w; reset the token on the application's page \"Bot\" and set the new one", bot.ErrRefused)
	d.in.mu.Unlock()
	if before == nil {
		d.log.Error("Discord refuses the bot's token; trying again until it is accepted", "variable", "DISCORD_TOKEN")
		ingest.Signal(d.in.revoked)
	}
}

// connect opens a connection and reads it until it ends.
func (d *Discord) connect(ctx context.Context, s *session) error {
	conn, err := d.dialGateway(ctx, s)
	if err != nil {
		return err
	}
	l := &gatewayLink{d: d, conn: conn, session: s}
	stop := context.AfterFunc(ctx, func() { l.close(websocket.CloseNormalClosure) })
	var beats sync.WaitGroup
	over, end := context.WithCancel(ctx)
	err = l.read(over, &beats)
	stop()
	end()
	l.close(closeToResume)
	beats.Wait()
	return err
}

// dialGateway opens a connection: where the session is to be resumed, else
// where Discord says.
func (d *Discord) dialGateway(ctx context.Context, s *session) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.in.times.hello)
	defer cancel()
	target := s.url
	if target == "" {
		var found struct {
			URL string `json:"url"`
		}
		if err := d.api.Call(ctx, http.MethodGet, discordgo.EndpointGateway, nil, &found); err != nil {
			return nil, fmt.Errorf("ask Discord for its gateway: %w", err)
		}
		target = found.URL
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return nil, errors.New("Discord names no address of its gateway; is DISCORD_API_URL right?")
	}
	u.RawQuery = "v=" + discordgo.APIVersion + "&encoding=json"
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: d.in.times.hello}
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
