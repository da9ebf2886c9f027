package discord

import (
	"context"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
)

const typeWithin = 1500 * time.Millisecond

// complete answers what is being typed into an option with what the person may see.
func (d *Discord) complete(ctx context.Context, n *update) {
	ctx, cancel := context.WithTimeout(ctx, typeWithin)
	defer cancel()
	choices := []*discordgo.ApplicationCommandOptionChoice{}
	if d.cfg.Suggest != nil {
		list, err := d.suggestions(ctx, n)
		if err != nil {
			d.in.Log.Warn(d.log, "nothing can be suggested while a command is typed", "error", err)
		}
		choices = fitting25(list, n.typed.Text)
	}
	err := n.reply.Suggest(ctx, choices)
	d.answers.logFailure("suggestions could not be shown", n.in.Where, err)
}

func (d *Discord) suggestions(ctx context.Context, n *update) ([]Suggestion, error) {
	if err := d.locate(ctx, n); err != nil {
		return nil, err
	}
	by, err := d.directory.Who(ctx, n.guild, n.user, n.member)
	if err != nil {
		return nil, err
	}
	what := n.typed.Names()
	if what == "" {
		return nil, nil
	}
	return d.cfg.Suggest(ctx, Suggested(what), by, n.in.Where)
}

// fitting25 are the suggestions that hold what was typed, at most 25.
func fitting25(list []Suggestion, text string) []*discordgo.ApplicationCommandOptionChoice {
	text = strings.ToLower(strings.TrimSpace(text))
	choices := []*discordgo.ApplicationCommandOptionChoice{}
	for _, s := range list {
		name := s.ID
		if s.Text != "" {
			name = s.Text + " · " + s.ID
			if over := draw.Width(name) - draw.MaxOption; over > 0 {
				name = draw.Shortened(s.Text, max(draw.MaxOption-draw.Width(s.ID)-3, 1)) + " · " + s.ID
			}
		}
		if len(choices) < draw.MaxOptions && len(s.ID) <= draw.MaxOption && strings.Contains(strings.ToLower(s.Text+" "+s.ID), text) {
			choices = append(choices, &discordgo.ApplicationCommandOptionChoice{Name: draw.PlainText(name, draw.MaxOption), Value: s.ID})
		}
	}
	return choices
}
