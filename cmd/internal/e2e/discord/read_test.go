package discord_test

import (
	"cmp"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// kinds are the letters that nonces begin with.
var kinds = map[string]agent.PostKind{
	"c": agent.PostCard, "k": agent.PostCheckpoint, "r": agent.PostReport, "a": agent.PostAnswer, "s": agent.PostScheduled, "u": agent.PostUpload,
}

// screen is what people see.
type screen struct{ *server }

// faults are what goes wrong.
type faults struct{ *server }

var escape = regexp.MustCompile("\\\\([\\\\*_~`|\\[\\]<>#.:()@-])")

// readable is everything of a message that people can read, without what only
// keeps Discord from reading it as markup.
func readable(m discordtest.Message) string {
	return strings.ReplaceAll(escape.ReplaceAllString(m.Text(), "$1"), "\u200b", "")
}

// whispered is for whom alone a short reply is, if it is one: Discord cannot
// answer a message to one person alone.
func (g screen) whispered(m discordtest.Message) (user string) {
	if m.ReplyTo == "" || m.Interaction != "" || !strings.HasPrefix(m.Nonce, "a") {
		return ""
	}
	to, _ := g.Message(m.Channel, m.ReplyTo)
	return to.Author
}

// gone reports whether a message went with its channel.
func (g screen) gone(m discordtest.Message) bool {
	c, _ := g.Server.Channel(m.Channel)
	return c.Deleted
}

// Works is never so: typing ends by itself.
func (g screen) Works(bot.Address) bool { return false }

func (g screen) Posts() []chat.Post {
	var out []chat.Post
	for _, m := range g.FromBot() {
		if g.gone(m) || g.whispered(m) != "" {
			continue
		}
		p := chat.Post{
			Message: g.at(m.Channel, m.ID), Thread: g.threadOf(m.Channel), Key: m.Nonce, Text: readable(m), Buttons: m.Buttons(),
			Pings: pings(m), Edits: len(m.Edits), At: m.Posted,
		}
		p.Private = p.Thread.Workspace == "@me"
		if m.Nonce != "" {
			p.Kind = kinds[m.Nonce[:1]]
		}
		for _, f := range m.Files {
			p.Files = append(p.Files, chat.File{Name: f.Name, Data: f.Data})
		}
		out = append(out, p)
	}
	return out
}

// pings are the principals that a message notified when it was posted.
func pings(m discordtest.Message) []string {
	var out []string
	for _, id := range m.Pings.Users {
		out = append(out, "discord:"+id)
	}
	for _, id := range m.Pings.Roles {
		out = append(out, "discord:&"+id)
	}
	if m.Pings.Everyone {
		out = append(out, "everybody")
	}
	return out
}

func (g screen) Whispers(who chat.Who) []string {
	list := slices.DeleteFunc(g.Ephemerals(people[who]), func(m discordtest.Message) bool { return m.Flags&discordtest.FlagLoading != 0 })
	for _, m := range g.FromBot() {
		if g.whispered(m) == people[who] {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b discordtest.Message) int { return cmp.Compare(a.ID, b.ID) })
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = readable(m)
	}
	return out
}

// Owed is how many interactions somebody waits for: messages are not
// acknowledged in Discord.
func (g screen) Owed() int {
	owed := 0
	for _, i := range g.Interactions() {
		if i.Acked.IsZero() && i.Error == "" {
			owed++
		}
	}
	return owed
}

func (g faults) LoseAnswers(n int)  { g.Fail(discordtest.PostMessage, n, discordtest.LostAnswer()) }
func (g faults) LoseRequests(n int) { g.Fail(discordtest.PostMessage, n, discordtest.LostRequest()) }

func (g faults) Busy(n int, after time.Duration) {
	g.Fail(discordtest.PostMessage, n, discordtest.RateLimited(after))
	g.Fail(discordtest.EditMessage, n, discordtest.RateLimited(after))
}

func (g faults) Double(n int) { g.FailEvents(n, discordtest.EventFault{Twice: true}) }

// Unacknowledged cuts the connection behind the next events: Discord gives them
// again to who resumes without having acknowledged them. An interaction over
// HTTP is never given again.
func (g faults) Unacknowledged(n int) {
	if g.mode != signed {
		g.FailEvents(n, discordtest.EventFault{DropSocket: true})
	}
}

func (g faults) Hold()                 { g.HoldEvents() }
func (g faults) Release(reversed bool) { g.ReleaseEvents(reversed) }
func (g faults) Drop()                 { g.DropSockets() }

// Unruly loses and delays some answers of the next thousand posts and threads.
func (g faults) Unruly(seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 2))
	for range 1000 {
		var f discordtest.Fault
		switch dice.IntN(10) {
		case 0:
			f.LostAnswer = true
		case 1:
			f.LostRequest = true
		case 2:
			f.AnswerAfter = time.Duration(dice.IntN(150)) * time.Millisecond
		case 3:
			f.AcceptAfter = time.Duration(dice.IntN(150)) * time.Millisecond
		}
		routes := []string{discordtest.PostMessage, discordtest.PostMessage, discordtest.PostMessage, discordtest.OpenThread}
		g.Fail(routes[dice.IntN(4)], 1, f)
	}
}

func (g faults) Delete(message bot.Address) error {
	if err := g.DeleteMessage(message.Channel, message.ID); err != nil {
		return err
	}
	if c, is := g.Server.Channel(message.ID); !is || c.Deleted {
		return nil
	}
	return g.DeleteChannel(message.ID)
}

// Archive deletes the channel: Discord has no other way to close one for good.
func (g faults) Archive() {
	if err := g.DeleteChannel(discordtest.General); err != nil {
		g.t.Error(err)
	}
}

func (g faults) Expel() {
	if err := g.RemoveBot(discordtest.Guild); err != nil {
		g.t.Error(err)
	}
}

func (g faults) Readmit() {
	if err := g.InviteBot(discordtest.Guild); err != nil {
		g.t.Error(err)
	}
}
