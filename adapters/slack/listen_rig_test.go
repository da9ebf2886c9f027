package slack

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

// notebook is a store's names.
type notebook struct {
	mu    sync.Mutex
	names map[string]string
}

func (n *notebook) Value(_ context.Context, name string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names[name], nil
}

func (n *notebook) Values(_ context.Context, prefix string) (map[string]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := maps.Clone(n.names)
	maps.DeleteFunc(list, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
	return list, nil
}

func (n *notebook) SetValue(_ context.Context, name, value string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names = map[string]string{}
	}
	n.names[name] = value
	return nil
}

// diary is what was logged.
type diary struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.Write(p)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.String()
}

// rig is a workspace with the bot listening in it, and everything it heard once:
// as the desk does, it takes an event with a key that it saw for heard.
type rig struct {
	*testing.T
	*slacktest.Server
	s      *Slack
	names  *notebook
	log    *diary
	routes http.Handler

	mu     sync.Mutex
	seen   map[string]bool
	heard  []bot.Inbound
	all    int // with repetitions
	answer func(bot.Inbound) (bot.Answer, error)
	news   chan struct{}
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
	r := &rig{T: t, names: &notebook{}, log: &diary{}, seen: map[string]bool{}, news: make(chan struct{}, 1)}
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
	cfg := Config{BotToken: r.BotToken, APIURL: r.URL() + "/api/", Names: r.names, Client: client, Log: slog.New(slog.NewTextHandler(r.log, nil))}
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
	s.in.times.first, s.in.times.drain = 10*time.Millisecond, 100*time.Millisecond
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
	go func() { ended <- s.Listen(ctx, r.hear) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.Errorf("listening ended with %v", err)
		}
	})
	r.Cleanup(r.stop)
	for deadline := time.Now().Add(time.Minute); s.Ready() != nil; {
		if time.Now().After(deadline) {
			r.Fatalf("never ready: %v\n%s", s.Ready(), r.log)
		}
		<-time.After(time.Millisecond)
	}
}

func (r *rig) hear(_ context.Context, in bot.Inbound) (bot.Answer, error) {
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	var a bot.Answer
	if answer != nil {
		var err error
		if a, err = answer(in); err != nil {
			return a, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		select {
		case r.news <- struct{}{}:
		default:
		}
	}()
	r.all++
	for _, key := range in.Keys {
		if r.seen[key] {
			return bot.Answer{}, nil
		}
	}
	for _, key := range in.Keys {
		r.seen[key] = true
	}
	r.heard = append(r.heard, in)
	return a, nil
}

// answers sets what is answered.
func (r *rig) answers(f func(bot.Inbound) (bot.Answer, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// hears waits until so many different things were heard.
func (r *rig) hears(n int) []bot.Inbound {
	r.Helper()
	late := time.After(time.Minute)
	for {
		r.mu.Lock()
		heard := r.heard
		r.mu.Unlock()
		if len(heard) >= n {
			return heard
		}
		select {
		case <-r.news:
		case <-late:
			r.Fatalf("heard %d things, want %d: %+v\n%s", len(heard), n, heard, r.log)
		}
	}
}

// one is the only thing that was heard.
func (r *rig) one() bot.Inbound {
	r.Helper()
	r.settled()
	heard := r.hears(1)
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
		r.Fatalf("waiting until %s: %v\n%s", what, err, r.log)
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
