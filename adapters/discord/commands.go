package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// The names of the commands.
const (
	commandName = "deckhand"
	commandGoal = "Make this a goal"
	wordRun     = "run"
)

// The options that are completed while they are typed.
const (
	optionRun      = "run"
	optionQuestion = "question"
	wordWatch      = "watch"
)

// definition is a command as Discord keeps it.
type definition struct {
	Name        string                           `json:"name"`
	Type        discordgo.ApplicationCommandType `json:"type"`
	Description string                           `json:"description"`
	Options     []optionDefinition               `json:"options,omitempty"`
	// Permissions are needed to see the command at first; a server's
	// administrators may say otherwise.
	Permissions string `json:"default_member_permissions"`
	// Contexts are where a global command is offered: servers and the bot's own
	// direct messages.
	Contexts []discordgo.InteractionContextType `json:"contexts,omitempty"`
}

type optionDefinition struct {
	Name         string                                 `json:"name"`
	Type         discordgo.ApplicationCommandOptionType `json:"type"`
	Description  string                                 `json:"description"`
	Required     bool                                   `json:"required,omitempty"`
	Autocomplete bool                                   `json:"autocomplete,omitempty"`
	Max          int                                    `json:"max_length,omitempty"`
	Channels     []discordgo.ChannelType                `json:"channel_types,omitempty"`
	Choices      []choiceDefinition                     `json:"choices,omitempty"`
	Options      []optionDefinition                     `json:"options,omitempty"`
}

type choiceDefinition struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// definitions are the commands of the bot. In a server they need the
// permission to write messages.
func definitions(guild string) []definition {
	permissions := strconv.Itoa(discordgo.PermissionSendMessages)
	list := []definition{
		{Name: commandName, Type: discordgo.ChatApplicationCommand, Description: "Goals, questions and runs of Deckhand", Options: append(subcommands(), scheduleGroups()...), Permissions: permissions},
		{Name: commandGoal, Type: discordgo.MessageApplicationCommand, Permissions: permissions},
	}
	if guild == "" {
		for i := range list {
			list[i].Contexts = []discordgo.InteractionContextType{discordgo.InteractionContextGuild, discordgo.InteractionContextBotDM}
		}
	}
	return list
}

func subcommands() []optionDefinition {
	run := optionDefinition{Name: optionRun, Type: discordgo.ApplicationCommandOptionString, Description: "Which run; without it the one of this thread", Autocomplete: true}
	question := optionDefinition{Name: optionQuestion, Type: discordgo.ApplicationCommandOptionString, Description: "Which question; without it the oldest one", Autocomplete: true}
	sub := func(name, does string, options ...optionDefinition) optionDefinition {
		return optionDefinition{Name: name, Type: discordgo.ApplicationCommandOptionSubCommand, Description: does, Options: options}
	}
	return []optionDefinition{
		sub(wordRun, "Starts a run", goalOptions()...),
		sub("status", "Where a run stands", run),
		sub("runs", "Lists your runs"),
		sub("plan", "The plan and what is done of it", run),
		sub("approve", "Approves what is asked", question),
		sub("deny", "Denies what is asked, and says why", question,
			optionDefinition{Name: "reason", Type: discordgo.ApplicationCommandOptionString, Description: "What should be done instead", Max: 2000}),
		sub("steer", "Tells the run of this thread something on its way",
			optionDefinition{Name: "text", Type: discordgo.ApplicationCommandOptionString, Description: "What it should know", Required: true, Max: 6000}),
		sub("pause", "Pauses a run", run),
		sub("stop", "Pauses a run", run),
		sub("resume", "Lets a paused run go on", run),
		sub("cancel", "Ends a run", run),
		sub("budget", "What a run has spent, of what", run),
		sub("permissions", "What a run may do, and who decides about the rest", run),
		sub(wordWatch, "Shows a run of another place here, too",
			optionDefinition{Name: optionRun, Type: discordgo.ApplicationCommandOptionString, Description: "Which run", Required: true, Autocomplete: true}),
		sub("help", "What the bot understands"),
	}
}

func goalOptions() []optionDefinition {
	autonomy := optionDefinition{Name: bot.FieldAutonomy, Type: discordgo.ApplicationCommandOptionString, Description: "How much it may do without asking"}
	for _, a := range []agent.Autonomy{agent.Suggest, agent.AskEach, agent.AskRisky, agent.WithinBudget} {
		autonomy.Choices = append(autonomy.Choices, choiceDefinition{Name: string(a), Value: string(a)})
	}
	return []optionDefinition{
		{Name: bot.FieldGoal, Type: discordgo.ApplicationCommandOptionString, Description: "What is to be done, in plain words", Required: true, Max: 6000},
		{Name: bot.FieldBudget, Type: discordgo.ApplicationCommandOptionString, Description: "US$, or usd=2,tokens=100000,time=1h,steps=50", Max: 200},
		autonomy,
		{Name: bot.FieldApprovers, Type: discordgo.ApplicationCommandOptionMentionable, Description: "Who approves changes: a person or a role"},
		{Name: bot.FieldDeadline, Type: discordgo.ApplicationCommandOptionString, Description: "Working time at most, as 90m or 2h", Max: 20},
	}
}

// commandsAt is where the commands are kept.
func (d *Discord) commandsAt() string {
	if d.cfg.GuildID != "" {
		return discordgo.EndpointApplicationGuildCommands(d.appID, d.cfg.GuildID)
	}
	return discordgo.EndpointApplicationGlobalCommands(d.appID)
}

// commands are those that are registered.
func (d *Discord) commands(ctx context.Context) (have []definition, err error) {
	if err := d.api.Call(ctx, http.MethodGet, d.commandsAt(), nil, &have); err != nil {
		return nil, unregistered(err)
	}
	return have, nil
}

// register brings the commands to what they should be, where they are not so
// already. Changed says whether anything had to be done.
func (d *Discord) register(ctx context.Context) (changed bool, err error) {
	have, err := d.commands(ctx)
	want := definitions(d.cfg.GuildID)
	if err != nil || same(have, want) {
		return false, err
	}
	if err := d.api.Call(ctx, http.MethodPut, d.commandsAt(), want, nil); err != nil {
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
func same(have, want []definition) bool {
	if len(have) != len(want) {
		return false
	}
	found := map[string]definition{}
	for _, h := range have {
		found[fmt.Sprint(h.Type, h.Name)] = plainly(h)
	}
	for _, w := range want {
		if !reflect.DeepEqual(found[fmt.Sprint(w.Type, w.Name)], plainly(w)) {
			return false
		}
	}
	return true
}

// plainly is a command with nothing for what is empty.
func plainly(d definition) definition {
	var out definition
	raw, err := json.Marshal(d)
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return d
	}
	return out
}

// complete answers what is being typed into an option with what the person may see.
func (d *Discord) complete(ctx context.Context, n *notice) {
	ctx, cancel := context.WithTimeout(ctx, typeWithin)
	defer cancel()
	choices := []choiceDefinition{}
	if d.cfg.Suggest != nil {
		list, err := d.suggestions(ctx, n)
		if err != nil {
			d.in.Log.Warn(d.log, "nothing can be suggested while a command is typed", "error", err)
		}
		choices = fitting25(list, n.typed.text)
	}
	err := n.reply.begin(ctx, response{Kind: discordgo.InteractionApplicationCommandAutocompleteResult, Data: responseData{Choices: &choices}})
	d.grumble("suggestions could not be shown", n.in.Where, err)
}

func (d *Discord) suggestions(ctx context.Context, n *notice) ([]Suggestion, error) {
	if err := d.settle(ctx, n); err != nil {
		return nil, err
	}
	by, err := d.who(ctx, n)
	if err != nil {
		return nil, err
	}
	group, _, _ := strings.Cut(n.typed.path, " ")
	switch {
	case n.typed.option == optionQuestion:
		return d.cfg.Suggest(ctx, SuggestQuestions, by, n.in.Where)
	case n.typed.option == optionRun && group == wordWatch:
		return d.cfg.Suggest(ctx, SuggestLive, by, n.in.Where)
	case n.typed.option == optionRun:
		return d.cfg.Suggest(ctx, SuggestRuns, by, n.in.Where)
	case n.typed.option == optionName && group == groupReport:
		return d.cfg.Suggest(ctx, SuggestReports, by, n.in.Where)
	case n.typed.option == optionName && group == groupSchedule:
		return d.cfg.Suggest(ctx, SuggestGoals, by, n.in.Where)
	}
	return nil, nil
}

// fitting25 are the suggestions that hold what was typed, at most 25.
func fitting25(list []Suggestion, text string) []choiceDefinition {
	text = strings.ToLower(strings.TrimSpace(text))
	choices := []choiceDefinition{}
	for _, s := range list {
		name := s.ID
		if s.Text != "" {
			name = s.Text + " · " + s.ID
			if over := draw.Width(name) - draw.MaxOption; over > 0 {
				name = draw.Shortened(s.Text, max(draw.MaxOption-draw.Width(s.ID)-3, 1)) + " · " + s.ID
			}
		}
		if len(choices) < draw.MaxOptions && len(s.ID) <= draw.MaxOption && strings.Contains(strings.ToLower(s.Text+" "+s.ID), text) {
			choices = append(choices, choiceDefinition{Name: draw.PlainText(name, draw.MaxOption), Value: s.ID})
		}
	}
	return choices
}
