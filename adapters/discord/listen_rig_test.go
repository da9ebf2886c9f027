package discord

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

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
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

// rig is a Discord with the bot listening in it, and everything it heard once:
// as the desk does, it takes an event with a key that it saw for heard.
type rig struct {
	*testing.T
	*discordtest.Server
	d      *Discord
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
	r := &rig{T: t, names: &notebook{}, log: &diary{}, seen: map[string]bool{}, news: make(chan struct{}, 1)}
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
	cfg := Config{Token: r.Token, APIURL: r.URL() + "/api", GuildID: discordtest.Guild, Gateway: gateway, Names: r.names, Client: client,
		Log: slog.New(slog.NewTextHandler(r.log, nil))}
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
	go func() { ended <- d.Listen(ctx, r.hear) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.Errorf("listening ended with %v", err)
		}
	})
	r.Cleanup(stop)
	for deadline := time.Now().Add(time.Minute); d.Ready() != nil; {
		if time.Now().After(deadline) {
			r.Fatalf("never ready: %v\n%s", d.Ready(), r.log)
		}
		<-time.After(time.Millisecond)
	}
	return stop
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
	defer bot.Signal(r.news)
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

// always answers everything the same.
func (r *rig) always(a bot.Answer) {
	r.answers(func(bot.Inbound) (bot.Answer, error) { return a, nil })
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

// heardAll waits until so many things were heard, repetitions counted.
func (r *rig) heardAll(n int) {
	r.Helper()
	late := time.After(time.Minute)
	for {
		r.mu.Lock()
		all := r.all
		r.mu.Unlock()
		if all >= n {
			return
		}
		select {
		case <-r.news:
		case <-late:
			r.Fatalf("heard %d things with repetitions, want %d\n%s", all, n, r.log)
		}
	}
}

func (r *rig) until(what string, cond func() bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	if err := r.Wait(ctx, cond); err != nil {
		r.Fatalf("waiting until %s: %v\n%s", what, err, r.log)
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
