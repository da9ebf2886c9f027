package bottest

import (
	"github.com/deckhand-bot/deckhand/bot"
)

// The people of the tests: who asks, an operator, an approver, somebody of the
// workspace, and a guest of it.
var (
	Requester = bot.Person{ID: "slack:U1", Name: "Ada", Full: true}
	Operator  = bot.Person{ID: "slack:U7", Full: true}
	Approver  = bot.Person{ID: "slack:U5", Full: true}
	Stranger  = bot.Person{ID: "slack:U9", Full: true}
	Guest     = bot.Person{ID: "slack:U8"}
	Robot     = bot.Person{ID: "slack:B1", Bot: true}
)

// The places of the tests: a thread, and its channel.
var (
	Thread  = bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "17.1"}
	Channel = Thread.At("")
)
