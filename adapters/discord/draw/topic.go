package draw

import (
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// MaxThreadName is how long the name of a thread may be, in characters.
const MaxThreadName = 100

// Headline is what stands in the channel, where the card itself is in the
// thread below.
func Headline(c bot.Card) bot.Card {
	key := c.Key
	key.Name += "/headline"
	return bot.Card{Key: key, Text: c.Text, Parts: []bot.Part{bot.Heading{Text: topic(c)}}}
}

// topic is what a thread is about, for as long as it is there: of a live card
// its goal, since what it says besides is soon out of date.
func topic(c bot.Card) string {
	if c.Key.Kind == agent.PostCard {
		for _, p := range c.Parts {
			if h, is := p.(bot.Heading); is && format.OneLine(h.Text) != "" {
				return format.OneLine(h.Text)
			}
		}
	}
	return oneLine(c)
}

// ThreadName is the topic as Discord shows it, short and in plain text.
func ThreadName(c bot.Card) string {
	return PlainText(Options{}.withNames(topic(c)), MaxThreadName)
}
