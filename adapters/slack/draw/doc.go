// Package draw is how Slack shows cards and forms: blocks within all of Slack's
// limits, in which nothing notifies anybody but the mentions of a card.
//
//	card.go   Card: parts become blocks, and are shortened until they fit
//	part.go   headings, prose, plans, facts, code
//	click.go  buttons and ratings
//	form.go   Form: a form as a modal
//	text.go   texts with people's names; the card in one line, or without blocks
//	mrkdwn.go Markdown in Slack's own markup
//	cut.go    mrkdwn cut to lengths
//	ping.go   texts in which nothing notifies anybody
//
// What lives elsewhere: what a card says (bot/card), which kinds of blocks a
// workspace refuses, and the sending (the adapter).
package draw
