// Package api asks Slack: one Client for one bot in one workspace, with what
// became of each call in the words of bot (busy, gone, lost, refused).
//
//	client.go   Client, who the bot is, calls that are made again, what is logged once
//	error.go    what an error of Slack's means
//	people.go   who people are, who is in a group, direct conversations
//	find.go     the bot's own posts, found again by their key
//	history.go  threads as people read them
//	file.go     files: fetched, uploaded, found again
//
// What lives elsewhere: events (wire, the adapter), how things look (draw), and
// when something is posted (bot).
package api
