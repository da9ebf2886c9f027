package slack

import (
	"context"
	"errors"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/bot"
)

// Edit replaces what a message shows. It notifies nobody.
func (s *Slack) Edit(ctx context.Context, message bot.Address, c bot.Card) error {
	err := s.show(ctx, c, true, func(ctx context.Context, content []slackapi.MsgOption) error {
		_, _, _, err := s.api.UpdateMessageContext(ctx, message.Channel, message.ID, content...)
		return err
	})
	return s.failed("edit "+message.String(), err)
}

func asRefusal(err error) (slackapi.SlackErrorResponse, bool) {
	return errors.AsType[slackapi.SlackErrorResponse](err)
}

// namesWithin is how long a post waits for the names of people.
const namesWithin = 800 * time.Millisecond

// names looks up who is named in a card's texts, and says how people see them:
// by the id where Slack does not answer in time.
func (s *Slack) names(ctx context.Context, c bot.Card) func(principal string) string {
	known := map[string]string{}
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	bot.Unmention(c.Text+"\n"+allText(c), func(p string) string {
		if _, is := known[p]; !is {
			id, ours := strings.CutPrefix(p, Platform+":")
			if known[p] = id; ours && id != "" && id[0] != 'S' && slackID.MatchString(id) {
				known[p] = s.nameFor(ctx, id)
			}
		}
		return ""
	})
	return func(p string) string {
		if name := known[p]; name != "" {
			return name
		}
		return strings.TrimPrefix(p, Platform+":")
	}
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
