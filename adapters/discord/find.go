package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// Bounds of a search.
const (
	clockSkew = 30 * time.Second // between Discord's clock and the store's
	findPage  = 100
	findPages = 15

	askAgain  = 2 // times that a read is repeated where Discord does not answer
	firstWait = 100 * time.Millisecond
)

// found is what is read of a message. The library's own type refuses messages
// with components that it does not know.
type found struct {
	ID        string `json:"id"`
	ChannelID string `json:"channel_id"`
	Type      int    `json:"type"`
	Author    struct {
		ID     string `json:"id"`
		Name   string `json:"username"`
		Global string `json:"global_name"`
		Bot    bool   `json:"bot"`
	} `json:"author"`
	Content    string          `json:"content"`
	Components json.RawMessage `json:"components"`
	Embeds     []struct {
		URL string `json:"url"`
	} `json:"embeds"`
	Mentions []struct {
		ID     string `json:"id"`
		Name   string `json:"username"`
		Global string `json:"global_name"`
	} `json:"mentions"`
	Files []struct {
		Name string `json:"filename"`
	} `json:"attachments"`
}

// carries reports whether a message is the post of the key, by its mark.
func (m *found) carries(k bot.Key) bool {
	for _, e := range m.Embeds {
		if e.URL == markURL(k) {
			return true
		}
	}
	type part struct {
		ID    int64 `json:"id"`
		Parts []struct {
			ID int64 `json:"id"`
		} `json:"components"`
	}
	var list []part
	if len(m.Components) == 0 || json.Unmarshal(m.Components, &list) != nil {
		return false // components of another kind: not the bot's
	}
	at := markOf(k)
	return slices.ContainsFunc(list, func(p part) bool {
		return p.ID == at.outer && len(p.Parts) > 0 && p.Parts[0].ID == at.inner
	})
}

// own reports whether the bot wrote the message.
func (d *Discord) own(m *found) bool { return m.Author.ID == d.botUser }

// Find looks for a post of the bot's that carries the key. An address without a
// thread is searched for the card's headline, and the thread below it for the card.
func (d *Discord) Find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (p bot.Posted, is bool, err error) {
	p, is, err = d.find(ctx, to, key, since)
	if err != nil {
		return bot.Posted{}, false, d.failed(fmt.Sprintf("look for post %s of run %s in %s", key.Name, key.Run, to), err)
	}
	return p, is, nil
}

func (d *Discord) find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (bot.Posted, bool, error) {
	if to.ID != "" || to.Workspace == directSpace {
		return d.findIn(ctx, to, key, since)
	}
	head := headlineOf(bot.Card{Key: key}).Key
	thread, err := d.headlineNow(ctx, to.Channel, head) // it may be older: of an attempt before
	if err == nil && thread == "" {
		err = d.search(ctx, to.Channel, since, func(m *found) bool {
			if m.carries(head) {
				thread = m.ID
			}
			return thread != ""
		})
	}
	if err != nil && !noTexts(err) {
		return bot.Posted{}, false, err
	}
	if thread == "" {
		return d.findForum(ctx, to, key, since)
	}
	p, is, err := d.findIn(ctx, to.At(thread), key, since)
	if codeOf(err) == discordgo.ErrCodeUnknownChannel {
		return bot.Posted{}, false, nil // the thread was not opened yet
	}
	return p, is, err
}

// findIn looks for a post in a thread or a direct conversation.
func (d *Discord) findIn(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (p bot.Posted, is bool, err error) {
	room := roomOf(to)
	if to.ID == "" {
		to.ID = to.Channel // a direct conversation is its own thread
	}
	err = d.search(ctx, room, since, func(m *found) bool {
		if is = m.carries(key); is {
			p = bot.Posted{Message: place(to.Workspace, room, m.ID), Thread: to}
		}
		return is
	})
	return p, is, err
}

// findForum looks for a post of a forum; in other channels there are none.
func (d *Discord) findForum(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (bot.Posted, bool, error) {
	var channel struct {
		Type int `json:"type"`
	}
	if err := d.ask(ctx, discordgo.EndpointChannel(to.Channel), &channel); err != nil {
		return bot.Posted{}, false, err
	}
	if channel.Type != int(discordgo.ChannelTypeGuildForum) && channel.Type != int(discordgo.ChannelTypeGuildMedia) {
		return bot.Posted{}, false, nil
	}
	list, err := d.forumPosts(ctx, to, idAt(since.Add(-clockSkew)))
	for _, m := range list {
		if d.own(&m) && m.carries(key) {
			return bot.Posted{Message: place(to.Workspace, m.ChannelID, m.ID), Thread: to.At(m.ChannelID)}, true, nil
		}
	}
	return bot.Posted{}, false, err
}

var errTooMany = errors.New("there are too many messages to look through")

// search shows the bot's own messages of a channel or thread that were made
// since a little before the time, the oldest first, until one is the right one.
func (d *Discord) search(ctx context.Context, channel string, since time.Time, right func(*found) bool) error {
	after := strconv.FormatInt(idAt(since.Add(-clockSkew)), 10)
	for range findPages {
		list, err := d.page(ctx, channel, fmt.Sprintf("limit=%d&after=%s", findPage, after))
		if err != nil {
			return err
		}
		for _, m := range list {
			if d.own(&m) && right(&m) {
				return nil
			}
			after = m.ID
		}
		if len(list) < findPage {
			return nil
		}
	}
	return fmt.Errorf("%w: more than %d", errTooMany, findPages*findPage)
}

// page is some messages of a channel or thread, the oldest first.
func (d *Discord) page(ctx context.Context, channel, query string) ([]found, error) {
	var list []found
	err := d.ask(ctx, discordgo.EndpointChannelMessages(channel)+"?"+query, &list)
	slices.SortFunc(list, func(a, b found) int { return cmp.Compare(numberOf(a.ID), numberOf(b.ID)) })
	return list, err
}

// ask reads something. Where Discord does not answer it asks again, after a
// growing pause.
func (d *Discord) ask(ctx context.Context, endpoint string, out any) error {
	for n := 0; ; n++ {
		once, cancel := context.WithTimeout(ctx, d.cfg.PostTimeout)
		err := d.call(once, http.MethodGet, endpoint, nil, out)
		cancel()
		if err == nil || n == askAgain || !unanswered(err) || !ingest.Sleep(ctx, firstWait<<n) {
			return err
		}
	}
}
