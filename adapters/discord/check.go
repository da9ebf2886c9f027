package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/discord/gateway"
	"github.com/deckhand-bot/deckhand/bot"
)

// The flags of an application that may read what people write.
const mayReadContent = 1<<18 | 1<<19

// Check looks whether the token is good, whether the bot is in a server, whether
// the public key is the application's, and whether Discord offers a gateway. It
// says what it found in one line, or what is missing and what to do.
func Check(ctx context.Context, cfg Config) (string, error) {
	d, err := New(ctx, cfg)
	if err != nil {
		return "", err
	}
	if !cfg.Gateway && cfg.PublicKey == "" {
		return "", fmt.Errorf("there is no way in for events: %w; leave discord.gateway on, or set DISCORD_PUBLIC_KEY (HTTP)", bot.ErrRefused)
	}
	if err := checkApplication(ctx, d.api, cfg); err != nil {
		return "", err
	}
	guilds, err := d.directory.Guilds(ctx)
	if err != nil {
		return "", err
	}
	if len(guilds) == 0 {
		return "", errors.New("the bot is in no server: open the address that `deckhand manifest discord` prints, and choose one")
	}
	if err := checkPermissions(ctx, d.api); err != nil {
		return "", err
	}
	var ways []string
	if cfg.Gateway {
		if _, err := gateway.Address(ctx, d.api); err != nil {
			return "", err
		}
		ways = append(ways, "the gateway")
	}
	if cfg.PublicKey != "" {
		ways = append(ways, "interactions over HTTP (/discord/interactions)")
	}
	registered, err := commands.Registered(ctx, d.api, d.appID, cfg.GuildID)
	if err != nil {
		return "", err
	}
	when := "its commands are registered as soon as it runs" // serve does it
	if registered {
		when = "its commands are registered"
	}
	servers := fmt.Sprintf("%d servers", len(guilds))
	if len(guilds) == 1 {
		servers = "1 server"
	}
	return fmt.Sprintf("@%s in %s, %s, %s", d.botName, servers, strings.Join(ways, " and "), when), nil
}

// checkApplication compares the application with the configuration.
func checkApplication(ctx context.Context, client *api.Client, cfg Config) error {
	var app discordgo.Application
	if err := client.Call(ctx, http.MethodGet, discordgo.EndpointOAuth2Application("@me"), nil, &app); err != nil {
		return fmt.Errorf("ask Discord about the application: %w", err)
	}
	switch {
	case cfg.AppID != "" && app.ID != cfg.AppID:
		return fmt.Errorf("DISCORD_APP_ID is not the application of DISCORD_TOKEN, which is %s: %w", app.ID, bot.ErrRefused)
	case cfg.PublicKey != "" && app.VerifyKey != "" && !strings.EqualFold(app.VerifyKey, cfg.PublicKey):
		return fmt.Errorf("DISCORD_PUBLIC_KEY is not that of the application %s: %w; it stands under \"General Information\"", app.ID, bot.ErrRefused)
	case cfg.Content && app.Flags&mayReadContent == 0:
		return fmt.Errorf("the application may not read what people write: %w; switch on \"Message Content Intent\" on its page \"Bot\"", bot.ErrRefused)
	}
	return nil
}

// checkPermissions looks what the bot's roles allow it in each server. What a
// single channel takes away from them it does not see.
func checkPermissions(ctx context.Context, client *api.Client) error {
	var found []discordgo.UserGuild
	if err := client.Call(ctx, http.MethodGet, discordgo.EndpointUserGuilds("@me"), nil, &found); err != nil {
		return fmt.Errorf("ask Discord what the bot may do: %w", err)
	}
	for _, g := range found {
		if g.Permissions&discordgo.PermissionAdministrator != 0 {
			continue
		}
		var lacks []string
		for _, n := range needs() {
			if g.Permissions&n.bit == 0 {
				lacks = append(lacks, n.Name+" ("+n.Why+")")
			}
		}
		if len(lacks) > 0 {
			return fmt.Errorf("in the server %q the bot lacks %s: give its role what is missing, or invite it again with the address that `deckhand manifest discord` prints",
				g.Name, strings.Join(lacks, ", "))
		}
	}
	return nil
}
