// Package post makes, edits and finds the bot's messages: each once, whatever
// got lost on the way.
//
//	post.go     a card as a message; the kinds that Discord takes
//	thread.go   threads, the headlines that they begin at, forums
//	find.go     a post looked for by its mark
//	file.go     uploads, and files that people attached
//	channel.go  direct conversations, typing, and the pace of a channel
//
// What a message shows is draw's; the calls are api's; when something is posted
// is decided above (bot).
package post
