package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
)

func TestUnknownTypesAreAcknowledgedAndIgnored(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Raw(map[string]any{"type": "never_heard_of", "channel": map[string]any{"id": 7}})
	r.RawEnvelope("a_new_kind", []byte(`{"x":1}`))
	r.RawEnvelope(wire.KindEvent, []byte(`[]`))
	r.RawEnvelope(wire.KindInteraction, []byte(`{"type":"block_actions"}`))
	r.Garbage("not JSON {")
	r.Mention(slacktest.Ann, slacktest.General, "", "hi")
	r.one()
	if !strings.Contains(r.Log.String(), "cannot be read") {
		t.Errorf("nothing was logged of what cannot be read: %s", r.Log)
	}
}

func TestRefreshAndBrokenConnectionsLoseNothing(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{Refresh: 50 * time.Millisecond, Mentions: slacktest.OnlyAppMention}, nil)
	said := 0
	speak := func() {
		for range 5 {
			said++
			r.Mention(slacktest.Ann, slacktest.General, "", fmt.Sprint("number ", said))
		}
	}
	for _, disturb := range []func(){
		func() { r.Disconnect("refresh_requested") },
		r.DropSockets,
		func() { r.Disconnect("warning") },
		func() { r.FailEvents(2, slacktest.EventFault{DropSocket: true}) },
		func() { r.FailEvents(2, slacktest.EventFault{LostAck: true}) },
	} {
		speak()
		disturb()
		speak()
		r.Hears(said)
		r.until("there is a connection", func() bool { return r.Connections() > 0 })
	}
}

func TestARefreshOpensTheNewConnectionFirst(t *testing.T) {
	t.Parallel()
	r := enter(t, slacktest.Config{Refresh: 10 * time.Second}, nil)
	r.s.in.times.Drain = time.Minute
	r.begin()
	r.Disconnect("refresh_requested")
	r.until("there are two connections", func() bool { return r.Connections() == 2 })
	if err := r.s.Ready(); err != nil {
		t.Error(err)
	}
}

func TestASilentConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	r := enter(t, slacktest.Config{PingEvery: time.Hour}, nil)
	r.s.in.times.Silence = 50 * time.Millisecond
	r.begin()
	r.until("it was opened again", func() bool { return r.Count("apps.connections.open") > 1 })
}

func TestAConnectionThatIsNotGreetedIsGivenUp(t *testing.T) {
	t.Parallel()
	r := enter(t, slacktest.Config{}, nil)
	r.s.in.times.Hello = 50 * time.Millisecond
	r.Mute(1)
	r.begin()
	if n := r.Count("apps.connections.open"); n != 2 {
		t.Errorf("asked for %d connections, want 2", n)
	}
}

func TestReadySaysWhyNot(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Fail("apps.connections.open", 1000, slacktest.APIError("token_revoked"))
	r.DropSockets()
	late := time.After(time.Minute)
	for err := r.s.Ready(); err == nil || !strings.Contains(err.Error(), "SLACK_APP_TOKEN"); err = r.s.Ready() {
		select {
		case <-late:
			t.Fatalf("ready: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	r.Heal()
	r.until("it is connected again", func() bool { return r.Connections() > 0 })
	r.stop()
	if r.s.Ready() == nil {
		t.Error("ready after the end")
	}
}
