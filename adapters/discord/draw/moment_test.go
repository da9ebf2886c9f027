package draw

import (
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// Each reader reads a moment in their own zone and language, and a place by the
// name that they may see.
func TestMomentsAreInTheReadersZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)
	short := bot.Ref{At: at}.Mark()
	day := bot.Ref{At: at, Form: bot.MomentDay}.Mark()
	clock := bot.Ref{At: at, Form: bot.MomentClock}.Mark()
	place := bot.Ref{Place: bot.Address{Platform: "discord", Workspace: "1", Channel: "223344556677889900"}}.Mark()
	far := bot.Ref{Place: bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1"}}.Mark()
	c := bot.Card{Text: "Due " + short, Parts: []bot.Part{
		bot.Heading{Text: "Due " + short},
		bot.Prose{Markdown: "**Next** " + day + " in " + place + " and " + far},
		bot.Small{Markdown: "again at " + clock},
		bot.Facts{List: []bot.Fact{{Name: "Expiry", Value: short + "; then it ends"}}},
	}}
	for _, edit := range []bool{false, true} {
		var drawn strings.Builder
		for _, b := range Card(c, Options{Edit: edit}).blocks {
			drawn.WriteString(b.Content + "\n")
		}
		for _, want := range []string{
			"### Due <t:1772456400:f>", "**Next** <t:1772456400:F> in <#223344556677889900> and a channel on Slack", "-# again at <t:1772456400:T>", "<t:1772456400:f>; then it ends",
		} {
			if !strings.Contains(drawn.String(), want) {
				t.Errorf("edit %v: no %s in %s", edit, want, drawn.String())
			}
		}
	}
}
