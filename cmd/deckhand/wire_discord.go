package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/bot"
	botcard "github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/intake"
)

// discordOff is said where somebody began to set Discord up.
const discordOff = "DISCORD_PUBLIC_KEY is set, but not DISCORD_TOKEN: Discord is off"

// present reports whether anything of Discord's is set.
func (c discordConfig) present() bool { return c.Token.present() || c.PublicKey.present() }

// discordComplete refuses a Discord that could hear nobody.
func (c config) discordComplete() error {
	switch {
	case !c.Discord.Gateway && !c.Discord.PublicKey.present():
		return usage("discord.gateway is false (%s) and DISCORD_PUBLIC_KEY is not set: Discord could not reach Deckhand; set one of the two", c.At("discord.gateway"))
	case !c.Discord.Gateway && c.HTTP == "off":
		return usage("Discord is to send its interactions over HTTP (discord.gateway is false), but the HTTP address is off: set DECKHAND_HTTP_ADDR")
	}
	return nil
}

func (c config) discordConfig(s store, suggest discord.Suggest, log *slog.Logger) discord.Config {
	return discord.Config{
		Token: c.Discord.Token.Reveal(), PublicKey: c.Discord.PublicKey.Reveal(), APIURL: c.Discord.APIURL,
		AppID: c.Discord.AppID, GuildID: c.Discord.GuildID, Gateway: c.Discord.Gateway,
		PostTimeout: c.Voice.PostTimeout, AllowBots: c.Authority.AllowBots, CatchUp: c.Retention.CatchUp,
		Names: s, Suggest: suggest, Log: log,
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

func suggestedRuns(runs []botcard.Status) []discord.Suggestion {
	var list []discord.Suggestion
	for _, s := range runs {
		list = append(list, discord.Suggestion{ID: string(s.Run), Text: string(s.State) + ": " + hint(s.Goal)})
	}
	return list
}

func suggestedQuestions(ctx context.Context, chat *intake.Chat, by bot.Person) ([]discord.Suggestion, error) {
	var list []discord.Suggestion
	waiting, err := chat.Pending(ctx, by)
	for _, p := range waiting {
		list = append(list, discord.Suggestion{ID: string(p.Check.ID), Text: hint(p.Check.Title + " – " + p.Run.Brief.Goal)})
	}
	return list, err
}

func suggestedSchedules(ctx context.Context, chat *intake.Chat, reports bool, by bot.Person, at bot.Address) ([]discord.Suggestion, error) {
	var list []discord.Suggestion
	kept, err := chat.Schedules(ctx, by, at)
	for _, s := range kept {
		if (s.Report != "") == reports {
			list = append(list, discord.Suggestion{ID: s.Name, Text: hint(strings.TrimPrefix(s.Goal+" – "+s.When, " – "))})
		}
	}
	return list, err
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
