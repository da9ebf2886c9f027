package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

// connects waits until the gateway is connected.
func (r *rig) connects() {
	r.Helper()
	for deadline := time.Now().Add(time.Minute); !r.d.connected(); {
		if time.Now().After(deadline) {
			r.Fatalf("never connected: %v\n%s", r.d.Ready(), r.Log)
		}
		<-time.After(time.Millisecond)
	}
}

func TestGatewayGoesOn(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(*rig){
		"drop":          func(r *rig) { r.DropSockets() },
		"reconnect":     func(r *rig) { r.Reconnect() },
		"invalid":       func(r *rig) { r.Invalidate(false) },
		"resumable":     func(r *rig) { r.Invalidate(true) },
		"unknown error": func(r *rig) { r.CloseSockets(4000, "Unknown error") },
		"timed out":     func(r *rig) { r.CloseSockets(4009, "Session timed out") },
		"bad sequence":  func(r *rig) { r.CloseSockets(4007, "Invalid seq") },
		"no hello":      func(r *rig) { r.Mute(1); r.DropSockets() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := enter(t, discordtest.Config{}, nil)
			r.d.in.times.hello = 500 * time.Millisecond
			r.begin()
			r.Always(bot.Answer{Run: "r"})
			r.Mention(discordtest.Ann, discordtest.General, "before")
			r.Hears(1)
			r.d.in.SaveMarks(t.Context(), true)
			trouble(r)
			r.Mention(discordtest.Ann, discordtest.General, "meanwhile")
			r.Hears(2)
			r.connects()
			r.Mention(discordtest.Ann, discordtest.General, "after")
			heard := r.Hears(3)
			for i, want := range []string{"before", "meanwhile", "after"} {
				if got := saying(t, heard[i]).Text; got != want {
					t.Errorf("heard %q, want %q", got, want)
				}
			}
		})
	}
}

func TestGarbageIsIgnored(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Run: "r"})
	for _, frame := range []string{"null", "[]", "0", "{", "", "{}", `{"op":"x"}`, `{"op":99}`, `{"op":0}`, `{"op":0,"t":"READY"}`, `{"op":0,"t":"READY","d":null}`,
		`{"op":0,"t":"MESSAGE_CREATE","d":null}`, `{"op":0,"t":"MESSAGE_CREATE","d":{"id":"1","channel_id":"2"}}`, `{"op":0,"t":"INTERACTION_CREATE","d":{}}`,
		`{"op":0,"t":"INTERACTION_CREATE","d":{"id":"1","token":"t","type":5}}`, `{"op":0,"t":"GUILD_CREATE","d":[]}`, `{"op":0,"t":"THREAD_CREATE","d":"x"}`,
		`{"op":10,"d":null}`, `{"op":11}`, `{"op":1}`} {
		r.Garbage(frame)
	}
	r.Mention(discordtest.Ann, discordtest.General, "still there?")
	if got := saying(t, r.Hears(1)[0]).Text; got != "still there?" {
		t.Errorf("heard %q", got)
	}
	if !strings.Contains(r.Log.String(), "cannot be read") {
		t.Errorf("nothing of it is in the log:\n%s", r.Log)
	}
}

func TestDeadConnectionsAreNoticed(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{Heartbeat: 50 * time.Millisecond}, nil)
	r.begin()
	r.Zombie(true)
	r.until("the connection is given up", func() bool { return strings.Contains(r.Log.String(), "does not answer heartbeats") })
	r.Zombie(false)
	r.Always(bot.Answer{Run: "r"})
	r.Mention(discordtest.Ann, discordtest.General, "hello")
	r.Hears(1)
}

func TestARefusedTokenEndsTheStart(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	r.Revoke()
	if _, err := New(t.Context(), r.d.cfg); !errors.Is(err, bot.ErrRefused) || !strings.Contains(err.Error(), "DISCORD_TOKEN") {
		t.Errorf("opening: %v", err)
	}
	if err := r.d.Listen(t.Context(), r.Hear); !errors.Is(err, bot.ErrRefused) || !strings.Contains(err.Error(), "DISCORD_TOKEN") {
		t.Errorf("listening: %v", err)
	}
}

func TestRefusedIntentsEndTheStart(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, func(c *Config) { c.Content = true })
	if err := r.d.Listen(t.Context(), r.Hear); !errors.Is(err, bot.ErrRefused) || !strings.Contains(err.Error(), "Message Content Intent") {
		t.Errorf("listening: %v", err)
	}
}

func TestNoWayInIsRefused(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, func(c *Config) { c.Gateway = false })
	if err := r.d.Listen(t.Context(), r.Hear); !errors.Is(err, bot.ErrRefused) {
		t.Errorf("listening: %v", err)
	}
	if r.d.Routes() != nil {
		t.Error("there are routes without a public key")
	}
}

func TestARevokedTokenIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Revoke()
	r.CloseSockets(4004, "Authentication failed.")
	for deadline := time.Now().Add(time.Minute); !errors.Is(r.d.Ready(), bot.ErrRefused); {
		if time.Now().After(deadline) {
			t.Fatalf("ready says %v", r.d.Ready())
		}
		<-time.After(time.Millisecond)
	}
}

func TestTheEndIsQuick(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	r.Mute(100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.d.Listen(ctx, r.Hear) }()
	r.until("the gateway is asked for", func() bool { return r.Count("GET /gateway") > 0 })
	began := time.Now()
	cancel()
	if err := <-ended; err != nil || time.Since(began) > 8*time.Second {
		t.Errorf("it ended with %v after %v", err, time.Since(began))
	}
}

func TestContentIntentHearsThreads(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{Privileged: discordtest.IntentContent}, func(c *Config) { c.Content = true })
	r.Always(bot.Answer{Run: "r"})
	thread, _ := r.asks(approve)
	r.Say(discordtest.Ann, thread, "use the other one")
	in := r.Hears(1)[0]
	if s := saying(t, in); s.Text != "use the other one" || s.To || in.Where != general(thread) {
		t.Errorf("heard %+v", in)
	}
}

func TestMissedMessagesAreCaughtUp(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Run: "r"})
	thread, err := r.StartThread(discordtest.Ann, discordtest.General, r.Say(discordtest.Ann, discordtest.General, "hello"), "a thread")
	if err != nil {
		t.Fatal(err)
	}
	r.DM(discordtest.Ann, "one")
	r.Hears(1)
	r.stop()
	r.Mention(discordtest.Ann, discordtest.General, "two")
	r.Mention(discordtest.Ben, thread, "three")
	r.DM(discordtest.Ann, "four")
	r.Mention(discordtest.Eve, discordtest.Elsewhere, "five")
	r.Say(discordtest.Ann, discordtest.General, "nothing for the bot")
	r.open(nil, true)
	r.begin()
	heard := r.Hears(5)
	for i, want := range []string{"one", "two", "three", "four", "five"} {
		if got := saying(t, heard[i]).Text; got != want || heard[i].Missed != (i > 0) {
			t.Errorf("heard %q, missed %v, want %q", got, heard[i].Missed, want)
		}
	}
	if heard[2].Where != general(thread) || heard[4].By.ID != "discord:"+discordtest.Eve || !heard[1].By.Full {
		t.Errorf("heard %+v", heard)
	}
}

func TestManyMissedMessagesAreRead(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Run: "r"})
	r.Mention(discordtest.Ann, discordtest.General, "first")
	r.Hears(1)
	r.stop()
	for range 2*pageSize + 10 {
		r.Say(discordtest.Ben, discordtest.General, "chatter")
	}
	r.Mention(discordtest.Ann, discordtest.General, "last")
	r.Fail(discordtest.ReadMessages, 1, discordtest.Unavailable())
	r.Fail(discordtest.ReadMessages, 1, discordtest.RateLimited(50*time.Millisecond))
	r.open(nil, true)
	r.begin()
	if got := saying(t, r.Hears(2)[1]).Text; got != "last" {
		t.Errorf("heard %q", got)
	}
}

func TestEditsAreCorrections(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{Privileged: discordtest.IntentContent}, func(c *Config) { c.Content = true })
	r.Always(bot.Answer{Run: "r"})
	id := r.Mention(discordtest.Ann, discordtest.General, "count the cats")
	r.Hears(1)
	if err := r.Names.SetValue(t.Context(), "thread/"+general(id).String(), "r"); err != nil {
		t.Fatal(err)
	}
	mention := "<@" + discordtest.BotUser + "> "
	if err := r.EditMessage(discordtest.Ann, discordtest.General, id, mention+"count the dogs"); err != nil {
		t.Fatal(err)
	}
	if in := r.Hears(2)[1]; saying(t, in).Text != "Correction of an earlier message: count the dogs" || in.Where != general(id) {
		t.Errorf("heard %+v", in)
	}
	later := r.Say(discordtest.Ann, discordtest.General, "count the birds")
	if err := r.EditMessage(discordtest.Ann, discordtest.General, later, mention+"count the birds"); err != nil {
		t.Fatal(err)
	}
	if in := r.Hears(3)[2]; saying(t, in).Text != "count the birds" || !saying(t, in).To || in.Where != general(later) {
		t.Errorf("heard %+v", in)
	}
}

func TestRepliesGoToTheRunBelow(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Run: "r"})
	p := mustPost(t, r.d, general(""), bot.Card{Key: bot.Key{Run: "r", Name: "card"}, Text: "a card"})
	if err := r.Names.SetValue(t.Context(), "thread/"+p.Thread.String(), "r"); err != nil {
		t.Fatal(err)
	}
	r.Reply(discordtest.Ann, discordtest.General, p.Thread.ID, "go on", true)
	if in := r.Hears(1)[0]; in.Where != p.Thread || !saying(t, in).To || saying(t, in).Text != "go on" {
		t.Errorf("heard %+v", in)
	}
}

func TestMessagesBecomeGoals(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Run: "r", Started: true, Mark: bot.MarkSeen})
	id := r.Say(discordtest.Ben, discordtest.General, "the build is red", discordtest.Upload{Name: "log.txt", Data: []byte("x")})
	if err := r.MessageCommand(discordtest.Ann, discordtest.General, id, commands.NameGoal); err != nil {
		t.Fatal(err)
	}
	in := r.Hears(1)[0]
	if s := saying(t, in); s.Text != "the build is red" || s.Quote != "discord:"+discordtest.Ben || !s.To || len(s.Files) != 1 || in.By.Name != "Ann" || in.Where != general(id) {
		t.Errorf("heard %+v", in)
	}
	if got, want := r.whisper(discordtest.Ann), "Working on it in <#"+id+">."; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	r.until("the message is marked", func() bool {
		m, _ := r.Message(discordtest.General, id)
		return len(m.Reactions) == 1
	})
}

func TestMessagesAreRemembered(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Private: "Remembered."})
	id := r.Say(discordtest.Ben, discordtest.General, "the build is red")
	if err := r.MessageCommand(discordtest.Ann, discordtest.General, id, commands.NameRemember); err != nil {
		t.Fatal(err)
	}
	in := r.Hears(1)[0]
	if c, is := in.Act.(bot.Commanded); !is || c.Text != "remember the build is red" || c.Quote != "discord:"+discordtest.Ben || in.By.Name != "Ann" {
		t.Errorf("heard %+v", in)
	}
}

func TestTheBotIsNoAdministrator(t *testing.T) {
	t.Parallel()
	if permissions()&discordgo.PermissionAdministrator != 0 {
		t.Error("the bot asks to be an administrator")
	}
}

func TestDeletionsAreHeardWhereARunLives(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{Privileged: discordtest.IntentContent}, func(c *Config) { c.Content = true })
	r.Always(bot.Answer{Run: "r"})
	id := r.Mention(discordtest.Ann, discordtest.General, "count the cats")
	r.Hears(1)
	thread, err := r.StartThread(discordtest.Ann, discordtest.General, id, "cats")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Names.SetValue(t.Context(), "thread/"+general(id).String(), "r"); err != nil {
		t.Fatal(err)
	}
	chatter := r.Say(discordtest.Ann, discordtest.General, "chatter")
	steering := r.Say(discordtest.Ann, thread, "only the black ones")
	r.Hears(2)
	for channel, message := range map[string]string{discordtest.General: chatter, thread: steering} {
		if err := r.DeleteMessage(channel, message); err != nil {
			t.Fatal(err)
		}
	}
	in := r.Hears(3)[2]
	said := r.Hears(3)[1]
	if in.Act != (bot.Unsaid{}) || in.Where != general(id) || in.Message != said.Message || in.By.ID != "" || !slices.Equal(in.Keys, []string{said.Message.String() + ":deleted"}) {
		t.Errorf("heard %+v", in)
	}
}
