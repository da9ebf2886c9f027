package discord

import (
	"errors"
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// readMessage reads what was said. The thread that a message at a channel's top
// level opens has the message's own id.
func (a *account) readMessage(s *api.Message, edited bool) (*update, error) {
	if s.Channel == "" || api.Time(s.ID).IsZero() {
		return nil, errors.New("a message in no channel, or without an id")
	}
	n := &update{guild: s.Guild, channel: s.Channel, id: s.ID}
	if !s.Written() || edited && s.Edited == "" {
		return n, nil // Discord also calls it a change when it unfolds a link
	}
	if s.Author.ID == "" {
		return nil, errors.New("a message by nobody")
	}
	to := a.addresses(s)
	said := bot.Said{To: to || s.Guild == "", Direct: s.Guild == "", Files: attachments(s)}
	if s.Author.ID == a.botUser || !a.listensTo(s) || !said.To && s.Content == "" && len(said.Files) == 0 {
		return n, nil
	}
	a.fill(n, s)
	n.in.Act = said
	if s.AnswersTo(a.botUser) {
		n.root = s.Answers.ID
	}
	n.edit, n.in.Edited = edited, edited
	return n, nil
}

// readDeletion reads that a message is gone: Discord says neither whose it was nor
// who deleted it. It counts where a run lives in the thread.
func readDeletion(s *api.Message) (*update, error) {
	if s.Channel == "" || api.Time(s.ID).IsZero() {
		return nil, errors.New("the deletion of a message in no channel, or without an id")
	}
	n := &update{guild: s.Guild, channel: s.Channel, id: s.ID, root: s.ID}
	n.in.Message = api.Address(s.Guild, s.Channel, s.ID)
	n.in.Keys = []string{n.in.Message.String() + ":deleted"}
	n.in.Act = bot.Unsaid{}
	return n, nil
}

// fill is who said it where.
func (a *account) fill(n *update, s *api.Message) {
	n.guild, n.channel, n.id, n.root = s.Guild, s.Channel, s.ID, s.ID
	n.user, n.member, n.raw, n.names = s.Author, s.Member, s.Content, namesIn(s)
	n.in.At = api.Time(s.ID)
	n.in.Message = api.Address(s.Guild, s.Channel, s.ID)
	n.in.Keys = []string{n.in.Message.String()}
	if s.Edited != "" {
		n.in.Keys = append(n.in.Keys, n.in.Message.String()+":edit:"+s.Edited)
	}
}

// addresses reports whether a message names the bot, or answers it.
func (a *account) addresses(s *api.Message) bool {
	if a.mentions(s.Content) || slices.ContainsFunc(s.Mentions, func(u discordgo.User) bool { return u.ID == a.botUser }) {
		return true
	}
	return s.Type == discordgo.MessageTypeReply && s.Content != "" && s.AnswersTo(a.botUser)
}

// listensTo reports whether the author may speak to the bot at all: a person,
// or a bot that is allowed by name.
func (a *account) listensTo(s *api.Message) bool {
	if s.Webhook == "" && !s.Author.Bot {
		return true
	}
	return slices.Contains(a.allowBots, api.Principal(s.Author.ID)) || slices.Contains(a.allowBots, s.Author.ID)
}

// namesIn are the names of the people whom a message mentions.
func namesIn(s *api.Message) map[string]string {
	names := map[string]string{}
	for _, u := range s.Mentions {
		names[u.ID] = api.Name(u)
	}
	return names
}

func attachments(s *api.Message) []agent.Attachment {
	var list []agent.Attachment
	by := api.Principal(s.Author.ID)
	for _, f := range s.Files {
		if f.ID == "" || f.URL == "" {
			continue
		}
		list = append(list, agent.Attachment{ID: f.ID, Name: f.Name, Size: int64(min(max(f.Size, 0), 1<<50)), URL: f.URL, By: by})
	}
	return list
}
