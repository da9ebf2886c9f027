package discord

import (
	"context"
	"strings"

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
	said, err := d.api.History(ctx, thread, d.botUser, limit)
	if err != nil {
		return nil, api.Failed("read "+thread.String(), err)
	}
	lines := make([]bot.Line, 0, len(said))
	for _, m := range said {
		lines = append(lines, d.line(thread.Workspace, &m))
	}
	return lines, nil
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
	l.Text = d.readable(m.Content, naming{user: user, channel: func(id string) string { return "#" + d.directory.ChannelName(guild, id) },
		role: func(id string) string { return d.directory.RoleName(guild, id) }})
	for _, f := range m.Files {
		l.Text = strings.TrimSpace(l.Text + "\n[file: " + f.Name + "]")
	}
	return l
}
