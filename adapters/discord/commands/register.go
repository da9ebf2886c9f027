package commands

// This file compares the commands that Discord has registered with those the
// bot defines, and replaces them only where they differ.

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// endpoint is where the commands are kept.
func endpoint(appID, guild string) string {
	if guild != "" {
		return discordgo.EndpointApplicationGuildCommands(appID, guild)
	}
	return discordgo.EndpointApplicationGlobalCommands(appID)
}

// registered are those that are registered.
func registered(ctx context.Context, client *api.Client, appID, guild string) (have []Definition, err error) {
	if err := client.Call(ctx, http.MethodGet, endpoint(appID, guild), nil, &have); err != nil {
		return nil, unregistered(err)
	}
	return have, nil
}

// Registered reports whether the commands are what they should be.
func Registered(ctx context.Context, client *api.Client, appID, guild string) (bool, error) {
	have, err := registered(ctx, client, appID, guild)
	return err == nil && same(have, Definitions(guild)), err
}

// Register brings the commands to what they should be, where they are not so
// already. Changed says whether anything had to be done.
func Register(ctx context.Context, client *api.Client, appID, guild string) (changed bool, err error) {
	have, err := registered(ctx, client, appID, guild)
	want := Definitions(guild)
	if err != nil || same(have, want) {
		return false, err
	}
	if err := client.Call(ctx, http.MethodPut, endpoint(appID, guild), want, nil); err != nil {
		return false, unregistered(err)
	}
	return true, nil
}

func unregistered(err error) error {
	if api.Status(err) == http.StatusForbidden {
		return fmt.Errorf("the commands are not registered: the bot is not in the server DISCORD_GUILD_ID, or was invited without "+
			"the scope applications.commands; `deckhand manifest discord` prints the right address: %w: %w", bot.ErrRefused, err)
	}
	return fmt.Errorf("the commands are not registered: %w", err)
}

// same compares commands by what is set here; Discord adds more, and keeps them
// in an order of its own.
func same(have, want []Definition) bool {
	if len(have) != len(want) {
		return false
	}
	found := map[string]Definition{}
	for _, h := range have {
		found[fmt.Sprint(h.Type, h.Name)] = normalized(h)
	}
	for _, w := range want {
		if !reflect.DeepEqual(found[fmt.Sprint(w.Type, w.Name)], normalized(w)) {
			return false
		}
	}
	return true
}

// normalized is a command with nothing for what is empty.
func normalized(d Definition) Definition {
	var out Definition
	raw, err := json.Marshal(d)
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return d
	}
	return out
}
