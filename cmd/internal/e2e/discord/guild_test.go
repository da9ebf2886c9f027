package discord_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// guild is a Discord server as the far side of the suite: what people do there
// (actions), what they see (screen), and what goes wrong (faults).
type guild struct {
	*server
	*actions
	screen
	faults
}

// server is where all of it happens.
type server struct {
	*discordtest.Server

	t     *testing.T
	mode  string
	front *chat.Front // of signed interactions
}

// actions are what people do.
type actions struct {
	*server

	draft draft
}

// cleo is somebody whom discordtest does not know.
const cleo = "120000000000000011"

// people are the ids of everybody. Gus is a member without a role; Eve is an
// administrator of the server, which means nothing to Deckhand.
var people = map[chat.Who]string{
	chat.Ann: discordtest.Ann, chat.Ben: discordtest.Ben, chat.Cleo: cleo,
	chat.Gus: discordtest.Gus, chat.Eve: discordtest.Ada, chat.Robot: discordtest.Robot,
}

func openGuild(t *testing.T, mode string, cfg discordtest.Config) *guild {
	t.Helper()
	g := &server{t: t, mode: mode}
	switch mode {
	case content:
		cfg.Privileged = discordtest.IntentContent
	case signed:
		g.front = chat.OpenFront(t)
		cfg.Deliver = g.front.URL()
	}
	g.Server = discordtest.New(cfg)
	t.Cleanup(g.Close)
	g.AddUser(discordtest.User{ID: cleo, Name: "cleo", GlobalName: "Cleo"})
	if err := g.AddMember(discordtest.Guild, discordtest.Member{User: cleo, Roles: []string{discordtest.Crew}}); err != nil {
		t.Fatal(err)
	}
	return &guild{g, &actions{server: g}, screen{g}, faults{g}}
}

// Leave takes the right to look into the channel from somebody.
func (g *guild) Leave(who chat.Who) {
	if err := g.Allow(discordtest.General, discordtest.Overwrite{ID: people[who], Type: 1, Deny: discordtest.ViewChannel}); err != nil {
		g.t.Error(err)
	}
}

// ticket is how a connection reaches a server.
type ticket struct{ Mode, URL, Token, Key string }

// Ticket is how Adapter.Open reaches it.
func (g *server) Ticket() string {
	b, err := json.Marshal(ticket{g.mode, g.URL(), g.Token, g.PublicKey})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

func (g *server) Channel() bot.Address {
	return bot.Address{Platform: "discord", Workspace: discordtest.Guild, Channel: discordtest.General}
}

// hidden is a private thread of the channel.
const hidden = "120000000000000077"

func (g *server) Hidden() bot.Address {
	g.AddChannel(discordtest.Channel{ID: hidden, Name: "captains", Type: discordtest.PrivateThread, Parent: discordtest.General,
		Members: []string{discordtest.BotUser, discordtest.Ann}})
	return g.threadOf(hidden)
}

func (g *server) Principal(who chat.Who) string { return "discord:" + people[who] }

// Crew is a role: to Discord everybody in a server is a member.
func (g *server) Crew() []string { return []string{"discord:&" + discordtest.Crew} }

func (g *server) Loud() string {
	return "@everyone @here <@" + discordtest.Ben + "> <@!" + cleo + "> <@&" + discordtest.Crew + ">"
}

// Longest is as much as a subscriber may write, beside the mention, or as the
// option of the command takes.
func (g *server) Longest() int {
	if g.mode == signed {
		return 6000
	}
	return 3950
}

// Greet waits for connections, and for the commands: nobody can give one before.
func (g *server) Greet(ctx context.Context, n int) error {
	if g.mode == signed {
		if err := g.front.Await(ctx, n); err != nil {
			return err
		}
	}
	return g.Wait(ctx, func() bool { return len(g.Commands("")) > 0 && (g.mode == signed || g.Connections() >= n) })
}

// Part waits for sockets to go: a replica leaves the front before it ends.
func (g *server) Part(ctx context.Context, n int) error {
	return g.Wait(ctx, func() bool { return g.Connections() <= n })
}

// at is the address of a message. The channel may be a thread.
func (g *server) at(channel, id string) bot.Address {
	a := g.Channel()
	a.Channel, a.ID = channel, id
	if c, _ := g.Server.Channel(channel); c.Type == discordtest.DMChannel {
		a.Workspace = "@me"
	}
	return a
}

// threadOf is the address of the thread in which messages of a channel stand.
func (g *server) threadOf(channel string) bot.Address {
	c, _ := g.Server.Channel(channel)
	switch {
	case c.Type == discordtest.PrivateThread:
		return g.at(c.Parent+agent.Inner+channel, channel)
	case c.Thread():
		return g.at(c.Parent, channel)
	case c.Type == discordtest.DMChannel:
		return g.at(channel, channel)
	}
	return g.at(channel, "")
}

// room is the channel in which one writes to an address. A thread that is not
// there yet is opened by whoever writes.
func (g *server) room(who chat.Who, in bot.Address) string {
	if in.ID == "" || in.ID == in.Own() {
		return in.Own()
	}
	if c, known := g.Server.Channel(in.ID); known && !c.Deleted {
		return in.ID
	}
	thread, err := g.StartThread(people[who], in.Channel, in.ID, "About this")
	if err != nil {
		g.t.Error(err)
	}
	return thread
}

func uploads(files []chat.File) []discordtest.Upload {
	out := make([]discordtest.Upload, len(files))
	for i, f := range files {
		out[i] = discordtest.Upload{Name: f.Name, Data: f.Data}
	}
	return out
}

func (g *actions) Mention(who chat.Who, in bot.Address, text string, files ...chat.File) bot.Address {
	if g.mode == signed {
		return g.command(who, in, text)
	}
	room := g.room(who, in)
	text = strings.ReplaceAll(text, "#general", "<#"+discordtest.General+">")
	return g.at(room, g.Server.Mention(people[who], room, text, uploads(files)...))
}

// Say answers the bot's newest message in a thread: what does not is not handed
// over without the intent.
func (g *actions) Say(who chat.Who, in bot.Address, text string, files ...chat.File) bot.Address {
	room := g.room(who, in)
	if g.mode == gateway {
		for _, m := range slices.Backward(g.Messages(room)) {
			if m.Author == discordtest.BotUser {
				return g.at(room, g.Reply(people[who], room, m.ID, text, true, uploads(files)...))
			}
		}
	}
	return g.at(room, g.Server.Say(people[who], room, text, uploads(files)...))
}

func (g *actions) Direct(who chat.Who, text string) bot.Address {
	dm := g.DMChannel(people[who])
	if g.mode == signed {
		return g.command(who, g.at(dm, dm), text)
	}
	return g.at(dm, g.DM(people[who], text))
}

func (g *actions) Click(who chat.Who, message bot.Address, label string) error {
	return g.Server.Click(people[who], message.Channel, message.ID, label)
}

func (g *actions) Rate(who chat.Who, message bot.Address, good bool) error {
	return g.Click(who, message, map[bool]string{true: "Good", false: "Bad"}[good])
}

func (g *actions) Stop(who chat.Who, thread bot.Address) error {
	return g.Server.Slash(people[who], g.room(who, thread), "deckhand stop", nil)
}

// Marks are the emojis of the bot by their names. The mark of a command is what
// it is answered with.
func (g screen) Marks(message bot.Address) []string {
	m, _ := g.Message(message.Channel, message.ID)
	var out []string
	for _, r := range m.Reactions {
		if name := map[string]string{"👀": "eyes", "📝": "memo"}[r.Name]; slices.Contains(r.Users, discordtest.BotUser) {
			out = append(out, name)
		}
	}
	if g.mode == signed {
		out = append(out, g.answered(message)...)
	}
	return out
}

func (g screen) answered(command bot.Address) []string {
	var out []string
	for _, m := range append(g.Messages(command.Channel), g.Ephemerals("")...) {
		switch text := m.Text(); {
		case m.Interaction != command.ID:
		case strings.HasPrefix(text, "Working on it"):
			out = append(out, "eyes")
		case text == "Noted.":
			out = append(out, "memo")
		}
	}
	return out
}
