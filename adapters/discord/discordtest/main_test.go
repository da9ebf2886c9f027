package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"go.uber.org/goleak"
)

// The library tries to reconnect for ever once it began to, closed or not.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/bwmarrin/discordgo.(*Session).reconnect"))
}

// open starts a Discord that ends with the test.
func open(t *testing.T, cfg Config) *Server {
	t.Helper()
	s := New(cfg)
	t.Cleanup(s.Close)
	return s
}

// away sends what is meant for Discord to the server.
type away struct {
	to   *url.URL
	next *http.Transport
}

func (a away) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = a.to.Scheme, a.to.Host, a.to.Host
	return a.next.RoundTrip(r)
}

// client is a Discord library as a bot uses it.
func client(t *testing.T, s *Server) *discordgo.Session {
	t.Helper()
	d, err := discordgo.New("Bot " + s.Token)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	next := &http.Transport{}
	t.Cleanup(next.CloseIdleConnections)
	d.Client = &http.Client{Transport: away{to, next}, Timeout: 20 * time.Second}
	d.ShouldRetryOnRateLimit = false
	d.MaxRestRetries = 0
	d.LogLevel = -1
	return d
}

// connect opens a session until the test ends; its events come in their order.
func connect(t *testing.T, s *Server, intents discordgo.Intent) (*discordgo.Session, <-chan *discordgo.Event) {
	t.Helper()
	d := client(t, s)
	d.Identify.Intents = intents
	d.SyncEvents = true
	events := make(chan *discordgo.Event, 512)
	d.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { events <- e })
	settled := beats(t, s)
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	settled()
	return d, events
}

const plainIntents = discordgo.IntentsAllWithoutPrivileged

// beats waits for the next heartbeat. Until its first one the library closes a
// new connection in place of one that was cut.
func beats(t *testing.T, s *Server) (settled func()) {
	t.Helper()
	before := s.Heartbeats()
	return func() { wait(t, s, "a heartbeat came", func() bool { return s.Heartbeats() > before }) }
}

// wait fails the test when cond does not come to hold.
func wait(t *testing.T, s *Server, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Wait(ctx, cond); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// next is the next event of a kind; others are passed over.
func next[T any](t *testing.T, events <-chan *discordgo.Event, kind string) T {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e := <-events:
			if e.Type != kind {
				continue
			}
			var v T
			if err := json.Unmarshal(e.RawData, &v); err != nil {
				t.Fatalf("decoding %s: %v", kind, err)
			}
			return v
		case <-late:
			t.Fatalf("no %s came within ten seconds", kind)
		}
	}
}

// refused checks the status and the code of an error and gives its body.
func refused(t *testing.T, err error, status, code int) string {
	t.Helper()
	var re *discordgo.RESTError
	if !errors.As(err, &re) {
		t.Fatalf("got %v, want an error with code %d", err, code)
	}
	got := 0
	if re.Message != nil {
		got = re.Message.Code
	}
	if re.Response.StatusCode != status || got != code {
		t.Fatalf("got %d %s, want %d with code %d", re.Response.StatusCode, re.ResponseBody, status, code)
	}
	return string(re.ResponseBody)
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// deckhand registers the commands that the tests give.
func deckhand(t *testing.T, d *discordgo.Session) {
	t.Helper()
	_, err := d.ApplicationCommandBulkOverwrite(App, Guild, []*discordgo.ApplicationCommand{
		{Name: "deckhand", Description: "Work with Deckhand", Options: []*discordgo.ApplicationCommandOption{
			{Type: 1, Name: "run", Description: "Start a goal", Options: []*discordgo.ApplicationCommandOption{
				{Type: 3, Name: "goal", Description: "What to do", Required: true},
				{Type: 10, Name: "budget", Description: "Dollars"},
				{Type: 6, Name: "approver", Description: "Who approves"},
				{Type: 11, Name: "file", Description: "A file"},
			}},
			{Type: 1, Name: "stop", Description: "Stop a run", Options: []*discordgo.ApplicationCommandOption{
				{Type: 3, Name: "run", Description: "Which", Required: true, Autocomplete: true},
			}},
		}},
		{Name: "Make this a goal", Type: discordgo.MessageApplicationCommand},
	})
	ok(t, err)
}
