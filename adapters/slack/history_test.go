package slack

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/slack/draw/drawtest"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	parent := w.Mention(slacktest.Ann, slacktest.General, "", "do it &amp; ask <@U2>")
	mustPost(t, s, general(parent), drawtest.Cards()["card"])
	w.Say(slacktest.Ben, slacktest.General, parent, "see <https://x.y|this>", slacktest.Upload{Name: "a.txt", Data: []byte("x")})
	for i := range 430 {
		w.Say(slacktest.Ann, slacktest.General, parent, fmt.Sprint("no ", i))
	}
	lines, err := s.History(t.Context(), general(parent), 5)
	if err != nil || len(lines) != 5 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	if l := lines[0]; l.By != "slack:U1" || !strings.EqualFold(l.Name, "ann") || !strings.EqualFold(l.Text, "do it & ask @ben") || l.At.IsZero() {
		t.Errorf("the first line: %+v", l)
	}
	if lines[1].Text != "no 426" || lines[4].Text != "no 429" {
		t.Errorf("the newest lines: %+v", lines[1:])
	}
	lines, err = s.History(t.Context(), general(parent), 1000)
	if err != nil || len(lines) != 432 || lines[1].Text != "see this (https://x.y)\n[file: a.txt]" {
		t.Errorf("%d lines, %v: %+v", len(lines), err, lines[1])
	}
	lines, err = s.History(t.Context(), general(""), 3)
	if err != nil || len(lines) != 1 || lines[0].By != "slack:U1" {
		t.Errorf("the channel: %+v, %v", lines, err)
	}
	if lines, err := s.History(t.Context(), general(parent), 1); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0].Text, "do it") {
		t.Errorf("one line: %+v, %v", lines, err)
	}
	if _, err := s.History(t.Context(), general("1.000001"), 3); !errors.Is(err, bot.ErrGone) {
		t.Errorf("no thread: %v", err)
	}
	w.Fail("conversations.replies", 1, slacktest.RateLimited(2e9))
	_, err = s.History(t.Context(), general(parent), 3)
	checkTrouble(t, err, nil, 2e9)
}

func TestDirect(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	at, err := s.Direct(t.Context(), "slack:U1")
	if err != nil || at != (bot.Address{Platform: Platform, Workspace: slacktest.Team, Channel: w.IM(slacktest.Ann)}) {
		t.Fatalf("%s, %v", at, err)
	}
	mustPost(t, s, at, drawtest.Cards()["report"])
	for _, who := range []string{"slack:U77", "slack:S1", "discord:1", "U1", ""} {
		if _, err := s.Direct(t.Context(), who); !errors.Is(err, bot.ErrGone) {
			t.Errorf("%q: %v", who, err)
		}
	}
}

// Who is in a channel is asked, and remembered for less than a minute; whom Slack
// does not tell of is not in it.
func TestMember(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	w.AddChannel(slacktest.Channel{ID: "C4", Name: "secret", Private: true, Members: []string{slacktest.Ann, slacktest.BotUser}})
	secret := general("")
	secret.Channel = "C4"
	direct, err := s.Direct(t.Context(), "slack:"+slacktest.Ann)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := general("")
	elsewhere.Workspace = "T9"
	for _, tt := range []struct {
		who string
		at  bot.Address
		is  bool
	}{
		{slacktest.Ann, general(""), true}, {slacktest.Ann, secret, true}, {slacktest.Ben, secret, false}, {slacktest.Ben, general(""), true},
		{slacktest.Ann, direct, true}, {slacktest.Ben, direct, false}, {slacktest.Ann, elsewhere, false}, {"S1", general(""), false},
	} {
		if is, err := s.Member(t.Context(), "slack:"+tt.who, tt.at); err != nil || is != tt.is {
			t.Errorf("%s in %s: %v, %v", tt.who, tt.at, is, err)
		}
	}
	if n := w.Count("users.conversations"); n != 2 {
		t.Errorf("asked %d times about two people", n)
	}
	w.Fail("users.conversations", 1, slacktest.APIError("internal_error"))
	if is, err := s.Member(t.Context(), "slack:"+slacktest.Guest, general("")); err == nil || is {
		t.Errorf("nobody can tell: %v, %v", is, err)
	}
}
