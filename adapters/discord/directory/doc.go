// Package directory knows who people are in which server, which channel is a
// thread of which, and what roles are called.
//
//	people.go    people and the servers that the bot is in: asked for, and remembered
//	reader.go    who may read a channel
//	channels.go  channels, threads and conversations
//	roles.go     the names of roles
//	events.go    what the gateway tells of all of them
//
// Who may do what is decided above (bot); here is only whom Discord knows.
package directory
