package main

import (
	"context"
	"log/slog"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/bot"
)

// discordOff is said where somebody began to set Discord up.
const discordOff = "DISCORD_PUBLIC_KEY is set, but not DISCORD_TOKEN: Discord is off"

// present reports whether anything of Discord's is set.
func (c discordConfig) present() bool { return c.Token.present() || c.PublicKey.present() }

// discordComplete refuses a Discord that could hear nobody.
func (c config) discordComplete() error {
	switch {
	case !c.Discord.Gateway && !c.Discord.PublicKey.present():
		return usage("discord.gateway is false (%s) and DISCORD_PUBLIC_KEY is not set: Discord could not reach Deckhand; set one of the two", c.at("discord.gateway"))
	case !c.Discord.Gateway && c.HTTP == "off":
		return usage("Discord is to send its interactions over HTTP (discord.gateway is false), but the HTTP address is off: set DECKHAND_HTTP_ADDR")
	}
	return nil
}

func (c config) discordConfig(s store, suggest discord.Suggest, log *slog.Logger) discord.Config {
	return discord.Config{
		Token: c.Discord.Token.reveal(), PublicKey: c.Discord.PublicKey.reveal(), APIURL: c.Discord.APIURL,
		AppID: c.Discord.AppID, GuildID: c.Discord.GuildID, Gateway: c.Discord.Gateway,
		PostTimeout: c.Voice.PostTimeout, AllowBots: c.Authority.AllowBots, CatchUp: c.Retention.CatchUp,
		Names: s, Suggest: suggest, Log: log,
	}
}

// maxHint is how much of a goal or a question stands beside its id.
const maxHint = 80

// suggest names a person's runs and the questions that wait for them.
func suggest(chat *bot.Chat) discord.Suggest {
	return func(ctx context.Context, by bot.Person) (discord.Suggestions, error) {
		var all discord.Suggestions
		mine, err := chat.Mine(ctx, by)
		if err != nil {
			return all, err
		}
		for _, s := range mine {
			all.Runs = append(all.Runs, discord.Suggestion{ID: string(s.Run), Text: string(s.State) + ": " + hint(s.Goal)})
		}
		waiting, err := chat.Pending(ctx, by)
		for _, p := range waiting {
			all.Questions = append(all.Questions, discord.Suggestion{ID: string(p.Check.ID), Text: hint(p.Check.Title)})
		}
		return all, err
	}
}

// hint is the beginning of a text.
func hint(s string) string {
	if r := []rune(s); len(r) > maxHint {
		return string(r[:maxHint-1]) + "…"
	}
	return s
}

func checkDiscord(ctx context.Context, cfg config) (string, error) {
	if !cfg.Discord.Token.present() {
		return "", usage(discordOff)
	}
	if err := cfg.discordComplete(); err != nil {
		return "", err
	}
	return discord.Check(ctx, cfg.discordConfig(nil, nil, slog.New(slog.DiscardHandler)))
}
