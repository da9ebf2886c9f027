package wire

// This file reads what a person has open in Slack beside their conversation
// with the bot, as far as Slack tells: of the agent view with every direct
// message, of the older assistant with its thread.

import (
	"encoding/json"
	"slices"

	"github.com/deckhand-bot/deckhand/bot"
)

// The kinds of entities that can be read. Canvases and lists cannot.
const (
	entityChannel = "slack#/types/channel_id"
	entityMessage = "slack#/types/message_context"
)

// maxEntities is how many of the things that somebody has open are looked at.
const maxEntities = 8

// entity is one thing that somebody has open. Its value is an id, or for a
// message where it stands.
type entity struct {
	Type  string          `json:"type"`
	Team  string          `json:"team_id"`
	Value json.RawMessage `json:"value"`
}

// opened is a look at the conversation with the bot; anew: it was just opened.
// Nil: it is not known whose.
func (r *Reader) opened(user, channel, thread string, context json.RawMessage, anew bool) *Update {
	if user == "" {
		return nil
	}
	var act bot.Opened
	if v := r.viewing(channel, context); len(v) > 0 {
		act.Viewing = r.Address(v[0].Channel, "")
	}
	return &Update{User: user, Opens: anew, In: bot.Inbound{Where: r.Address(channel, thread), Act: act}}
}

// viewing are the channels and messages of the workspace in a context, without
// the conversation that it came with. What has another shape is left out: the
// message counts without it, too.
func (r *Reader) viewing(own string, context json.RawMessage) []bot.Address {
	var seen struct {
		Entities []json.RawMessage `json:"entities"`
		Channel  string            `json:"channel_id"` // of the older assistant
		Team     string            `json:"team_id"`
	}
	if json.Unmarshal(context, &seen) != nil {
		return nil
	}
	var list []bot.Address
	add := func(team, channel, ts string) {
		if at := r.Address(channel, ts); channel != "" && channel != own && (team == "" || team == r.Team) && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	add(seen.Team, seen.Channel, "")
	for _, raw := range seen.Entities[:min(len(seen.Entities), maxEntities)] {
		var e entity
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		var id string
		var message struct {
			Channel string `json:"channel_id"`
			TS      string `json:"message_ts"`
		}
		switch {
		case e.Type == entityChannel && json.Unmarshal(e.Value, &id) == nil:
			add(e.Team, id, "")
		case e.Type == entityMessage && json.Unmarshal(e.Value, &message) == nil:
			add(e.Team, message.Channel, message.TS)
		}
	}
	return list
}
