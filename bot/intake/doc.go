// Package intake takes in what people do on chat platforms: it decides what an
// event means and who may do it, writes it down in one commit with the keys of the
// event, and says what the platform answers at once.
//
//	receive.go          Receive: an event, once, whichever replica gets it again
//	refuse.go           what people are told of what was not done
//	message.go          a message: a decision, a command, an answer, a word, a goal
//	press.go            a click
//	fill.go             a form that was sent in
//	home.go             a look at the bot's own page
//	suggest.go          what a platform suggests while people type
//	command.go          the one list of commands, and what each does
//	schedule.go         orders about schedules; schedule_order.go reads their words
//	start.go            a goal becomes a run; terms.go is what people ask of it beside
//	decide.go           decisions, hints, words, control, ratings
//	runs.go             the runs that a person may look at
//	kept.go             what a person typed and that waits for one more click
//	words.go            single words
//	request.go          one event on its way in: what all of the above share
//	chat.go, alert.go   Chat and what it is made of; word to administrators
//
// Calls run downwards in this list. Who may do what is bot/authority's, commits
// are bot/runs's, texts about runs bot/card's.
package intake
