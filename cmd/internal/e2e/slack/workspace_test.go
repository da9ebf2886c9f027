package slack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// workspace is a Slack workspace as the far side of the suite.
type workspace struct {
	*slacktest.Server
	mode  string
	front *chat.Front // of signed deliveries
}

// people are the ids of everybody.
var people = map[chat.Who]string{
	chat.Ann: slacktest.Ann, chat.Ben: slacktest.Ben, chat.Cleo: "U5",
	chat.Gus: slacktest.Guest, chat.Eve: slacktest.Stranger, chat.Robot: "UROB",
}

// robot is how the other bot signs what it writes.
const robot = "BROB"

func openWorkspace(t *testing.T, mode string, cfg slacktest.Config) *workspace {
	t.Helper()
	w := &workspace{mode: mode}
	if mode == signed {
		w.front = chat.OpenFront(t)
		cfg.Deliver = w.front.URL()
	}
	w.Server = slacktest.New(cfg)
	t.Cleanup(w.Close)
	w.AddUser(slacktest.User{ID: "U5", Name: "cleo", RealName: "Cleo"})
	w.AddUser(slacktest.User{ID: "UROB", Name: "robot", RealName: "Robot", Bot: true, BotID: robot})
	w.channel(func(*slacktest.Channel) {})
	return w
}

// channel sets the one channel up, with a change.
func (w *workspace) channel(change func(*slacktest.Channel)) {
	c := slacktest.Channel{ID: slacktest.General, Name: "general", Members: []string{slacktest.BotUser}}
	for _, id := range people {
		c.Members = append(c.Members, id)
	}
	change(&c)
	w.AddChannel(c)
}

// Leave takes somebody out of the channel.
func (w *workspace) Leave(who chat.Who) {
	w.channel(func(c *slacktest.Channel) {
		c.Members = slices.DeleteFunc(c.Members, func(id string) bool { return id == people[who] })
	})
}

// ticket is how a connection reaches a workspace.
type ticket struct{ Mode, URL, Bot, App, Secret string }

// Ticket is how Adapter.Open reaches it.
func (w *workspace) Ticket() string {
	b, err := json.Marshal(ticket{w.mode, w.URL(), w.BotToken, w.AppToken, w.SigningSecret})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

func (w *workspace) Channel() bot.Address {
	return bot.Address{Platform: "slack", Workspace: slacktest.Team, Channel: slacktest.General}
}

// hidden is a private channel.
const hidden = "G7"

func (w *workspace) Hidden() bot.Address {
	w.AddChannel(slacktest.Channel{ID: hidden, Name: "captains", Private: true, Members: []string{slacktest.BotUser, slacktest.Ann}})
	return w.at(hidden, "")
}

func (w *workspace) Principal(who chat.Who) string {
	if who == chat.Robot {
		return "slack:" + robot
	}
	return "slack:" + people[who]
}

// Crew is nobody in particular: Slack tells guests from members.
func (w *workspace) Crew() []string { return nil }

func (w *workspace) Loud() string { return "<!channel> <!here> @everyone @here <@U2> <@U5>" }

func (w *workspace) Longest() int { return 39_300 }

func (w *workspace) Greet(ctx context.Context, n int) error {
	if w.mode == signed {
		return w.front.Await(ctx, n)
	}
	return w.Wait(ctx, func() bool { return w.Connections() >= n })
}

// Part waits for sockets to go: a replica leaves the front before it ends.
func (w *workspace) Part(ctx context.Context, n int) error {
	return w.Wait(ctx, func() bool { return w.Connections() <= n })
}

// at is the address of a message.
func (w *workspace) at(channel, ts string) bot.Address {
	a := w.Channel()
	a.Channel, a.ID = channel, ts
	return a
}

func uploads(files []chat.File) []slacktest.Upload {
	out := make([]slacktest.Upload, len(files))
	for i, f := range files {
		out[i] = slacktest.Upload{Name: f.Name, Data: f.Data}
	}
	return out
}

// escaped is a text as Slack's editor sends it.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "#general", "<#"+slacktest.General+"|general>").Replace(text)
}

func (w *workspace) Mention(who chat.Who, in bot.Address, text string, files ...chat.File) bot.Address {
	return w.at(in.Channel, w.Server.Mention(people[who], in.Channel, in.ID, escape(text), uploads(files)...))
}

func (w *workspace) Say(who chat.Who, in bot.Address, text string, files ...chat.File) bot.Address {
	return w.at(in.Channel, w.Server.Say(people[who], in.Channel, in.ID, escape(text), uploads(files)...))
}

func (w *workspace) Direct(who chat.Who, text string) bot.Address {
	return w.at(w.IM(people[who]), w.DM(people[who], escape(text)))
}

func (w *workspace) Click(who chat.Who, message bot.Address, label string) error {
	return w.Server.Click(people[who], message.Channel, message.ID, label)
}

func (w *workspace) Fill(who chat.Who, values map[string]string) error {
	v, open := w.Modal(people[who])
	if !open {
		return fmt.Errorf("%s has no modal open", who)
	}
	done, err := w.Submit(v.ID, people[who], values)
	if err == nil && len(done.Errors) > 0 {
		err = fmt.Errorf("the modal stays open: %v", done.Errors)
	}
	return err
}

func (w *workspace) Retry(who chat.Who, values map[string]string) (said string, typed map[string]string, err error) {
	v, open := w.Modal(people[who])
	if !open {
		return "", nil, fmt.Errorf("%s has no modal open", who)
	}
	done, err := w.Submit(v.ID, people[who], values)
	if err != nil || done.View != v.ID {
		return "", nil, fmt.Errorf("the modal was taken or closed: %+v (%w)", done, err)
	}
	return strings.Join(slices.Collect(maps.Values(done.Errors)), ""), values, nil // what was typed stays in a modal that stays open
}

func (w *workspace) Press(who chat.Who, label string) error {
	for _, e := range slices.Backward(w.Ephemerals(people[who])) {
		if !e.Gone && slices.Contains(labels(e.Blocks), label) {
			return w.Server.Click(people[who], e.Channel, e.TS, label)
		}
	}
	return fmt.Errorf("%s sees no button %q", who, label)
}

func (w *workspace) Begin(who chat.Who, goal string) { w.Direct(who, goal) }

func (w *workspace) Slash(who chat.Who, text string) error {
	return w.Server.Slash(people[who], slacktest.General, escape(text))
}

func (w *workspace) Stop(who chat.Who, thread bot.Address) error {
	return w.Server.Stop(people[who], thread.Channel, thread.ID)
}

func (w *workspace) Posts() []chat.Post {
	var out []chat.Post
	for _, m := range w.FromBot() {
		p := chat.Post{
			Message: w.at(m.Channel, m.TS), Thread: w.at(m.Channel, m.ThreadTS), Private: strings.HasPrefix(m.Channel, "D"),
			Text: readable(m.Text, m.Blocks), Buttons: labels(m.Blocks), Edits: len(m.Edits), At: m.Posted,
		}
		first, blocks := m.Text, m.Blocks
		if len(m.Edits) > 0 {
			first, blocks = m.Edits[0].Text, m.Edits[0].Blocks
		}
		p.Pings = pings(first, blocks)
		for _, f := range m.Files {
			p.Files = append(p.Files, chat.File{Name: f.Name, Data: f.Data})
		}
		for _, f := range w.Files() {
			if strings.Contains(p.Text+string(m.Blocks), "/files/"+f.ID+"/") { // a link to it is shown as the file
				p.Files = append(p.Files, chat.File{Name: f.Name, Data: f.Data})
			}
		}
		if m.Metadata != nil && m.Metadata.EventType == "deckhand_post" {
			var key struct{ Run, Key, Kind string }
			if json.Unmarshal(m.Metadata.EventPayload, &key) == nil && key.Key != "" {
				p.Key, p.Kind = key.Run+"/"+key.Key, agent.PostKind(key.Kind)
			}
		}
		out = append(out, p)
	}
	return out
}

func (w *workspace) Whispers(who chat.Who) []string {
	var out []string
	for _, e := range w.Ephemerals(people[who]) {
		if !e.Gone {
			out = append(out, readable(e.Text, e.Blocks))
		}
	}
	return out
}

func (w *workspace) Form(who chat.Who) (fields []string, open bool) {
	v, open := w.Modal(people[who])
	if !open {
		return nil, false
	}
	var blocks []struct {
		BlockID string `json:"block_id"`
		Type    string `json:"type"`
	}
	_ = json.Unmarshal(v.Blocks, &blocks) // the server checked them
	for _, b := range blocks {
		if b.Type == "input" {
			fields = append(fields, b.BlockID)
		}
	}
	return fields, true
}

func (w *workspace) Marks(message bot.Address) []string {
	m, _ := w.Message(message.Channel, message.ID)
	var out []string
	for _, r := range m.Reactions {
		if slices.Contains(r.Users, slacktest.BotUser) {
			out = append(out, r.Name)
		}
	}
	return out
}

func (w *workspace) Works(thread bot.Address) bool {
	return w.Session(thread.Channel, thread.ID).Status == "processing"
}

func (w *workspace) Owed() int {
	last := map[string]bool{}
	for _, d := range w.Deliveries() {
		last[d.EventID] = d.Acked.IsZero()
	}
	owed := 0
	for id, open := range last {
		if open && id != "" {
			owed++
		}
	}
	return owed
}

// The methods that make what people see.
const (
	posting   = "chat.postMessage"
	uploading = "files.completeUploadExternal"
)

func (w *workspace) LoseAnswers(n int) {
	w.Fail(posting, n, slacktest.LostAnswer())
	w.Fail(uploading, n, slacktest.LostAnswer())
}

func (w *workspace) LoseRequests(n int) {
	w.Fail(posting, n, slacktest.LostRequest())
	w.Fail(uploading, n, slacktest.LostRequest())
}

func (w *workspace) Busy(n int, after time.Duration) {
	w.Fail(posting, n, slacktest.RateLimited(after))
	w.Fail("chat.update", n, slacktest.RateLimited(after))
}
func (w *workspace) Double(n int)         { w.FailEvents(n, slacktest.EventFault{Twice: true}) }
func (w *workspace) Unacknowledged(n int) { w.FailEvents(n, slacktest.EventFault{LostAck: true}) }
func (w *workspace) Hold()                { w.HoldEvents() }
func (w *workspace) Release(reversed bool) {
	w.ReleaseEvents(reversed)
}
func (w *workspace) Drop() { w.DropSockets() }

// Unruly loses and delays some answers of the next thousand posts and uploads.
func (w *workspace) Unruly(seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 2))
	for range 1000 {
		var f slacktest.Fault
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
		w.Fail([]string{posting, posting, posting, uploading}[dice.IntN(4)], 1, f)
	}
}

func (w *workspace) Delete(message bot.Address) error {
	return w.DeleteMessage(message.Channel, message.ID)
}

func (w *workspace) Archive() { w.channel(func(c *slacktest.Channel) { c.Archived = true }) }

func (w *workspace) Expel() {
	w.channel(func(c *slacktest.Channel) {
		c.Members = slices.DeleteFunc(c.Members, func(id string) bool { return id == slacktest.BotUser })
	})
}

func (w *workspace) Readmit() {
	w.channel(func(*slacktest.Channel) {})
	w.Raw(map[string]any{"type": "member_joined_channel", "user": slacktest.BotUser, "channel": slacktest.General, "channel_type": "C", "team": slacktest.Team})
}

func (w *workspace) Rate(who chat.Who, message bot.Address, good bool) error {
	return w.Click(who, message, map[bool]string{true: "positive", false: "negative"}[good])
}
