package adaptertest

import (
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// LongReport is a report that no platform shows whole: a body of paragraphs, each
// of which begins and ends with a mark, and an honest list behind it.
func LongReport() (report bot.Card, undone []string) {
	var body strings.Builder
	for i := range 120 {
		fmt.Fprintf(&body, "Begin-%d. %s End-%d.\n\n", i, strings.Repeat("We looked at *everything* there is & more. ", 12), i)
	}
	for i := range 12 {
		undone = append(undone, fmt.Sprintf("Region %d – skipped: its machines have been unreachable since Friday, and nobody answered", i))
	}
	return bot.Card{
		Key: bot.Key{Run: "run-1", Name: agent.KeyReport, Kind: agent.PostReport}, Text: "Done: costs", Mentions: []string{"slack:U1", "discord:1"},
		Parts: []bot.Part{
			bot.Heading{Text: "Done: costs"}, bot.Prose{Markdown: body.String()}, bot.Prose{Markdown: "**Files**\n- costs.csv – attached"},
			bot.Prose{Markdown: "**Not done**\n- " + strings.Join(undone, "\n- "), Keep: true},
			bot.Small{Markdown: "took 3m"}, bot.Rating{Run: "run-1"},
		},
	}, undone
}
