package slack

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/adaptertest"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

// rig is a workspace with the bot listening in it, and what it heard.
type rig struct {
	*testing.T
	*slacktest.Server
	*adaptertest.Recorder

	s      *Slack
	routes http.Handler
	stop   func()
}

// modes are the ways in.
var modes = map[string]slacktest.Config{"socket": {}, "http": {Deliver: "x"}}

// listen opens a workspace and listens in it.
func listen(t *testing.T, world slacktest.Config, change func(*Config)) *rig {
	t.Helper()
	r := enter(t, world, change)
	r.begin()
	return r
}

// enter opens a workspace in which the bot does not listen yet.
func enter(t *testing.T, world slacktest.Config, change func(*Config)) *rig {
	t.Helper()
	r := &rig{T: t, Recorder: adaptertest.NewRecorder(t)}
	if world.Deliver != "" {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.routes.ServeHTTP(w, q) }))
		t.Cleanup(front.Close)
		world.Deliver = front.URL
	}
	world.Limits.Off = true
	if world.AckWithin == 0 {
		world.AckWithin = 500 * time.Millisecond
	}
	r.Server = slacktest.New(world)
	t.Cleanup(r.Close)
	r.open(change, world.Deliver == "")
	return r
}

// open makes another process of the bot.
func (r *rig) open(change func(*Config), socket bool) {
	r.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	r.Cleanup(client.CloseIdleConnections)
	cfg := Config{BotToken: r.BotToken, APIURL: r.URL() + "/api/", Names: r.Names, Client: client, Log: slog.New(slog.NewTextHandler(r.Log, nil))}
	if socket {
		cfg.AppToken = r.AppToken
	} else {
		cfg.SigningSecret = r.SigningSecret
	}
	if change != nil {
		change(&cfg)
	}
	s, err := New(r.Context(), cfg)
	if err != nil {
		r.Fatal(err)
	}
	s.in.times.first, s.in.times.Drain = 10*time.Millisecond, 100*time.Millisecond
	mux := http.NewServeMux()
	for path, h := range s.Routes() {
		mux.Handle(path, h)
	}
	r.s, r.routes = s, mux
}

// begin listens until the test or stop ends it.
func (r *rig) begin() {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := r.s
	go func() { ended <- s.Listen(ctx, r.Hear) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.Errorf("listening ended with %v", err)
		}
	})
	r.Cleanup(r.stop)
	for deadline := time.Now().Add(time.Minute); s.Ready() != nil; {
		if time.Now().After(deadline) {
			r.Fatalf("never ready: %v\n%s", s.Ready(), r.Log)
		}
		<-time.After(time.Millisecond)
	}
}

// one is the only thing that was heard.
func (r *rig) one() bot.Inbound {
	r.Helper()
	r.settled()
	heard := r.Hears(1)
	if len(heard) != 1 {
		r.Fatalf("heard %d things, want one: %+v", len(heard), heard)
	}
	return heard[0]
}

// settled waits until every delivery is acknowledged.
func (r *rig) settled() {
	r.Helper()
	r.until("every event is acknowledged", func() bool {
		acked := map[string]bool{}
		for _, d := range r.Deliveries() {
			acked[d.EventID+d.Type] = acked[d.EventID+d.Type] || !d.Acked.IsZero()
		}
		for _, ok := range acked {
			if !ok {
				return false
			}
		}
		return len(acked) > 0
	})
}

func (r *rig) until(what string, cond func() bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	if err := r.Wait(ctx, cond); err != nil {
		r.Fatalf("waiting until %s: %v\n%s", what, err, r.Log)
	}
}

var errAway = errors.New("the store is away")

// said is the act as a message.
func said(t *testing.T, in bot.Inbound) bot.Said {
	t.Helper()
	s, is := in.Act.(bot.Said)
	if !is {
		t.Fatalf("heard %T, want something said", in.Act)
	}
	return s
}
