package commands

// This file defines the command groups for reports and repeated goals, and
// turns the options that a person fills in into the one line of text that the
// bot reads.

import (
	"errors"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// The commands that make schedules are groups of subcommands.
const (
	groupReport   = "report"
	groupSchedule = "schedule"

	subAdd    = "add"
	subNow    = "now"
	subChange = "change"
)

// Their options.
const (
	optionName    = "name"
	optionWhen    = "when"
	optionZone    = "zone"
	optionTo      = "channel"
	optionAbout   = "about"
	optionAlways  = "always"
	optionOverlap = "overlap"
)

// Postable are the kinds of channels that something can be posted to on a schedule.
var Postable = []discordgo.ChannelType{
	discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildNews, discordgo.ChannelTypeGuildForum, discordgo.ChannelTypeGuildMedia,
}

// scheduleGroups are the commands about what comes again and again.
func scheduleGroups() []Option {
	when := Option{Name: optionWhen, Type: discordgo.ApplicationCommandOptionString, Description: "“every weekday 9:00”, “every 2 hours”, or a cron line", Required: true, Max: 200}
	zone := Option{Name: optionZone, Type: discordgo.ApplicationCommandOptionString, Description: "Time zone, as Europe/Berlin", Max: 60}
	to := Option{Name: optionTo, Type: discordgo.ApplicationCommandOptionChannel, Description: "Where it is posted; without it here", Channels: Postable}
	about := chosen(optionAbout, "What it is about", "channel", "workspace", "mine")
	always := Option{Name: optionAlways, Type: discordgo.ApplicationCommandOptionBoolean, Description: "Post it also when nothing has changed"}
	goal := Option{Name: bot.FieldGoal, Type: discordgo.ApplicationCommandOptionString, Description: "What is to be done, in plain words", Max: 6000}
	overlap := chosen(optionOverlap, "What happens while the run before has not ended", "skip", "queue", "replace")
	name := Option{Name: optionName, Type: discordgo.ApplicationCommandOptionString, Description: "Which one", Required: true, Autocomplete: true}
	needed := goal
	needed.Required = true
	sub := func(name, does string, options ...Option) Option {
		return Option{Name: name, Type: discordgo.ApplicationCommandOptionSubCommand, Description: does, Options: options}
	}
	manage := []Option{
		sub("list", "Lists them, and when each comes next"), sub("pause", "Stops one until it is resumed", name),
		sub("resume", "Lets a paused one go on", name), sub("remove", "Removes one for good", name),
	}
	return []Option{
		{Name: groupReport, Type: discordgo.ApplicationCommandOptionSubCommandGroup, Description: "Reports on a schedule", Options: slices.Concat([]Option{
			sub(subAdd, "Reports on a schedule", when, zone, to, about, always),
			sub(subNow, "Reports at once", to, about),
			sub(subChange, "Gives a report another time, or more", name, when, zone, to, about, always),
		}, manage)},
		{Name: groupSchedule, Type: discordgo.ApplicationCommandOptionSubCommandGroup, Description: "Goals that come again", Options: slices.Concat([]Option{
			sub(subAdd, "Starts a run for a goal again and again", when, needed, zone, overlap),
			sub(subChange, "Gives a goal another time, or more", name, when, zone, overlap, goal),
		}, manage)},
	}
}

func chosen(name, does string, choices ...string) Option {
	o := Option{Name: name, Type: discordgo.ApplicationCommandOptionString, Description: does}
	for _, c := range choices {
		o.Choices = append(o.Choices, &discordgo.ApplicationCommandOptionChoice{Name: c, Value: c})
	}
	return o
}

// OptionError is why what was given as an option cannot be taken, for people.
type OptionError struct{ Text string }

func (e *OptionError) Error() string { return e.Text }

// readGroup reads "/deckhand report|schedule WORD option:…" into the text that a
// person would write. Nothing in one option can be read as another: a time is
// only a time, a name is one word, a goal stands at the end.
func readGroup(group api.Option, r api.Resolved, guild string) (Order, error) {
	if len(group.Options) != 1 || group.Options[0].Type != discordgo.ApplicationCommandOptionSubCommand {
		return Order{}, errors.New("a group without a subcommand")
	}
	sub := group.Options[0]
	options, is := optionsAt(scheduleGroups(), group.Name, sub.Name)
	if !is {
		return Order{}, errors.New("a subcommand that is not the bot's")
	}
	values, err := valuesOf(sub, options)
	if err != nil {
		return Order{}, err
	}
	order := Order{Act: bot.Commanded{Direct: guild == ""}}
	words := []string{group.Name}
	if sub.Name != subAdd {
		words = append(words, sub.Name)
	}
	if name := oneWord(values[optionName]); name != "" {
		words = append(words, name)
	}
	if sub.Name == subAdd || sub.Name == subChange {
		times, err := bot.TimeWords(values[optionWhen], values[optionZone])
		if err != nil {
			return Order{}, &OptionError{err.Error()}
		}
		words = append(words, times)
	}
	if id := values[optionTo]; id != "" {
		c, is := r.Channels[id]
		if !is || !slices.Contains(Postable, c.Type) || api.Number(id) == 0 {
			return Order{}, &OptionError{"Nothing can be posted in that channel. Choose another one."}
		}
		c.ID, c.Guild = id, guild
		order.Channels = map[string]api.Channel{id: c}
		words = append(words, "<#"+id+">")
	}
	words = append(words, values[optionAbout], map[string]string{"true": "always", "false": "quiet"}[values[optionAlways]], values[optionOverlap])
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	order.Text = strings.Join(words, " ")
	if goal := strings.TrimSpace(values[bot.FieldGoal]); goal != "" {
		order.Text += ": " + goal
	}
	return order, nil
}

// valuesOf are the values of options by their names. Only what the command has
// counts, and of choices only those that it offers.
func valuesOf(sub api.Option, options []Option) (map[string]string, error) {
	values := map[string]string{}
	for _, o := range options {
		at := slices.IndexFunc(sub.Options, func(g api.Option) bool { return g.Name == o.Name })
		if at < 0 {
			continue
		}
		value := sub.Options[at].Text()
		if len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(c *discordgo.ApplicationCommandOptionChoice) bool { return c.Value == value }) {
			return nil, errors.New("an option with a choice that is not offered")
		}
		values[o.Name] = value
	}
	return values, nil
}

// optionsAt are the options at the end of a path of names.
func optionsAt(list []Option, path ...string) (options []Option, is bool) {
	for _, name := range path {
		at := slices.IndexFunc(list, func(o Option) bool { return o.Name == name })
		if at < 0 {
			return nil, false
		}
		list = list[at].Options
	}
	return list, true
}
