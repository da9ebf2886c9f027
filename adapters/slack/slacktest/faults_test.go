package slacktest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{Off: true}})
	post := func() error {
		_, _, err := client(s).PostMessage(General, slack.MsgOptionText("x", false))
		return err
	}
	var limited *slack.RateLimitedError
	var status slack.StatusCodeError
	for _, tt := range []struct {
		name     string
		fault    Fault
		happened int
		fine     func(error) bool
	}{
		{"429", RateLimited(7 * time.Second), 0, func(err error) bool { return errors.As(err, &limited) && limited.RetryAfter == 7*time.Second }},
		{"503", Unavailable(), 0, func(err error) bool { return errors.As(err, &status) && status.Code == 503 }},
		{"error", APIError("internal_error"), 0, func(err error) bool { return err != nil && err.Error() == "internal_error" }},
		{"request lost", LostRequest(), 0, func(err error) bool { return err != nil }},
		{"answer lost", LostAnswer(), 1, func(err error) bool { return err != nil }},
		{"answer late", Fault{AnswerAfter: time.Millisecond}, 1, func(err error) bool { return err == nil }},
	} {
		before := len(s.FromBot())
		s.Fail("chat.postMessage", 1, tt.fault)
		if err := post(); !tt.fine(err) || len(s.FromBot())-before != tt.happened {
			t.Errorf("%s: %v, %d posts", tt.name, err, len(s.FromBot())-before)
		}
		if err := post(); err != nil {
			t.Errorf("%s: the next call met it too: %v", tt.name, err)
		}
	}
	if n := s.Limited()["chat.postMessage"]; n != 1 {
		t.Errorf("%d answers 429, want 1", n)
	}
}

// A request whose sender is gone arrives nevertheless, and an answer that is
// held back belongs to a post that everybody can see.
func TestHeldCalls(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	accept, answer := make(chan struct{}), make(chan struct{})
	post := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, _, err := client(s).PostMessageContext(ctx, General, slack.MsgOptionText("x", false))
			done <- err
		}()
		return done
	}
	s.Fail("chat.postMessage", 1, Fault{AcceptWhen: accept})
	ctx, cancel := context.WithCancel(t.Context())
	done := post(ctx)
	wait(t, s, "the request is there", func() bool { return s.Count("chat.postMessage") == 1 })
	cancel()
	if err := <-done; err == nil {
		t.Error("the sender got an answer")
	}
	if len(s.FromBot()) != 0 {
		t.Error("it happened already")
	}
	close(accept)
	wait(t, s, "the killed sender's post is there", func() bool { return len(s.FromBot()) == 1 })

	s.Fail("*", 1, Fault{AnswerWhen: answer})
	done = post(t.Context())
	wait(t, s, "the post is there before its answer", func() bool { return len(s.FromBot()) == 2 })
	select {
	case err := <-done:
		t.Errorf("answered too early: %v", err)
	default:
	}
	close(answer)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{PostBurst: 2, PerMinute: map[string]int{"reactions.add": 3}}})
	s.AddChannel(Channel{ID: "C2", Name: "two", Members: []string{BotUser}})
	api := client(s)
	post := func(channel string) error {
		_, _, err := api.PostMessage(channel, slack.MsgOptionText("x", false))
		return err
	}
	var limited *slack.RateLimitedError
	if err := errors.Join(post(General), post(General), post("C2")); err != nil {
		t.Fatal(err)
	}
	if err := post(General); !errors.As(err, &limited) || limited.RetryAfter != time.Second {
		t.Errorf("the third post in a second: %v", err)
	}
	ts := s.Say(Ann, General, "", "x")
	for i := range 3 {
		if err := api.AddReaction(fmt.Sprint("r", i), slack.NewRefToMessage(General, ts)); err != nil {
			t.Fatal(err)
		}
	}
	if err := api.AddReaction("r3", slack.NewRefToMessage(General, ts)); !errors.As(err, &limited) || limited.RetryAfter < 19*time.Second {
		t.Errorf("the fourth reaction in a minute: %v", err)
	}
	if got := s.Limited(); got["chat.postMessage"] != 1 || got["reactions.add"] != 1 || len(got) != 2 {
		t.Errorf("429 by method: %v", got)
	}
	s.SetLimits(Limits{Off: true})
	if err := post(General); err != nil {
		t.Errorf("without limits: %v", err)
	}
}

func TestTiers(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	_, ts, err := api.PostMessage(General, slack.MsgOptionText("card", false))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 51 {
		_, err = send(s, General, slack.MsgOptionUpdate(ts), slack.MsgOptionText("x", false))
		if i < 50 && err != nil {
			t.Fatalf("update %d: %v", i, err)
		}
	}
	if _, ok := errors.AsType[*slack.RateLimitedError](err); !ok {
		t.Errorf("the 51st update in a minute: %v", err)
	}
}

func TestChaosIsDrawnFromItsSeed(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (out []string) {
		s := open(t, Config{Limits: Limits{Off: true}, Chaos: Chaos{
			Seed: seed, RateLimited: 0.2, Unavailable: 0.2, LostRequest: 0.2, LostAnswer: 0.2, LateAnswer: 0.1, LateAccept: 0.1, Delay: time.Millisecond,
		}})
		for range 30 {
			_, _, err := client(s).PostMessage(General, slack.MsgOptionText("x", false))
			out = append(out, strconv.FormatBool(err != nil))
		}
		out = append(out, fmt.Sprint(len(s.FromBot()), s.Limited()))
		s.Heal()
		if _, err := client(s).AuthTest(); err != nil {
			t.Errorf("after healing: %v", err)
		}
		return out
	}
	one, same, other := fmt.Sprint(run(1)), fmt.Sprint(run(1)), fmt.Sprint(run(2))
	if one != same || one == other {
		t.Errorf("seed 1: %s\nseed 1: %s\nseed 2: %s", one, same, other)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, func() bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Wait(ctx, func() bool { return true }); err != nil {
		t.Errorf("got %v", err)
	}
	soon := time.Now().Add(10 * time.Millisecond)
	late, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Wait(late, func() bool { return time.Now().After(soon) }); err != nil { // the server does not change
		t.Errorf("what happens in the app is not seen: %v", err)
	}
	go s.Close()
	if err := s.Wait(t.Context(), func() bool { return false }); err == nil {
		t.Error("waiting outlived the server")
	}
}
