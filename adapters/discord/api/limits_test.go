package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

func TestRoutesShareTheirLimits(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		discordgo.EndpointChannelMessage("1", "2"):                   "PUT channels/1/messages/-",
		discordgo.EndpointChannelMessages("1") + "?limit=5":          "PUT channels/1/messages",
		discordgo.EndpointMessageReaction("1", "2", "%F0%9F", "@me"): "PUT channels/1/messages/-/reactions",
		discordgo.EndpointGuildMember("3", "4"):                      "PUT guilds/3/members/-",
		discordgo.EndpointFollowupMessage("5", "secret"):             "PUT webhooks/5/secret",
	} {
		if got, free := routeOf(http.MethodPut, endpoint); got != want || free {
			t.Errorf("%s is %q, free %v, want %q", endpoint, got, free, want)
		}
	}
	if _, free := routeOf(http.MethodPost, discordgo.EndpointInteractionResponse("1", "t")); !free {
		t.Error("the first response to an interaction waits for its turn")
	}
}

func headers(list ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(list); i += 2 {
		h.Set(list[i], list[i+1])
	}
	return h
}

func TestLimitsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits()
		at := discordgo.EndpointChannelMessages("1")
		if err := l.learn(http.MethodPost, at, http.StatusOK, headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "2.5")); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var busy *bot.BusyError
		if err := l.wait(short, http.MethodPost, at); !errors.As(err, &busy) || busy.After != 2500*time.Millisecond {
			t.Errorf("with too little time: %v", err)
		}
		began := time.Now()
		if err := l.wait(t.Context(), http.MethodPost, at); err != nil || time.Since(began) != 2500*time.Millisecond {
			t.Errorf("waited %v, %v", time.Since(began), err)
		}
		if err := l.wait(t.Context(), http.MethodPost, discordgo.EndpointChannelMessages("2")); err != nil || time.Since(began) != 2500*time.Millisecond {
			t.Errorf("another channel waited, too: %v", err)
		}
		stopped, stop := context.WithCancel(t.Context())
		_ = l.learn(http.MethodPost, at, http.StatusTooManyRequests, headers("Retry-After", "60", "X-RateLimit-Bucket", "b"))
		time.AfterFunc(time.Second, stop)
		if err := l.wait(stopped, http.MethodPost, at); !errors.Is(err, context.Canceled) {
			t.Errorf("the wait does not end with its context: %v", err)
		}
	})
}

func TestRefusalsForAllStopEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits()
		for _, list := range [][]string{
			{"Retry-After", "3", "X-RateLimit-Global", "true", "X-RateLimit-Bucket", "b"}, {"Retry-After", "3", "X-RateLimit-Scope", "global", "X-RateLimit-Bucket", "b"}, {"Retry-After", "3"},
		} {
			var busy *bot.BusyError
			if err := l.learn(http.MethodPost, discordgo.EndpointChannelMessages("1"), http.StatusTooManyRequests, headers(list...)); !errors.As(err, &busy) || busy.After != 3*time.Second {
				t.Errorf("%v: %v", list, err)
			}
			began := time.Now()
			if err := l.wait(t.Context(), http.MethodGet, discordgo.EndpointGuild("9")); err != nil || time.Since(began) != 3*time.Second {
				t.Errorf("%v: waited %v, %v", list, time.Since(began), err)
			}
		}
		began := time.Now()
		for range perSecond + 1 {
			if err := l.wait(t.Context(), http.MethodGet, discordgo.EndpointGuild("9")); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(began); got < 900*time.Millisecond || got > time.Second {
			t.Errorf("%d calls took %v", perSecond+1, got)
		}
	})
}

func TestLimitsForgetRoutes(t *testing.T) {
	t.Parallel()
	l := newLimits()
	for i := range 3 * maxRoutes {
		_ = l.learn(http.MethodGet, discordgo.EndpointChannel(strconv.Itoa(i)), http.StatusOK, headers("X-RateLimit-Remaining", "1", "X-RateLimit-Reset-After", "0.001"))
	}
	if len(l.routes) > maxRoutes {
		t.Errorf("%d routes are kept", len(l.routes))
	}
}

func TestErrorsNameNoAddress(t *testing.T) {
	t.Parallel()
	c, err := New(Options{Token: "x", URL: "http://127.0.0.1:1/api", HTTP: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Call(t.Context(), http.MethodGet, discordgo.EndpointFollowupMessage("1", "secret"), nil, nil)
	if address, is := errors.AsType[*url.Error](err); err == nil || is {
		t.Errorf("%v names %v", err, address)
	}
}
