package draw

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/bot"
)

func TestButtonsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := bot.Button{Act: rapid.SampledFrom([]bot.ButtonAct{bot.ActDecide, bot.ActControl, bot.ActRate, bot.ActShow, bot.ActStart}).Draw(t, "act"),
			Word: rapid.StringN(0, 60, 60).Draw(t, "word"), ID: rapid.StringMatching(`[a-z2-7]{16}(-[a-z0-9]{1,16})?`).Draw(t, "id")}
		got, is := buttonOf(buttonID(b, 3))
		if len(string(b.Act)+b.Word+b.ID)+2 > maxCustomID {
			b.Word = "3"
		}
		if !is || got != b {
			t.Fatalf("%+v came back as %+v", b, got)
		}
	})
}
