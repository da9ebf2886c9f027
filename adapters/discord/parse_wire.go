package discord

import "encoding/json"

// What Discord sends, as far as it matters here. The library's own types refuse
// the whole for one part of a kind that they do not know.

// user is a person or a bot.
type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
}

// member is a user in a server.
type member struct {
	User    *user    `json:"user"`
	Nick    string   `json:"nick"`
	Roles   []string `json:"roles"`
	Pending bool     `json:"pending"` // has not accepted the server's rules yet
}

// speech is a message that somebody wrote.
type speech struct {
	ID        string     `json:"id"`
	Channel   string     `json:"channel_id"`
	Guild     string     `json:"guild_id"`
	Kind      int        `json:"type"`
	Author    *user      `json:"author"`
	Member    *member    `json:"member"`
	Webhook   string     `json:"webhook_id"`
	Content   string     `json:"content"`
	Mentions  []user     `json:"mentions"`
	Edited    string     `json:"edited_timestamp"`
	Files     []enclosed `json:"attachments"`
	Reference struct {
		Kind    int    `json:"type"`
		Channel string `json:"channel_id"`
	} `json:"message_reference"`
	Answers *speech `json:"referenced_message"`
}

// enclosed is a file that came with a message.
type enclosed struct {
	ID   string  `json:"id"`
	Name string  `json:"filename"`
	Size float64 `json:"size"` // a number of any notation
	URL  string  `json:"url"`
}

// channel is a channel, a thread or a direct conversation.
type channel struct {
	ID     string `json:"id"`
	Kind   int    `json:"type"`
	Guild  string `json:"guild_id"`
	Parent string `json:"parent_id"`
	Name   string `json:"name"`
	Last   string `json:"last_message_id"`
}

// Kinds of channels.
const (
	channelText         = 0
	channelDirect       = 1
	channelVoice        = 2
	channelNews         = 5
	channelStage        = 13
	channelNewsThread   = 10
	channelThread       = 11
	channelSecretThread = 12
	channelForum        = 15
	channelMedia        = 16
)

func (c channel) thread() bool { return c.Kind >= channelNewsThread && c.Kind <= channelSecretThread }

// flat reports whether the channel takes no threads.
func (c channel) flat() bool { return c.Kind == channelVoice || c.Kind == channelStage }

// Kinds of messages that people write; others are Discord's own notices.
const (
	speechPlain = 0
	speechReply = 19
)

// interaction is a command, a click, a form or a completion.
type interaction struct {
	ID      string  `json:"id"`
	Token   string  `json:"token"`
	Kind    int     `json:"type"`
	Guild   string  `json:"guild_id"`
	Channel string  `json:"channel_id"`
	Place   channel `json:"channel"`
	Member  *member `json:"member"`
	User    *user   `json:"user"`
	Message *struct {
		ID string `json:"id"`
	} `json:"message"` // that it was clicked on
	Data json.RawMessage `json:"data"`
}

// Kinds of interactions.
const (
	askPing         = 1
	askCommand      = 2
	askComponent    = 3
	askCompletion   = 4
	askForm         = 5
	commandSlash    = 1
	commandMessage  = 3
	optionSub       = 1
	optionGroup     = 2
	optionText      = 3
	optionBool      = 5
	optionChannel   = 7
	optionPrincipal = 9
)

// command is what was typed, or chosen from a message's menu.
type command struct {
	Name     string   `json:"name"`
	Kind     int      `json:"type"`
	Options  []given  `json:"options"`
	Target   string   `json:"target_id"`
	Resolved resolved `json:"resolved"`
}

// given is an option of a command: a subcommand with its own, or a value.
type given struct {
	Name    string          `json:"name"`
	Kind    int             `json:"type"`
	Value   json.RawMessage `json:"value"`
	Options []given         `json:"options"`
	Focused bool            `json:"focused"`
}

// text is the value as it was typed; numbers and truths as JSON has them.
func (g given) text() string {
	var s string
	if json.Unmarshal(g.Value, &s) == nil {
		return s
	}
	return string(g.Value)
}

// resolved is what ids in a command stand for.
type resolved struct {
	Messages map[string]speech          `json:"messages"`
	Channels map[string]channel         `json:"channels"`
	Roles    map[string]json.RawMessage `json:"roles"`
}

// click is a button or a menu.
type click struct {
	CustomID string   `json:"custom_id"`
	Values   []string `json:"values"`
}
