package wire

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// The ids of a rating's native buttons: the run stands in the block's id, since
// their values are fixed.
const (
	RateAction   = string(bot.ActRate)
	RatePositive = "positive"
	RateNegative = "negative"
	ratePrefix   = RateAction + ":"
)

// RatingBlock is the id of the block that asks for a rating of the run. More is
// any text that makes it unique among the card's editions.
func RatingBlock(run agent.RunID, more string) string {
	return ratePrefix + string(run) + ":" + more
}

// ButtonID is the action id of a button, "ACT:WORD"; its value is the button's
// ID. An action id has at most 255 characters, and stands in a message once.
func ButtonID(b bot.Button) string { return string(b.Act) + ":" + b.Word }

// buttonOf reads what was clicked. It reports false for what is no button of
// the bot's: a menu, a link, somebody else's block.
func buttonOf(a action) (bot.Button, bool) {
	if a.ActionID == RateAction {
		return ratingOf(a)
	}
	act, word, is := strings.Cut(a.ActionID, ":")
	b := bot.Button{Label: a.Text.Text, Act: bot.ButtonAct(act), Word: word, ID: a.Value}
	switch b.Act {
	case bot.ActDecide, bot.ActControl, bot.ActRate, bot.ActShow, bot.ActStart, bot.ActForm, bot.ActWhich, bot.ActUse, bot.ActConfirm, bot.ActPick:
		return b, is
	}
	return bot.Button{}, false
}

func ratingOf(a action) (bot.Button, bool) {
	rest, is := strings.CutPrefix(a.BlockID, ratePrefix)
	run, _, _ := strings.Cut(rest, ":")
	b := bot.Button{Act: bot.ActRate, ID: run, Word: "+1"}
	if a.Value == RateNegative {
		b.Word = "-1"
	}
	return b, is && run != "" && (a.Value == RatePositive || a.Value == RateNegative)
}
