package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
)

// need is a permission that the bot needs in a server, with the reason.
type need struct {
	Name string `json:"name"`
	bit  int64
	Why  string `json:"why"`
}

// needs are the permissions that the invitation asks for.
func needs() []need {
	return []need{
		{"View Channels", discordgo.PermissionViewChannel, "to see where it is asked"},
		{"Send Messages", discordgo.PermissionSendMessages, "to answer in a channel"},
		{"Create Public Threads", discordgo.PermissionCreatePublicThreads, "a run has a thread of its own"},
		{"Send Messages in Threads", discordgo.PermissionSendMessagesInThreads, "everything about a run is said in its thread"},
		{"Read Message History", discordgo.PermissionReadMessageHistory, "to find its own posts after a crash, and what was said while it was away"},
		{"Attach Files", discordgo.PermissionAttachFiles, "artifacts, and texts that are too long for a message"},
		{"Embed Links", discordgo.PermissionEmbedLinks, "cards where Discord takes no components"},
		{"Add Reactions", discordgo.PermissionAddReactions, "to mark messages as seen or noted"},
	}
}

// intent is an intent of the gateway that the bot asks for, or could.
type intent struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// permissions are all needed ones as Discord counts them.
func permissions() int64 {
	var all int64
	for _, n := range needs() {
		all |= n.bit
	}
	return all
}

// noApplication stands in an invitation for an application that is not known.
const noApplication = "APPLICATION_ID"

// Invitation is the address that invites the application's bot to a server, with
// the permissions that it needs.
func Invitation(appID string) string {
	query := url.Values{"client_id": {appID}, "scope": {"bot applications.commands"}, "permissions": {strconv.FormatInt(permissions(), 10)}}
	return "https://discord.com/oauth2/authorize?" + query.Encode()
}

// Manifest is what Discord has to be told about the bot, as JSON: the address
// that invites it, with the permissions and why they are needed; the intents;
// and the commands, as they are registered in the server, or for an empty one
// everywhere. An empty application stands as APPLICATION_ID in the address.
func Manifest(appID, guildID string) (string, error) {
	if appID == "" {
		appID = noApplication
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Invite       string                `json:"invite"`
		Permissions  []need                `json:"permissions"`
		Intents      []intent              `json:"intents"`
		Interactions string                `json:"interactions_endpoint"`
		Commands     []commands.Definition `json:"commands"`
	}{
		Invite: Invitation(appID), Permissions: needs(),
		Intents: []intent{
			{"GUILDS", "which channel a thread belongs to"},
			{"GUILD_MESSAGES", "mentions, and replies to the bot"},
			{"DIRECT_MESSAGES", "what is said to the bot alone"},
			{"MESSAGE_CONTENT (privileged, not needed)", "only to read replies in a run's thread that do not mention the bot"},
		},
		Interactions: "https://YOUR-HOST/discord/interactions (only with DISCORD_PUBLIC_KEY; leave it empty for the gateway)",
		Commands:     commands.Definitions(guildID),
	})
	if err != nil {
		return "", fmt.Errorf("write the manifest: %w", err)
	}
	return out.String(), nil
}

// Register brings the commands to what they should be, once and without
// listening. It says in one line what it did, and whose commands they are: the
// application is named also where they could not be registered.
func Register(ctx context.Context, cfg Config) (did, appID string, err error) {
	d, err := New(ctx, cfg)
	if err != nil {
		return "", "", err
	}
	changed, err := commands.Register(ctx, d.api, d.appID, cfg.GuildID)
	if err != nil {
		return "", d.appID, err
	}
	where, how := "everywhere", "are registered already"
	if cfg.GuildID != "" {
		where = "in the server " + cfg.GuildID
	}
	if changed {
		how = "are registered now"
	}
	return fmt.Sprintf("%d commands of @%s %s %s", len(commands.Definitions(cfg.GuildID)), d.botName, how, where), d.appID, nil
}
