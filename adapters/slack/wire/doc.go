// Package wire is what Slack sends and how it reads: payloads of events, clicks,
// forms and commands become updates that bot understands. It asks nobody and
// keeps nothing, so that everything from outside can be tried here.
//
//	read.go         payloads of every kind, and commands
//	event.go        messages, edits, stops, visits
//	view.go         what a person has open beside the conversation
//	interaction.go  clicks and shortcuts
//	form.go         what a form carries unseen, and a form that was sent in
//	button.go       what a button carries unseen
//	text.go         texts as people read them, timestamps, ids
//	update.go       Update, and for whom the Reader reads
//	payload.go      the shapes of Slack's payloads
//
// What lives elsewhere: how payloads arrive and are proved to be Slack's, and
// who did it (the adapter, api), and what it means (bot).
package wire
