package draw

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// Each reader reads a moment in their own zone: Slack writes it out, wherever it
// reads mrkdwn. A place is shown by the name that the reader may see.
func TestMomentsAreInTheReadersZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)
	short := bot.Ref{At: at}.Mark()
	day := bot.Ref{At: at, Form: bot.MomentDay}.Mark()
	place := bot.Ref{Place: bot.Address{Platform: "slack", Workspace: "T1", Channel: "C9"}}.Mark()
	far := bot.Ref{Place: bot.Address{Platform: "discord", Workspace: "1", Channel: "22"}}.Mark()
	c := bot.Card{Text: "Due " + short, Parts: []bot.Part{
		bot.Heading{Text: "Due " + short},
		bot.Prose{Markdown: "**Next** " + day + " in " + place + " and " + far},
		bot.Small{Markdown: "expires " + short},
		bot.Facts{List: []bot.Fact{{Name: "Expiry", Value: short + "; then it ends"}, {Name: "Cut", Value: strings.Repeat("x", 195) + short}}},
	}}
	for _, edit := range []bool{false, true} {
		d := fixed()
		d.Edit = edit
		m := Card(c, d)
		raw, err := json.Marshal(m.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		drawn := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(raw))
		for _, want := range []string{
			"Due 2 Mar 13:00 UTC\"",
			"*Next* <!date^1772456400^{date_long_pretty} at {time}|Monday, 2 March, 13:00 UTC> in <#C9> and a channel on Discord",
			"expires <!date^1772456400^{date_short_pretty} at {time}|2 Mar 13:00 UTC>", "2 Mar 13:00 UTC>; then it ends", "xxx…\"",
		} {
			if !strings.Contains(drawn, want) {
				t.Errorf("edit %v: no %s in %s", edit, want, drawn)
			}
		}
		if m.Text != "Due 2 Mar 13:00 UTC" || strings.Contains(drawn+d.Bare(c), "time:") {
			t.Errorf("edit %v: %q, %s", edit, m.Text, drawn)
		}
	}
}
