package ingest

import (
	"strings"

	"github.com/deckhand-bot/deckhand/bot"
)

// ChannelWord notes a channel that a text names and returns the one word that stands
// for it there: "#name", where another channel has that word "#name-ID".
func ChannelWord(channels map[string]bot.Address, name string, at bot.Address) string {
	name = strings.Join(strings.Fields(name), "-")
	if name == "" {
		name = at.Channel
	}
	word := "#" + name
	for n := 0; ; n++ {
		if other, taken := channels[word]; !taken || other == at {
			channels[word] = at
			return word
		}
		word += "-"
		if n == 0 {
			word += at.Channel
		}
	}
}
