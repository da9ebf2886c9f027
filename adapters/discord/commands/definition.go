package commands

import (
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// The names of the commands.
const (
	Name         = "deckhand"
	NameGoal     = "Make this a goal"
	NameRemember = "Remember this"
	wordRun      = "run"
	wordRemember = "remember"
)

// The options that are completed while they are typed.
const (
	optionRun      = "run"
	optionQuestion = "question"
	wordWatch      = "watch"
)

// Definition is a command as Discord keeps it.
type Definition struct {
	Name        string                           `json:"name"`
	Type        discordgo.ApplicationCommandType `json:"type"`
	Description string                           `json:"description"`
	Options     []Option                         `json:"options,omitempty"`
	// Permissions are needed to see the command at first; a server's
	// administrators may say otherwise.
	Permissions string `json:"default_member_permissions"`
	// Contexts are where a global command is offered: servers and the bot's own
	// direct messages.
	Contexts []discordgo.InteractionContextType `json:"contexts,omitempty"`
}

// Option is a subcommand, a group of them, or what a subcommand takes.
type Option struct {
	Name         string                                      `json:"name"`
	Type         discordgo.ApplicationCommandOptionType      `json:"type"`
	Description  string                                      `json:"description"`
	Required     bool                                        `json:"required,omitempty"`
	Autocomplete bool                                        `json:"autocomplete,omitempty"`
	Max          int                                         `json:"max_length,omitempty"`
	Channels     []discordgo.ChannelType                     `json:"channel_types,omitempty"`
	Choices      []*discordgo.ApplicationCommandOptionChoice `json:"choices,omitempty"`
	Options      []Option                                    `json:"options,omitempty"`
}

// Definitions are the commands of the bot. In a server they need the
// permission to write messages.
func Definitions(guild string) []Definition {
	permissions := strconv.Itoa(discordgo.PermissionSendMessages)
	list := []Definition{
		{Name: Name, Type: discordgo.ChatApplicationCommand, Description: "Goals, questions and runs of Deckhand", Options: append(subcommands(), scheduleGroups()...), Permissions: permissions},
		{Name: NameGoal, Type: discordgo.MessageApplicationCommand, Permissions: permissions},
		{Name: NameRemember, Type: discordgo.MessageApplicationCommand, Permissions: permissions},
	}
	if guild == "" {
		for i := range list {
			list[i].Contexts = []discordgo.InteractionContextType{discordgo.InteractionContextGuild, discordgo.InteractionContextBotDM}
		}
	}
	return list
}

func subcommands() []Option {
	run := Option{Name: optionRun, Type: discordgo.ApplicationCommandOptionString, Description: "Which run; without it the one of this thread", Autocomplete: true}
	question := Option{Name: optionQuestion, Type: discordgo.ApplicationCommandOptionString, Description: "Which question; without it the oldest one", Autocomplete: true}
	sub := func(name, does string, options ...Option) Option {
		return Option{Name: name, Type: discordgo.ApplicationCommandOptionSubCommand, Description: does, Options: options}
	}
	return []Option{
		sub(wordRun, "Starts a run", goalOptions()...),
		sub("status", "Where a run stands", run),
		sub("runs", "Lists your runs"),
		sub("plan", "The plan and what is done of it", run),
		sub("approve", "Approves what is asked", question),
		sub("deny", "Denies what is asked, and says why", question,
			Option{Name: "reason", Type: discordgo.ApplicationCommandOptionString, Description: "What should be done instead", Max: 2000}),
		sub("steer", "Tells the run of this thread something on its way",
			Option{Name: "text", Type: discordgo.ApplicationCommandOptionString, Description: "What it should know", Required: true, Max: 6000}),
		sub("pause", "Pauses a run", run),
		sub("stop", "Pauses a run", run),
		sub("resume", "Lets a paused run go on", run),
		sub("cancel", "Ends a run", run),
		sub("budget", "What a run has spent, of what", run),
		sub("permissions", "What a run may do, and who decides about the rest", run),
		sub(wordWatch, "Shows a run of another place here, too",
			Option{Name: optionRun, Type: discordgo.ApplicationCommandOptionString, Description: "Which run", Required: true, Autocomplete: true}),
		sub(wordRemember, "Keeps something for later runs",
			Option{Name: "text", Type: discordgo.ApplicationCommandOptionString, Description: "What to remember; “for me:” in front keeps it to you, “for everyone:” to all here", Required: true, Max: 4000}),
		sub("memory", "What is remembered here, and how to change it", chosen("do", "What to do; without it a list", "list", "mine", "search", "show", "accept", "pin", "unpin", "correct", "forget"),
			Option{Name: "what", Type: discordgo.ApplicationCommandOptionString, Description: "An id or words; to correct: ID: TEXT", Max: 4200}),
		sub("help", "What the bot understands",
			Option{Name: "about", Type: discordgo.ApplicationCommandOptionString, Description: "A command, or all", Max: 40}),
	}
}

func goalOptions() []Option {
	autonomy := Option{Name: bot.FieldAutonomy, Type: discordgo.ApplicationCommandOptionString, Description: "How much it may do without asking"}
	for _, a := range []agent.Autonomy{agent.Suggest, agent.AskEach, agent.AskRisky, agent.WithinBudget} {
		autonomy.Choices = append(autonomy.Choices, &discordgo.ApplicationCommandOptionChoice{Name: string(a), Value: string(a)})
	}
	return []Option{
		{Name: bot.FieldGoal, Type: discordgo.ApplicationCommandOptionString, Description: "What is to be done, in plain words", Required: true, Max: 6000},
		{Name: bot.FieldBudget, Type: discordgo.ApplicationCommandOptionString, Description: "US$, or usd=2,tokens=100000,time=1h,steps=50", Max: 200},
		autonomy,
		{Name: bot.FieldApprovers, Type: discordgo.ApplicationCommandOptionMentionable, Description: "Who approves changes: a person or a role"},
		{Name: bot.FieldDeadline, Type: discordgo.ApplicationCommandOptionString, Description: "Working time at most, as 90m or 2h", Max: 20},
	}
}
