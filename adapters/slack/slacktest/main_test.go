package slacktest

import (
	"context"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open starts a workspace that ends with the test.
func open(t *testing.T, cfg Config) *Server {
	t.Helper()
	s := New(cfg)
	t.Cleanup(s.Close)
	return s
}

// client is a Slack library as a bot uses it.
func client(s *Server) *slack.Client {
	return slack.New(s.BotToken, slack.OptionAPIURL(s.URL()+"/api/"), slack.OptionAppLevelToken(s.AppToken))
}

// send is any method of the chat family; it returns the timestamp.
func send(s *Server, channel string, options ...slack.MsgOption) (string, error) {
	_, ts, _, err := client(s).SendMessage(channel, options...)
	return ts, err
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

// connect runs a socket-mode client until the test ends. Every envelope is
// given to answer, whose result goes back with the acknowledgement; a nil
// answer acknowledges everything.
func connect(t *testing.T, s *Server, answer func(socketmode.Event) any) <-chan socketmode.Event {
	t.Helper()
	before := s.Connections()
	sm := socketmode.New(client(s))
	ctx, cancel := context.WithCancel(context.Background())
	ran, read := make(chan struct{}), make(chan struct{})
	out := make(chan socketmode.Event, 256)
	go func() { defer close(ran); _ = sm.RunContext(ctx) }() // ends with ctx
	go func() {
		defer close(read)
		for {
			select {
			case <-ctx.Done():
				return
			case ev := <-sm.Events:
				if ev.Request == nil || ev.Request.EnvelopeID == "" {
					continue
				}
				var payload any
				if answer != nil {
					payload = answer(ev)
				}
				if payload == silent {
					out <- ev
					continue
				}
				if err := sm.AckCtx(ctx, ev.Request.EnvelopeID, payload); err != nil && ctx.Err() == nil {
					t.Errorf("acknowledging: %v", err)
				}
				out <- ev
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-ran; <-read })
	wait(t, s, "the socket is greeted", func() bool { return s.Connections() > before })
	return out
}

// silent is the answer that is none.
var silent = new(int)

func next(t *testing.T, events <-chan socketmode.Event) socketmode.Event {
	t.Helper()
	select {
	case ev := <-events:
		return ev
	case <-time.After(time.Minute):
		t.Fatal("no event came within ten seconds")
		return socketmode.Event{}
	}
}
