package discordtest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
)

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{Routes: map[string]Rate{PostMessage: {2, time.Minute}}}})
	d := client(t, s)
	send := func(d *discordgo.Session, channel string) error {
		_, err := d.ChannelMessageSend(channel, "x")
		return err
	}
	ok(t, send(d, General))
	ok(t, send(d, General))
	ok(t, send(d, Elsewhere))
	err := send(client(t, s), General) // the same library would wait by itself
	var limited *discordgo.RateLimitError
	if !errors.As(err, &limited) || limited.RetryAfter < 50*time.Second || limited.RetryAfter > time.Minute+time.Second {
		t.Fatalf("got %v", err)
	}
	if got := s.Limited()[PostMessage]; got != 1 {
		t.Fatalf("counted %d, want 1", got)
	}
}

func TestTheHeadersOfARateLimit(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	req, err := http.NewRequest(http.MethodPost, s.URL()+"/api/v10/channels/"+General+"/messages", strings.NewReader(`{"content":"x"}`))
	ok(t, err)
	req.Header.Set("Authorization", "Bot "+s.Token)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	ok(t, err)
	_ = resp.Body.Close()
	h := resp.Header
	if h.Get("X-Ratelimit-Limit") != "5" || h.Get("X-Ratelimit-Remaining") != "4" || h.Get("X-Ratelimit-Bucket") == "" || h.Get("X-Ratelimit-Reset-After") == "" {
		t.Fatalf("got %v", h)
	}
}

func TestTheGlobalLimitAndRenames(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{Global: 1000}})
	d := client(t, s)
	th, err := d.ThreadStart(General, "work", discordgo.ChannelTypeGuildPublicThread, 1440)
	ok(t, err)
	for _, name := range []string{"a", "b"} {
		_, err = d.ChannelEdit(th.ID, &discordgo.ChannelEdit{Name: name})
		ok(t, err)
	}
	_, err = d.ChannelEdit(th.ID, &discordgo.ChannelEdit{Name: "c"})
	var limited *discordgo.RateLimitError
	if !errors.As(err, &limited) || limited.RetryAfter < 9*time.Minute {
		t.Fatalf("the third name: %v", err)
	}
	s.SetLimits(Limits{Global: 1})
	other := client(t, s)
	_, err = other.User("@me")
	ok(t, err)
	_, err = other.Channel(General)
	if !errors.As(err, &limited) || !strings.Contains(limited.Message, "rate limited") {
		t.Fatalf("the global limit: %v", err)
	}
}

func TestFaultsOfCalls(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{Off: true}})
	d := client(t, s)
	send := func() error { _, err := d.ChannelMessageSend(General, "x"); return err }
	s.Fail(PostMessage, 1, LostRequest())
	if send() == nil || len(s.Messages(General)) != 0 {
		t.Fatal("a lost request did something")
	}
	s.Fail(PostMessage, 1, BadGateway())
	s.Fail(PostMessage, 1, Unavailable())
	s.Fail("*", 1, APIError(403, 50013))
	if err := send(); err == nil || !strings.Contains(err.Error(), "502") {
		t.Fatalf("got %v", err)
	}
	if err := send(); err == nil || !strings.Contains(err.Error(), "503") {
		t.Fatalf("got %v", err)
	}
	refused(t, send(), 403, 50013)
	late := make(chan struct{})
	s.Fail(PostMessage, 1, Fault{AcceptWhen: late})
	d.Client.Timeout = 50 * time.Millisecond
	if send() == nil {
		t.Fatal("a late call was answered")
	}
	close(late)
	wait(t, s, "the late call is accepted", func() bool { return len(s.Messages(General)) == 1 })
	if got := s.Count(PostMessage); got != 5 {
		t.Fatalf("counted %d calls, want 5", got)
	}
	if _, err := d.Request("GET", discordgo.EndpointAPI+"nothing/here", nil); err == nil || len(s.Unknown()) != 1 {
		t.Fatalf("an unknown call: %v, %v", err, s.Unknown())
	}
}
