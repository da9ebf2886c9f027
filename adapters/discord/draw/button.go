package draw

import (
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/bot"
)

// maxCustomID is how long the id of a component, or the value of an option of a
// menu, may be.
const maxCustomID = 100

// buttonID is what a button carries unseen, as its custom_id or as the value of
// a menu's option: "ACT:WORD:ID". Number is its place among the buttons of the
// same question in the card, from 1: it stands for a word that is too long,
// as bot reads a choice's number.
func buttonID(b bot.Button, number int) string {
	id := string(b.Act) + ":" + b.Word + ":" + b.ID
	if len(id) > maxCustomID {
		id = string(b.Act) + ":" + strconv.Itoa(number) + ":" + b.ID
	}
	return id
}

// buttonOf reads what was clicked. It reports false for what is no button of
// the bot's.
func buttonOf(id string) (bot.Button, bool) {
	act, rest, is := strings.Cut(id, ":")
	at := strings.LastIndexByte(rest, ':') // a word may hold one, an id does not
	if !is || at < 0 {
		return bot.Button{}, false
	}
	b := bot.Button{Act: bot.ButtonAct(act), Word: rest[:at], ID: rest[at+1:]}
	switch b.Act {
	case bot.ActDecide, bot.ActControl, bot.ActRate, bot.ActShow, bot.ActStart, bot.ActSteer, bot.ActForm, bot.ActWhich, bot.ActUse, bot.ActConfirm, bot.ActPick:
		return b, true
	}
	return bot.Button{}, false
}

// Clicked is the button that was clicked, or chosen in a menu.
func Clicked(customID string, values []string) (bot.Button, bool) {
	if strings.HasPrefix(customID, menuPrefix) && len(values) > 0 {
		customID = values[0]
	}
	return buttonOf(customID)
}
