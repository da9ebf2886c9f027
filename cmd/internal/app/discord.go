package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// discordOff is said where somebody began to set Discord up.
const discordOff = "DISCORD_PUBLIC_KEY is set, but not DISCORD_TOKEN: Discord is off"

// discordBegun reports whether anything of Discord's is set.
func discordBegun(c config.Config) bool {
	return c.Discord.Token.Present() || c.Discord.PublicKey.Present()
}

// discordReachable refuses a Discord that could hear nobody.
func discordReachable(c config.Config) error {
	switch {
	case !c.Discord.Gateway && !c.Discord.PublicKey.Present():
		return config.Refuse("discord.gateway is false (%s) and DISCORD_PUBLIC_KEY is not set: Discord could not reach Deckhand; set one of the two", c.At("discord.gateway"))
	case !c.Discord.Gateway && c.HTTP == "off":
		return config.Refuse("Discord is to send its interactions over HTTP (discord.gateway is false), but the HTTP address is off: set DECKHAND_HTTP_ADDR")
	}
	return nil
}

func (a *App) discordConnector(chat *intake.Chat) Connector {
	cfg := DiscordConfig(a.options.Config, a.options.Log.With("platform", discord.Platform))
	cfg.Names, cfg.Clock, cfg.Suggest = a.store, a.store, suggest(chat)
	return Connector{discord.Platform, func(ctx context.Context) (bot.Platform, error) { return discord.New(ctx, cfg) }}
}

// DiscordConfig is Discord as the configuration has it, without what a serving
// process adds.
func DiscordConfig(c config.Config, log *slog.Logger) discord.Config {
	return discord.Config{
		Token: c.Discord.Token.Reveal(), PublicKey: c.Discord.PublicKey.Reveal(), APIURL: c.Discord.APIURL,
		AppID: c.Discord.AppID, GuildID: c.Discord.GuildID, Gateway: c.Discord.Gateway,
		PostTimeout: c.Voice.PostTimeout, AllowBots: c.Authority.AllowBots, CatchUp: c.Retention.CatchUp, Log: log,
	}
}

// maxHint is how much of a goal or a question stands beside its id.
const maxHint = 80

// suggest names what a person may see: their runs and those of others, the
// questions that wait for them, and schedules.
func suggest(chat *intake.Chat) discord.Suggest {
	return func(ctx context.Context, what discord.Suggested, by bot.Person, at bot.Address) ([]discord.Suggestion, error) {
		switch what {
		case discord.SuggestLive:
			live, err := chat.Live(ctx, by, at)
			return suggestedRuns(live), err
		case discord.SuggestQuestions:
			return suggestedQuestions(ctx, chat, by)
		case discord.SuggestReports, discord.SuggestGoals:
			return suggestedSchedules(ctx, chat, what == discord.SuggestReports, by, at)
		case discord.SuggestRuns:
		}
		mine, err := chat.Mine(ctx, by)
		return suggestedRuns(mine), err
	}
}

func suggestedRuns(runs []card.Status) []discord.Suggestion {
	var list []discord.Suggestion
	for _, s := range runs {
		list = append(list, discord.Suggestion{ID: string(s.Run), Text: string(s.State) + ": " + format.Cut(s.Goal, maxHint)})
	}
	return list
}

func suggestedQuestions(ctx context.Context, chat *intake.Chat, by bot.Person) ([]discord.Suggestion, error) {
	var list []discord.Suggestion
	waiting, err := chat.Pending(ctx, by)
	for _, p := range waiting {
		list = append(list, discord.Suggestion{ID: string(p.Check.ID), Text: format.Cut(p.Check.Title+" – "+p.Run.Brief.Goal, maxHint)})
	}
	return list, err
}

func suggestedSchedules(ctx context.Context, chat *intake.Chat, reports bool, by bot.Person, at bot.Address) ([]discord.Suggestion, error) {
	var list []discord.Suggestion
	kept, err := chat.Schedules(ctx, by, at)
	for _, s := range kept {
		if (s.Report != "") == reports {
			list = append(list, discord.Suggestion{ID: s.Name, Text: format.Cut(strings.TrimPrefix(s.Goal+" – "+s.When, " – "), maxHint)})
		}
	}
	return list, err
}

func checkDiscord(ctx context.Context, c config.Config) (string, error) {
	if !c.Discord.Token.Present() {
		return "", errors.New(discordOff)
	}
	if err := discordReachable(c); err != nil {
		return "", err
	}
	return discord.Check(ctx, DiscordConfig(c, slog.New(slog.DiscardHandler)))
}
