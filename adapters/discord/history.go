package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// History is what people and other bots said in a thread: the message that it
// began at and the newest, at most limit. Of a channel it is the newest of the
// top level. What Discord hides from the bot (it gives texts that do not name
// the bot only with the message content intent) is left out.
func (d *Discord) History(ctx context.Context, thread bot.Address, limit int) ([]bot.Line, error) {
	if limit <= 0 {
		return nil, nil
	}
	start, err := d.beginning(ctx, thread)
	if err != nil {
		return nil, api.Failed("read "+thread.String(), err)
	}
	if limit > 1 || len(start) == 0 {
		newest, err := d.newest(ctx, roomOf(thread), limit-len(start), start)
		if api.Code(err) == discordgo.ErrCodeUnknownChannel && thread.ID != "" && thread.ID != thread.Channel {
			err = nil // the thread was not opened yet
		}
		if err != nil {
			return nil, api.Failed("read "+thread.String(), err)
		}
		start = append(start, newest...)
	}
	lines := make([]bot.Line, 0, len(start))
	for _, m := range start {
		lines = append(lines, d.line(thread.Workspace, &m))
	}
	return lines, nil
}

// beginning is the message that a thread began at, if somebody wrote it: it
// stands in the parent channel and has the thread's id.
func (d *Discord) beginning(ctx context.Context, thread bot.Address) ([]api.Message, error) {
	if thread.ID == "" || thread.ID == thread.Channel || thread.Workspace == directSpace {
		return nil, nil
	}
	var m api.Message
	err := d.api.Read(ctx, discordgo.EndpointChannelMessage(thread.Channel, thread.ID), &m)
	if code := api.Code(err); code == discordgo.ErrCodeUnknownMessage || code == discordgo.ErrCodeMissingAccess {
		return d.oldest(ctx, thread.ID)
	}
	if err != nil || !d.said(&m) {
		return nil, err
	}
	return []api.Message{m}, nil
}

// oldest is the first message within a thread that did not begin at one.
func (d *Discord) oldest(ctx context.Context, room string) ([]api.Message, error) {
	list, err := d.api.Page(ctx, room, fmt.Sprintf("limit=%d&after=0", api.PageSize))
	for _, m := range list {
		if d.said(&m) {
			return []api.Message{m}, err
		}
	}
	return nil, err
}

// newest are the last messages of a channel or thread, without those that are
// known already.
func (d *Discord) newest(ctx context.Context, room string, limit int, already []api.Message) ([]api.Message, error) {
	var list []api.Message
	query := fmt.Sprintf("limit=%d", api.PageSize)
	for range api.MaxPages {
		page, err := d.api.Page(ctx, room, query)
		if err != nil {
			return nil, err
		}
		some := slices.DeleteFunc(slices.Clone(page), func(m api.Message) bool {
			return !d.said(&m) || slices.ContainsFunc(already, func(a api.Message) bool { return a.ID == m.ID })
		})
		list = append(some, list...)
		if len(list) >= limit || len(page) < api.PageSize {
			break
		}
		query = fmt.Sprintf("limit=%d&before=%s", api.PageSize, page[0].ID)
	}
	return list[max(len(list)-limit, 0):], nil
}

// said reports whether a message is somebody's words, or files, for the bot to read.
func (d *Discord) said(m *api.Message) bool {
	return m.Author.ID != d.botUser && m.Written() && (m.Content != "" || len(m.Files) > 0)
}

// line is a message as people read it.
func (d *Discord) line(guild string, m *api.Message) bot.Line {
	l := bot.Line{By: api.Principal(m.Author.ID), Name: m.Author.DisplayName(), At: api.Time(m.ID)}
	user := func(id string) string {
		if name := namesIn(m)[id]; name != "" {
			return name
		}
		return id
	}
	l.Text = d.readable(m.Content, spelling{user: user, channel: func(id string) string { return "#" + d.in.halls.nameIn(guild, id) },
		role: func(id string) string { return d.in.roles.name(guild, id) }})
	for _, f := range m.Files {
		l.Text = strings.TrimSpace(l.Text + "\n[file: " + f.Name + "]")
	}
	return l
}
