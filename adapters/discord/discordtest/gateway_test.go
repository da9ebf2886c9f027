package discordtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

func TestASessionIsReadyAndSeesItsGuilds(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	d, events := connect(t, s, plainIntents)
	next[discordgo.Ready](t, events, "READY")
	g := next[discordgo.GuildCreate](t, events, "GUILD_CREATE")
	if g.ID != Guild || len(g.Channels) != 2 || len(g.Roles) != 4 || g.MemberCount != 7 {
		t.Fatalf("got guild %+v", g.Guild)
	}
	if d.State.User.ID != BotUser {
		t.Fatalf("the session belongs to %s", d.State.User.ID)
	}
}

func TestWhatTheBotMayRead(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	d, events := connect(t, s, plainIntents)
	own, err := d.ChannelMessageSend(General, "mine")
	ok(t, err)
	for _, c := range []struct {
		do   func() string
		want string
	}{
		{func() string { return own.ID }, "mine"},
		{func() string { return s.Say(Ann, General, "not for you") }, ""},
		{func() string { return s.Mention(Ann, General, "for you") }, "<@" + BotUser + "> for you"},
		{func() string { return s.Reply(Ann, General, own.ID, "a reply", true) }, "a reply"},
		{func() string { return s.Reply(Ann, General, own.ID, "a quiet reply", false) }, ""},
		{func() string { return s.DM(Ann, "in private") }, "in private"},
	} {
		id := c.do()
		m := next[discordgo.Message](t, events, "MESSAGE_CREATE")
		if m.ID != id || m.Content != c.want {
			t.Fatalf("got %q (%s), want %q (%s)", m.Content, m.ID, c.want, id)
		}
	}
}

func TestThePrivilegedIntent(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{Privileged: IntentContent})
	_, events := connect(t, s, plainIntents|discordgo.IntentMessageContent)
	s.Say(Ann, General, "everything")
	if m := next[discordgo.Message](t, events, "MESSAGE_CREATE"); m.Content != "everything" || m.Member == nil || m.GuildID != Guild {
		t.Fatalf("got %+v", m)
	}
}

func TestWhoIsNotLetIn(t *testing.T) {
	for name, c := range map[string]struct {
		token   string
		intents discordgo.Intent
		code    int
	}{
		"a wrong token":        {"Bot nonsense", plainIntents, closeAuth},
		"a privileged intent":  {"", plainIntents | discordgo.IntentMessageContent, closeDenied},
		"an intent of nowhere": {"", 1 << 30, closeIntents},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Config{})
			d := client(t, s)
			d.Identify.Intents = c.intents
			if c.token != "" {
				d.Identify.Token = c.token
			}
			err := d.Open()
			if !websocket.IsCloseError(err, c.code) {
				t.Fatalf("got %v, want close code %d", err, c.code)
			}
		})
	}
}

func TestADroppedSessionResumesAndMissesNothing(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	_, events := connect(t, s, plainIntents)
	next[discordgo.Ready](t, events, "READY")
	s.DropSockets()
	s.Mention(Ann, General, "while you were away")
	if m := next[discordgo.Message](t, events, "MESSAGE_CREATE"); !strings.HasSuffix(m.Content, "away") {
		t.Fatalf("got %q", m.Content)
	}
	next[discordgo.Resumed](t, events, "RESUMED")
	if got := s.Sessions(); len(got) != 1 {
		t.Fatalf("sessions: %v", got)
	}
}

func TestReconnectAndInvalidSessions(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	_, events := connect(t, s, plainIntents)
	next[discordgo.Ready](t, events, "READY")
	for _, cut := range []func(){s.Reconnect, func() { s.CloseSockets(4000, "Unknown error.") }} {
		settled := beats(t, s)
		cut()
		next[discordgo.Resumed](t, events, "RESUMED")
		settled()
	}
	s.Invalidate(false)
	next[discordgo.Ready](t, events, "READY")
	s.Garbage("{nonsense")
	s.Mention(Ann, General, "still there?")
	next[discordgo.Message](t, events, "MESSAGE_CREATE")
}

func TestASessionThatIsTooOldStartsAgain(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{ResumeLife: time.Nanosecond})
	_, events := connect(t, s, plainIntents)
	next[discordgo.Ready](t, events, "READY")
	s.DropSockets()
	next[discordgo.Ready](t, events, "READY")
}

func TestAZombieIsLeft(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{Heartbeat: 20 * time.Millisecond})
	_, events := connect(t, s, plainIntents)
	next[discordgo.Ready](t, events, "READY")
	s.Zombie(true)
	next[discordgo.Ready](t, events, "READY") // the library says goodbye with 1000, which ends the session
	s.Zombie(false)
}

func TestAServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	s.Mute(1)
	ws, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL(), "http")+"/gw/?v=10&encoding=json", nil)
	ok(t, err)
	defer func() { _ = ws.Close(); _ = resp.Body.Close() }()
	ok(t, ws.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if _, _, err := ws.ReadMessage(); err == nil {
		t.Fatal("a muted server said something")
	}
}

func TestFramesThatAClientMustNotSend(t *testing.T) {
	for name, c := range map[string]struct {
		frame string
		code  int
	}{
		"not JSON":          {"nonsense", closeDecode},
		"an unknown opcode": {`{"op":99}`, closeOpcode},
		"before identify":   {`{"op":3,"d":{}}`, closeNotYet},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Config{})
			ws, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL(), "http")+"/gw/", nil)
			ok(t, err)
			defer func() { _ = ws.Close(); _ = resp.Body.Close() }()
			ok(t, ws.WriteMessage(websocket.TextMessage, []byte(c.frame)))
			_, hello, err := ws.ReadMessage()
			ok(t, err)
			if !strings.Contains(string(hello), "41250") {
				t.Fatalf("got %s", hello)
			}
			if _, _, err = ws.ReadMessage(); !websocket.IsCloseError(err, c.code) {
				t.Fatalf("got %v, want close code %d", err, c.code)
			}
		})
	}
}

func TestEveryReplicaHearsEverything(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	_, one := connect(t, s, plainIntents)
	_, two := connect(t, s, plainIntents)
	id := s.Mention(Ann, General, "hello")
	for _, events := range []<-chan *discordgo.Event{one, two} {
		if m := next[discordgo.Message](t, events, "MESSAGE_CREATE"); m.ID != id {
			t.Fatalf("got %s", m.ID)
		}
	}
}

func TestDoubleLateAndReorderedEvents(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	_, events := connect(t, s, plainIntents)
	s.FailEvents(1, EventFault{Twice: true})
	twice := s.Mention(Ann, General, "twice")
	for range 2 {
		if m := next[discordgo.Message](t, events, "MESSAGE_CREATE"); m.ID != twice {
			t.Fatalf("got %q", m.Content)
		}
	}
	s.FailEvents(1, EventFault{After: 100 * time.Millisecond})
	late, soon := s.Mention(Ann, General, "late"), s.Mention(Ann, General, "soon")
	for _, want := range []string{soon, late} {
		if m := next[discordgo.Message](t, events, "MESSAGE_CREATE"); m.ID != want {
			t.Fatalf("got %q", m.Content)
		}
	}
	s.HoldEvents()
	a, b := s.Mention(Ann, General, "a"), s.Mention(Ann, General, "b")
	s.ReleaseEvents(true)
	for _, want := range []string{b, a} {
		if m := next[discordgo.Message](t, events, "MESSAGE_CREATE"); m.ID != want {
			t.Fatalf("got %q", m.Content)
		}
	}
	s.FailEvents(1, EventFault{DropSocket: true})
	s.Mention(Ann, General, "cut")
	next[discordgo.Resumed](t, events, "RESUMED")
}

func TestThreadsChannelsAndTheBotGoAway(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{Privileged: IntentMembers, Limits: Limits{Off: true}})
	d, events := connect(t, s, plainIntents|discordgo.IntentGuildMembers)
	said := s.Say(Ann, General, "a topic")
	th, err := d.MessageThreadStart(General, said, "work", 1440)
	ok(t, err)
	if th.ID != said || th.ParentID != General || th.OwnerID != BotUser {
		t.Fatalf("got %+v", th)
	}
	next[discordgo.Channel](t, events, "THREAD_CREATE")
	_, err = d.MessageThreadStart(General, said, "again", 1440)
	refused(t, err, 400, 160004)
	_, err = d.MessageThreadStart(General, s.Say(Ann, General, "x"), strings.Repeat("x", 101), 1440)
	refused(t, err, 400, 50035)

	ok(t, s.ArchiveThread(th.ID, false))
	if got := next[discordgo.Channel](t, events, "THREAD_UPDATE"); !got.ThreadMetadata.Archived {
		t.Fatal("the thread is not archived")
	}
	sent, err := d.ChannelMessageSend(th.ID, "open again")
	ok(t, err)
	if c, _ := s.Channel(th.ID); c.Archived {
		t.Fatal("posting left the thread archived")
	}
	ok(t, s.ArchiveThread(th.ID, false))
	_, err = d.ChannelMessageEdit(th.ID, sent.ID, "x")
	refused(t, err, 400, 50083)
	list, err := d.ThreadsArchived(General, nil, 10)
	ok(t, err)
	active, err := d.GuildThreadsActive(Guild)
	ok(t, err)
	if len(list.Threads) != 1 || len(active.Threads) != 0 {
		t.Fatalf("archived %v, active %v", list.Threads, active.Threads)
	}
	ok(t, s.AddRole(Guild, Role{ID: BotRole, Name: "Deckhand"}))
	ok(t, s.ArchiveThread(th.ID, true))
	_, err = d.ChannelMessageSend(th.ID, "locked")
	refused(t, err, 400, 50083)

	ok(t, s.AddMember(Guild, Member{User: Gus, Roles: []string{Crew}}))
	if m := next[discordgo.Member](t, events, "GUILD_MEMBER_UPDATE"); m.User.ID != Gus || len(m.Roles) != 1 {
		t.Fatalf("got %+v", m)
	}
	ok(t, s.DeleteChannel(th.ID))
	next[discordgo.Channel](t, events, "THREAD_DELETE")
	ok(t, s.DeleteChannel(General))
	next[discordgo.Channel](t, events, "CHANNEL_DELETE")
	_, err = d.ChannelMessageSend(General, "x")
	refused(t, err, 404, 10003)
	ok(t, s.RemoveBot(OtherGuild))
	next[discordgo.Guild](t, events, "GUILD_DELETE")
	_, err = d.ChannelMessageSend(Elsewhere, "x")
	refused(t, err, 403, 50001)
}

// An edit pings nobody, but its message names those whom it mentions now: the
// bot reads what names it.
func TestEditsThatMention(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	_, events := connect(t, s, plainIntents)
	id := s.Say(Ann, General, "not for you")
	for _, c := range []struct {
		text  string
		names []string
	}{
		{"<@" + BotUser + "> and <@" + Ben + ">", []string{BotUser, Ben}},
		{"<@" + Ben + ">", []string{Ben}},
	} {
		ok(t, s.EditMessage(Ann, General, id, c.text))
		m := next[discordgo.Message](t, events, "MESSAGE_UPDATE")
		var names []string
		for _, u := range m.Mentions {
			names = append(names, u.ID)
		}
		if !slices.Equal(names, c.names) || (m.Content == c.text) != slices.Contains(names, BotUser) {
			t.Errorf("after %q: %q names %v", c.text, m.Content, names)
		}
	}
	if now, _ := s.Message(General, id); !now.Pings.None() {
		t.Errorf("an edit pings %+v", now.Pings)
	}
}
