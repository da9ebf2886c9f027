package discord

import (
	"errors"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// ordered reads "/deckhand WORD option:…". A command with fields of its own is
// the form that it stands for; any other is the text that a person would write.
func ordered(n *notice, c api.Command) error {
	if len(c.Options) == 1 && c.Options[0].Type == discordgo.ApplicationCommandOptionSubCommandGroup {
		return grouped(n, c.Options[0], c.Resolved)
	}
	if len(c.Options) != 1 || c.Options[0].Type != discordgo.ApplicationCommandOptionSubCommand {
		return errors.New("a command without a subcommand")
	}
	sub := c.Options[0]
	values := map[string]string{}
	for _, o := range sub.Options {
		values[o.Name] = o.Text()
		if o.Type == discordgo.ApplicationCommandOptionMentionable {
			values[o.Name] = mentionable(o.Text(), c.Resolved)
		}
	}
	if sub.Name == wordRun {
		n.begins = true
		n.raw = values[bot.FieldGoal]
		n.in.Act = bot.Filled{Form: bot.FormRun, Values: values, Direct: n.guild == ""}
		return nil
	}
	words := []string{sub.Name}
	options, is := optionsAt(subcommands(), sub.Name)
	if !is {
		return errors.New("a subcommand that is not the bot's")
	}
	for _, o := range options {
		value := values[o.Name]
		if o.Autocomplete {
			value = oneWord(value)
		}
		if value != "" {
			words = append(words, value)
		}
	}
	n.raw = strings.Join(words, " ")
	n.in.Act = bot.Commanded{Direct: n.guild == ""}
	return nil
}

// oneWord keeps an id from being read as more than that: the text behind it
// would be an option of its own.
func oneWord(id string) string { return strings.Join(strings.Fields(id), "_") }

// mentionable is the principal of a person or a role.
func mentionable(id string, r api.Resolved) string {
	if _, role := r.Roles[id]; role {
		return api.RolePrincipal(id)
	}
	return api.Principal(id)
}

// focused is the option that is being typed, zero if there is none.
func focused(options []api.Option) *typed {
	for _, o := range options {
		if o.Focused {
			return &typed{option: o.Name, text: o.Text()}
		}
		if t := focused(o.Options); t.option != "" && (o.Type == discordgo.ApplicationCommandOptionSubCommand || o.Type == discordgo.ApplicationCommandOptionSubCommandGroup) {
			t.path = strings.TrimSpace(o.Name + " " + t.path)
			return t
		}
	}
	return &typed{}
}
