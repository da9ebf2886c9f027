package discord

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
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

// rig is a Discord with the bot listening in it, and what it heard.
type rig struct {
	*testing.T
	*discordtest.Server
	*adaptertest.Recorder

	d      *Discord
	routes http.Handler
	stop   func()
}

// ways are the ways in for interactions.
var ways = map[string]discordtest.Config{"gateway": {}, "http": {Deliver: "x"}}

// each runs a test over every way in.
func each(t *testing.T, test func(t *testing.T, world discordtest.Config)) {
	t.Helper()
	for name, world := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, world)
		})
	}
}

// listen opens a Discord and listens in it.
func listen(t *testing.T, world discordtest.Config, change func(*Config)) *rig {
	t.Helper()
	r := enter(t, world, change)
	r.begin()
	return r
}

// enter opens a Discord in which the bot does not listen yet.
func enter(t *testing.T, world discordtest.Config, change func(*Config)) *rig {
	t.Helper()
	r := &rig{T: t, Recorder: adaptertest.NewRecorder(t)}
	if world.Deliver != "" {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.routes.ServeHTTP(w, q) }))
		t.Cleanup(front.Close)
		world.Deliver = front.URL
	}
	world.Limits.Off = true
	r.Server = discordtest.New(world)
	t.Cleanup(r.Close)
	r.open(change, world.Deliver == "")
	return r
}

// open makes another process of the bot.
func (r *rig) open(change func(*Config), gateway bool) {
	r.Helper()
	r.d = r.another(change, gateway)
	mux := http.NewServeMux()
	for path, h := range r.d.Routes() {
		mux.Handle(path, h)
	}
	r.routes = mux
}

func (r *rig) another(change func(*Config), gateway bool) *Discord {
	r.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	r.Cleanup(client.CloseIdleConnections)
	cfg := Config{Token: r.Token, APIURL: r.URL() + "/api", GuildID: discordtest.Guild, Gateway: gateway, Names: r.Names, Client: client,
		Log: slog.New(slog.NewTextHandler(r.Log, nil))}
	if !gateway {
		cfg.PublicKey = r.PublicKey
	}
	if change != nil {
		change(&cfg)
	}
	d, err := New(r.Context(), cfg)
	if err != nil {
		r.Fatal(err)
	}
	d.in.times.first, d.in.times.invalid, d.in.times.failed = 10*time.Millisecond, 30*time.Millisecond, 20*time.Millisecond
	return d
}

// begin listens until the test or stop ends it.
func (r *rig) begin() {
	r.Helper()
	r.stop = r.beginWith(r.d)
}

func (r *rig) beginWith(d *Discord) (stop func()) {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Listen(ctx, r.Hear) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.Errorf("listening ended with %v", err)
		}
	})
	r.Cleanup(stop)
	for deadline := time.Now().Add(time.Minute); d.Ready() != nil; {
		if time.Now().After(deadline) {
			r.Fatalf("never ready: %v\n%s", d.Ready(), r.Log)
		}
		<-time.After(time.Millisecond)
	}
	return stop
}

func (r *rig) until(what string, cond func() bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	if err := r.Wait(ctx, cond); err != nil {
		r.Fatalf("waiting until %s: %v\n%s", what, err, r.Log)
	}
}

// whisper waits for the newest words that a person alone was shown.
func (r *rig) whisper(user string) string {
	r.Helper()
	var text string
	r.until(user+" is told something", func() bool {
		list := r.Ephemerals(user)
		if len(list) == 0 {
			return false
		}
		text = list[len(list)-1].Text()
		return text != ""
	})
	return text
}

var errAway = errors.New("the store is away")

// saying is the act as a message.
func saying(t *testing.T, in bot.Inbound) bot.Said {
	t.Helper()
	s, is := in.Act.(bot.Said)
	if !is {
		t.Fatalf("heard %T, want something said", in.Act)
	}
	return s
}
