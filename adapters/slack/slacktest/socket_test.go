package slacktest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

func inner(t *testing.T, ev socketmode.Event) slackevents.EventsAPIInnerEvent {
	t.Helper()
	outer, ok := ev.Data.(slackevents.EventsAPIEvent)
	if !ok {
		t.Fatalf("got %T (%v), want an event of the Events API", ev.Data, ev.Data)
	}
	return outer.InnerEvent
}

// as is the next event, which must be of a type.
func as[T any](t *testing.T, events <-chan socketmode.Event) *T {
	t.Helper()
	in := inner(t, next(t, events))
	out, ok := in.Data.(*T)
	if !ok {
		t.Fatalf("got %T, want %T", in.Data, out)
	}
	return out
}

func acked(s *Server) int {
	n := 0
	for _, d := range s.Deliveries() {
		if !d.Acked.IsZero() {
			n++
		}
	}
	return n
}

func TestMentionArrivesTwice(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	events := connect(t, s, nil)
	ts := s.Mention(Ann, General, "", "what is up?")

	mention := as[slackevents.AppMentionEvent](t, events)
	if mention.TimeStamp != ts || mention.User != Ann || mention.Channel != General || !strings.HasPrefix(mention.Text, "<@UBOT> ") {
		t.Fatalf("mention: %+v", mention)
	}
	message := as[slackevents.MessageEvent](t, events)
	if message.TimeStamp != ts || message.ChannelType != "channel" || len(message.Blocks.BlockSet) != 1 {
		t.Fatalf("message: %+v", message)
	}
	wait(t, s, "both are acknowledged", func() bool { return acked(s) == 2 })
	d := s.Deliveries()
	if d[0].EventID == d[1].EventID || d[0].Latency <= 0 || d[1].Latency <= 0 {
		t.Errorf("deliveries: %+v", d)
	}
}

func TestWhichEventsAMentionCauses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mentions Mentions
		want     []string
	}{
		{BothEvents, []string{"app_mention", "message"}},
		{MessageFirst, []string{"message", "app_mention"}},
		{OnlyAppMention, []string{"app_mention"}},
		{OnlyMessage, []string{"message"}},
	} {
		s := open(t, Config{Mentions: tt.mentions})
		s.Mention(Ann, General, "", "hello")
		var got []string
		for _, d := range s.Deliveries() {
			got = append(got, d.Type)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d: %v, want %v", tt.mentions, got, tt.want)
		}
	}
}

func TestRedeliveryUntilAcknowledged(t *testing.T) {
	t.Parallel()
	s := open(t, Config{AckWithin: 30 * time.Millisecond, Redeliver: []time.Duration{0, 10 * time.Millisecond, 20 * time.Millisecond}})
	var seen atomic.Int32
	events := connect(t, s, func(socketmode.Event) any {
		if seen.Add(1) < 3 {
			return silent
		}
		return nil
	})
	s.DM(Ann, "hello")
	var ids, envelopes []string
	for attempt := range 3 {
		ev := next(t, events)
		if ev.Request.RetryAttempt != attempt || (ev.Request.RetryReason == "timeout") != (attempt > 0) {
			t.Errorf("attempt %d: %+v", attempt, ev.Request)
		}
		var body struct {
			EventID string `json:"event_id"`
		}
		if err := json.Unmarshal(ev.Request.Payload, &body); err != nil {
			t.Fatal(err)
		}
		ids, envelopes = append(ids, body.EventID), append(envelopes, ev.Request.EnvelopeID)
	}
	if ids[0] != ids[1] || ids[1] != ids[2] || len(slices.Compact(envelopes)) != 3 {
		t.Errorf("events %v in envelopes %v", ids, envelopes)
	}
	wait(t, s, "it is acknowledged", func() bool { return acked(s) == 1 })
}

func TestGivesUpAfterThreeRedeliveries(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Redeliver: []time.Duration{0, 0, 0}})
	s.DM(Ann, "is anybody there?")
	wait(t, s, "four attempts have failed", func() bool {
		d := s.Deliveries()
		return len(d) == 4 && d[3].Attempt == 3 && d[3].Error == "no_connection"
	})
	connect(t, s, nil)
	if n := len(s.Deliveries()); n != 4 {
		t.Errorf("%d attempts, want 4", n)
	}
}

func TestDroppedSocketRedelivers(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Redeliver: []time.Duration{time.Millisecond, 300 * time.Millisecond, time.Second}})
	var first atomic.Bool
	events := connect(t, s, func(socketmode.Event) any {
		if first.CompareAndSwap(false, true) {
			return silent
		}
		return nil
	})
	s.DM(Ann, "hello")
	next(t, events)
	s.DropSockets()
	if ev := next(t, events); ev.Request.RetryAttempt == 0 {
		t.Errorf("the second one is no redelivery: %+v", ev.Request)
	}
	wait(t, s, "it is acknowledged", func() bool { return acked(s) == 1 })
	if d := s.Deliveries(); d[0].Error != "connection_closed" || d[0].Link == d[len(d)-1].Link {
		t.Errorf("deliveries: %+v", d)
	}
}

func TestRefreshMovesToANewSocket(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Refresh: 10 * time.Millisecond})
	events := connect(t, s, nil)
	s.Disconnect("refresh_requested")
	wait(t, s, "the second socket is there alone", func() bool {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		return s.linkSeq == 2 && len(s.links) == 1 && s.links[0].ready
	})
	s.DM(Ann, "still there?")
	next(t, events)
	if d := s.Deliveries(); d[0].Link != 2 {
		t.Errorf("deliveries: %+v", d)
	}
}

func TestTenSocketsShareTheEvents(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	for range maxLinks {
		connect(t, s, nil)
	}
	for i := range 20 {
		s.DM(Ann, strconv.Itoa(i))
	}
	wait(t, s, "all is acknowledged", func() bool { return acked(s) == 20 })
	used := map[int]int{}
	for _, d := range s.Deliveries() {
		used[d.Link]++
	}
	if len(used) != maxLinks {
		t.Errorf("events went to %d sockets: %v", len(used), used)
	}

	url := dialURL(t, s)
	ws, err := dial(t, url)
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Type, Reason string }
	if err := ws.ReadJSON(&said); err != nil || said.Type != "disconnect" || said.Reason != "too_many_websockets" {
		t.Errorf("the eleventh socket got %+v, %v", said, err)
	}
	if _, err := dial(t, url); err == nil {
		t.Error("a ticket worked twice")
	}
}

// dial opens a socket without a library; it ends with the test.
func dial(t *testing.T, url string) (*websocket.Conn, error) {
	t.Helper()
	ws, resp, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	if resp != nil {
		_ = resp.Body.Close()
	}
	if err == nil {
		t.Cleanup(func() { _ = ws.Close() })
	}
	return ws, err
}

func dialURL(t *testing.T, s *Server) string {
	t.Helper()
	_, url, err := client(s).StartSocketModeContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func TestHelloPingMuteAndGarbage(t *testing.T) {
	t.Parallel()
	s := open(t, Config{PingEvery: 5 * time.Millisecond})
	s.Mute(1)
	socket := func() *websocket.Conn {
		ws, err := dial(t, dialURL(t, s))
		if err != nil {
			t.Fatal(err)
		}
		return ws
	}
	pinged := make(chan struct{}, 100)
	mute := socket()
	mute.SetPingHandler(func(string) error { pinged <- struct{}{}; return nil })
	got := make(chan []byte, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, b, err := mute.ReadMessage()
		if err == nil {
			got <- b
		}
	}()
	for range 3 {
		<-pinged
	}
	loud := socket()
	var hello socketmode.Request
	if err := loud.ReadJSON(&hello); err != nil || hello.Type != "hello" || hello.NumConnections != 2 || hello.ConnectionInfo.AppID != App || hello.DebugInfo.ApproximateConnectionTime == 0 {
		t.Errorf("hello: %+v, %v", hello, err)
	}
	if s.Connections() != 1 {
		t.Errorf("%d greeted connections, want 1", s.Connections())
	}
	s.Garbage(`{"type":`)
	if b := <-got; string(b) != `{"type":` {
		t.Errorf("the mute socket read %q before the garbage", b)
	}
	<-read
}

func TestUnknownEventAndLargeAcknowledgement(t *testing.T) {
	t.Parallel()
	s := open(t, Config{AckWithin: 50 * time.Millisecond, Redeliver: []time.Duration{}})
	ws, err := dial(t, dialURL(t, s))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, s, "the socket is greeted", func() bool { return s.Connections() == 1 })
	s.Raw(map[string]any{"type": "brand_new_event", "channel": General})
	s.Raw(map[string]any{"type": "brand_new_event", "channel": General})
	payload := strings.Repeat("x", maxResponse)
	for i := 0; i < 2; {
		var req socketmode.Request
		if err := ws.ReadJSON(&req); err != nil {
			t.Fatal(err)
		}
		if req.Type != kindEvents {
			continue
		}
		if err := ws.WriteJSON(socketmode.Response{EnvelopeID: req.EnvelopeID, Payload: payload}); err != nil {
			t.Fatal(err)
		}
		payload = "" // the second one is small enough
		i++
	}
	wait(t, s, "one is acknowledged and the other not", func() bool {
		d := s.Deliveries()
		return d[0].Error == "timeout" && !d[1].Acked.IsZero()
	})
}
