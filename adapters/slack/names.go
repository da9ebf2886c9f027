package slack

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/draw"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// drawing says how a card is drawn for a workspace that refuses some kinds of
// blocks.
func (s *Slack) drawing(ctx context.Context, c bot.Card, refused map[slackapi.MessageBlockType]bool) draw.Drawing {
	return draw.Drawing{Refused: refused, Name: s.names(ctx, c), Link: s.Link, Edition: strconv.FormatInt(time.Now().UnixNano(), 36)}
}

// namesWithin is how long a post waits for the names of people.
const namesWithin = 800 * time.Millisecond

// names looks up who is named in a card's texts, and says how people see them:
// as somebody where Slack does not answer in time, and never by an id.
func (s *Slack) names(ctx context.Context, c bot.Card) func(principal string) string {
	known := map[string]string{}
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	bot.Unmention(c.Text+"\n"+allText(c), func(p string) string {
		if _, is := known[p]; !is {
			known[p] = bot.Ref{Person: p}.Plain()
			if strings.HasPrefix(p, Platform+":") {
				known[p] = cmp.Or(s.NameOf(ctx, p), "somebody")
			}
		}
		return ""
	})
	return func(p string) string {
		if name := known[p]; name != "" {
			return name
		}
		return bot.Ref{Person: p}.Plain()
	}
}

// NameOf implements bot.Namer. A user group has no name that is known here.
func (s *Slack) NameOf(ctx context.Context, principal string) string {
	id := wire.IDOf(principal)
	if wire.IsGroup(id) {
		return "a user group"
	}
	if id = wire.PersonOf(principal); id == "" {
		return ""
	}
	name := s.NameFor(ctx, id)
	if name == id {
		return ""
	}
	return name
}

// allText is every text of a card in which somebody may be named.
func allText(c bot.Card) string {
	var text strings.Builder
	text.WriteString(bot.Markdown(c))
	for _, p := range c.Parts {
		if b, is := p.(bot.Buttons); is {
			for _, button := range b.List {
				text.WriteString("\n" + button.Label)
			}
		}
	}
	return text.String()
}

// Describe implements bot.Describer.
func (s *Slack) Describe(ctx context.Context, channel bot.Address) (name, about string, err error) {
	c, err := s.Web.GetConversationInfoContext(ctx, &slackapi.GetConversationInfoInput{ChannelID: channel.Channel})
	s.NoteToken(err)
	if err != nil {
		return "", "", fmt.Errorf("ask Slack what the channel %s is for: %w", channel.Channel, err)
	}
	return c.Name, cmp.Or(c.Topic.Value, c.Purpose.Value), nil
}

// Member implements bot.Membership.
func (s *Slack) Member(ctx context.Context, principal string, channel bot.Address) (bool, error) {
	id := wire.PersonOf(principal)
	if id == "" || channel.Workspace != s.Team {
		return false, nil
	}
	return s.IsIn(ctx, id, channel.Channel)
}
