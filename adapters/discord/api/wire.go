package api

import (
	"encoding/json"
	"errors"

	"github.com/bwmarrin/discordgo"
)

// What Discord sends, as far as it matters here. Users, roles and numbers are the
// library's. Its messages and interactions refuse the whole for one part of a
// kind that they do not know; its members and channels for a time that is none,
// and of channels thousands are remembered.

// ErrMalformed says that a payload cannot be read.
var ErrMalformed = errors.New("the payload is not what Discord documents")

// Name is how people see a user.
func Name(u discordgo.User) string {
	if name := u.DisplayName(); name != "" {
		return name
	}
	return u.ID
}

// Member is a user in a server.
type Member struct {
	User    *discordgo.User `json:"user"`
	Nick    string          `json:"nick"`
	Roles   []string        `json:"roles"`
	Pending bool            `json:"pending"` // has not accepted the server's rules yet
}

// Message is a message that somebody wrote, or Discord itself.
type Message struct {
	ID       string                `json:"id"`
	Channel  string                `json:"channel_id"`
	Guild    string                `json:"guild_id"`
	Type     discordgo.MessageType `json:"type"`
	Author   discordgo.User        `json:"author"`
	Member   *Member               `json:"member"`
	Webhook  string                `json:"webhook_id"`
	Content  string                `json:"content"`
	Mentions []discordgo.User      `json:"mentions"`
	Edited   string                `json:"edited_timestamp"`
	Files    []Attachment          `json:"attachments"`
	Answers  *Message              `json:"referenced_message"`
	// Components and Embeds are what the bot shows; other bots' may be of any kind.
	Components json.RawMessage `json:"components"`
	Embeds     []struct {
		URL string `json:"url"`
	} `json:"embeds"`
}

// Written reports whether a person or a bot wrote the message; others are
// Discord's own notices.
func (m *Message) Written() bool {
	return m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply
}

// AnswersTo reports whether the message is a reply to one of the user's.
func (m *Message) AnswersTo(user string) bool { return m.Answers != nil && m.Answers.Author.ID == user }

// Attachment is a file that came with a message.
type Attachment struct {
	ID   string  `json:"id"`
	Name string  `json:"filename"`
	Size float64 `json:"size"` // a number of any notation
	URL  string  `json:"url"`
}

// Sent is what is read of the answer to a message that was made.
type Sent struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
}

// Channel is a channel, a thread or a direct conversation.
type Channel struct {
	ID     string                `json:"id"`
	Type   discordgo.ChannelType `json:"type"`
	Guild  string                `json:"guild_id"`
	Parent string                `json:"parent_id"`
	Name   string                `json:"name"`
	Owner  string                `json:"owner_id"`
	Last   string                `json:"last_message_id"`
	Thread struct {
		Locked   bool   `json:"locked"`
		Archived string `json:"archive_timestamp"` // when it was archived, or opened, last
	} `json:"thread_metadata"`
}

// IsThread reports whether the channel is a thread of another one.
func (c Channel) IsThread() bool { return (&discordgo.Channel{Type: c.Type}).IsThread() }

// IsPrivate reports whether only those who were let in see the thread.
func (c Channel) IsPrivate() bool { return c.Type == discordgo.ChannelTypeGuildPrivateThread }

// IsDirect reports whether the channel is a conversation with one person.
func (c Channel) IsDirect() bool { return c.Type == discordgo.ChannelTypeDM }

// IsVoice reports whether the channel is the text of a voice channel, which
// takes no threads.
func (c Channel) IsVoice() bool {
	return c.Type == discordgo.ChannelTypeGuildVoice || c.Type == discordgo.ChannelTypeGuildStageVoice
}

// IsForum reports whether the channel holds threads only.
func (c Channel) IsForum() bool {
	return c.Type == discordgo.ChannelTypeGuildForum || c.Type == discordgo.ChannelTypeGuildMedia
}

// Interaction is a command, a click, a form or a completion.
type Interaction struct {
	ID      string                    `json:"id"`
	Token   string                    `json:"token"`
	Type    discordgo.InteractionType `json:"type"`
	Guild   string                    `json:"guild_id"`
	Channel string                    `json:"channel_id"`
	Place   Channel                   `json:"channel"`
	Member  *Member                   `json:"member"`
	User    *discordgo.User           `json:"user"`
	Message *struct {
		ID string `json:"id"`
	} `json:"message"` // that it was clicked on
	Data json.RawMessage `json:"data"`
}

// Command is what was typed, or chosen from a message's menu.
type Command struct {
	Name     string                           `json:"name"`
	Type     discordgo.ApplicationCommandType `json:"type"`
	Options  []Option                         `json:"options"`
	Target   string                           `json:"target_id"`
	Resolved Resolved                         `json:"resolved"`
}

// Option is an option of a command: a subcommand with its own, or a value.
type Option struct {
	Name    string                                 `json:"name"`
	Type    discordgo.ApplicationCommandOptionType `json:"type"`
	Value   json.RawMessage                        `json:"value"`
	Options []Option                               `json:"options"`
	Focused bool                                   `json:"focused"`
}

// Text is the value as it was typed; numbers and truths as JSON has them.
func (o Option) Text() string {
	var s string
	if json.Unmarshal(o.Value, &s) == nil {
		return s
	}
	return string(o.Value)
}

// Resolved is what ids in a command stand for.
type Resolved struct {
	Messages map[string]Message         `json:"messages"`
	Channels map[string]Channel         `json:"channels"`
	Roles    map[string]json.RawMessage `json:"roles"`
}
