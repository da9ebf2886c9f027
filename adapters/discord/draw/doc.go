// Package draw turns cards, forms and answers into what Discord shows, within
// all of Discord's limits, and reads back what was clicked and filled in.
//
//	card.go      Card: the parts of a card, cut where there is no room
//	part.go      headings, prose, tasks, facts, code
//	click.go     buttons, menus and ratings
//	button.go    what a button carries unseen
//	message.go   a card as components, or as an embed; its nonce and its mark
//	topic.go     what a thread is called
//	answer.go    words for one person alone
//	form.go      forms (modals)
//	text.go      plain texts, names and mentions
//	markdown.go  Discord's Markdown
//	cut.go       texts cut to a length, never within a link or a name
//
// Nothing in a text notifies anybody; whom a message notifies is in its allowed
// mentions alone. The types of messages are our own: the library's write fields
// that are empty, and know neither nonces nor forms with labels.
//
// What is sent where, and when, lives in discord; the calls are api's.
package draw
