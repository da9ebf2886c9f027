package discord

import "github.com/deckhand-bot/deckhand/bot"

// Link is where a browser or Discord's own program opens a message or a thread.
func (d *Discord) Link(message bot.Address) string {
	switch {
	case message.Workspace == "" || message.Channel == "":
		return ""
	case message.ID == "" || message.ID == message.Channel:
		return "https://discord.com/channels/" + message.Workspace + "/" + message.Channel
	}
	return "https://discord.com/channels/" + message.Workspace + "/" + message.Channel + "/" + message.ID
}
