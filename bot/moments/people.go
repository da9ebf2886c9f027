package moments

import (
	"github.com/deckhand-bot/deckhand/bot"
)

// World is who takes part, and where, on one platform. The zero Place is a
// terminal, where everybody is the person at it.
type World struct {
	Place bot.Address // a channel
	Ann   bot.Person  // asks for the runs
	Ben   bot.Person  // a colleague without a part in them
	Alice bot.Person  // approves
	Dana  bot.Person  // administers
	Home  bool        // the bot has a page of its own there
	Steer bool        // cards have a button for a word to the run
}

// terminal reports whether the world has no chat.
func (w World) terminal() bool { return w.Place.Platform == "" }

// Terminal is the world at a command line.
func Terminal() World {
	you := bot.Person{ID: bot.Terminal, Full: true}
	return World{Ann: you, Ben: you, Alice: you, Dana: you}
}
