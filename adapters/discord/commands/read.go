package commands

import (
	"errors"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// Order is what a command asks for.
type Order struct {
	Act  bot.Act
	Text string // of the act, as it goes over the wire
	// Begins says that it may begin a run.
	Begins bool
	// Channels are those that Discord said more about.
	Channels map[string]api.Channel
}

// Read reads "/deckhand WORD option:…", given in a server. A command with fields
// of its own is the form that it stands for; any other is the text that a person
// would write.
func Read(c api.Command, guild string) (Order, error) {
	if len(c.Options) == 1 && c.Options[0].Type == discordgo.ApplicationCommandOptionSubCommandGroup {
		return readGroup(c.Options[0], c.Resolved, guild)
	}
	if len(c.Options) != 1 || c.Options[0].Type != discordgo.ApplicationCommandOptionSubCommand {
		return Order{}, errors.New("a command without a subcommand")
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
		return Order{Begins: true, Text: values[bot.FieldGoal], Act: bot.Filled{Form: bot.FormRun, Values: values, Direct: guild == ""}}, nil
	}
	words := []string{sub.Name}
	options, is := optionsAt(subcommands(), sub.Name)
	if !is {
		return Order{}, errors.New("a subcommand that is not the bot's")
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
	return Order{Text: strings.Join(words, " "), Act: bot.Commanded{Direct: guild == ""}}, nil
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

// Typed is an option of a command that is being completed: Path are the words
// before it, as in "report pause".
type Typed struct{ Path, Option, Text string }

// Focused is the option that is being typed, zero if there is none.
func Focused(options []api.Option) *Typed {
	for _, o := range options {
		if o.Focused {
			return &Typed{Option: o.Name, Text: o.Text()}
		}
		if t := Focused(o.Options); t.Option != "" && (o.Type == discordgo.ApplicationCommandOptionSubCommand || o.Type == discordgo.ApplicationCommandOptionSubCommandGroup) {
			t.Path = strings.TrimSpace(o.Name + " " + t.Path)
			return t
		}
	}
	return &Typed{}
}

// What can be named in an option, beside the person's own words.
const (
	Runs      = "runs"
	LiveRuns  = "live runs"
	Questions = "questions"
	Reports   = "reports"
	Goals     = "goals"
)

// Names is what the option names, empty for words.
func (t *Typed) Names() string {
	group, _, _ := strings.Cut(t.Path, " ")
	switch {
	case t.Option == optionQuestion:
		return Questions
	case t.Option == optionRun && group == wordWatch:
		return LiveRuns
	case t.Option == optionRun:
		return Runs
	case t.Option == optionName && group == groupReport:
		return Reports
	case t.Option == optionName && group == groupSchedule:
		return Goals
	}
	return ""
}
