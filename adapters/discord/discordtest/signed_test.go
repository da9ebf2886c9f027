package discordtest

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
)

// endpoint is an app that takes interactions over HTTP.
func endpoint(t *testing.T, s *Server, answer func(*discordgo.Interaction) (int, string)) *httptest.Server {
	t.Helper()
	key, err := hex.DecodeString(s.PublicKey)
	ok(t, err)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, _ := strconv.ParseInt(r.Header.Get("X-Signature-Timestamp"), 10, 64)
		if r.URL.Path != "/discord/interactions" || !discordgo.VerifyInteraction(r, ed25519.PublicKey(key)) || time.Since(time.Unix(at, 0)) > time.Minute {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		b, _ := io.ReadAll(r.Body)
		var i discordgo.Interaction
		if err := json.Unmarshal(b, &i); err != nil {
			t.Errorf("decoding %s: %v", b, err)
		}
		status, body := http.StatusOK, `{"type":1}`
		if i.Type != discordgo.InteractionPing {
			status, body = answer(&i)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	s.DeliverTo(srv.URL)
	return srv
}

func TestSignedInteractions(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	d, events := connect(t, s, plainIntents)
	deckhand(t, d)
	endpoint(t, s, func(i *discordgo.Interaction) (int, string) {
		return 200, `{"type":4,"data":{"content":"hello ` + i.Member.User.ID + `","flags":64}}`
	})
	ok(t, s.Ping(t.Context()))
	status, _, err := s.SendPing(t.Context(), time.Now().Add(-time.Hour), false)
	ok(t, err)
	if status != 401 {
		t.Fatalf("a stale PING: %d", status)
	}
	ok(t, s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}))
	if e := s.Ephemerals(Ann); len(e) != 1 || e[0].Content != "hello "+Ann {
		t.Fatalf("got %+v", e)
	}
	id := s.Mention(Ann, General, "over the gateway")
	for {
		e := <-events
		if e.Type == "INTERACTION_CREATE" {
			t.Fatal("an interaction came over the gateway too")
		}
		if e.Type == "MESSAGE_CREATE" && strings.Contains(string(e.RawData), id) {
			return
		}
	}
}

func TestAnEndpointThatAnswersLaterOrBadly(t *testing.T) {
	t.Parallel()
	s := open(t, Config{AckWithin: 300 * time.Millisecond})
	d := client(t, s)
	deckhand(t, d)
	late := make(chan *discordgo.Interaction, 1)
	answers := []struct {
		status int
		body   string
	}{{202, ""}, {500, ""}, {200, "nonsense"}, {200, `{"type":4,"data":{}}`}}
	endpoint(t, s, func(i *discordgo.Interaction) (int, string) {
		a := answers[0]
		answers = answers[1:]
		if a.status == 202 {
			late <- i
		}
		return a.status, a.body
	})
	done := make(chan error, 1)
	go func() { done <- s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}) }()
	ok(t, d.InteractionRespond(<-late, say("over REST", 0)))
	ok(t, <-done)
	for range 3 {
		if err := s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}); !errors.Is(err, ErrNotAnswered) {
			t.Fatalf("got %v", err)
		}
	}
}

func TestAnInteractionThatComesTwiceOverHTTP(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	deckhand(t, client(t, s))
	seen := make(chan string, 2)
	endpoint(t, s, func(i *discordgo.Interaction) (int, string) {
		seen <- i.ID
		return http.StatusOK, `{"type":4,"data":{"content":"once"}}`
	})
	s.FailEvents(1, EventFault{Twice: true})
	ok(t, s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}))
	if one, two := <-seen, <-seen; one != two {
		t.Fatalf("got %s and %s", one, two)
	}
	if got := len(s.FromBot()); got != 1 {
		t.Fatalf("%d answers", got)
	}
}
