// Package discordtest is a Discord on loopback: the REST API over HTTP, the
// gateway over WebSocket, signed HTTP interactions, and the people who use it.
// Tests, crash suites and the demo talk to it as they would to Discord: a
// client takes URL()+"/api" for the API's base and does the rest by itself.
//
// It is strict where Discord is strict (limits of components and texts, rate
// limits, permissions, intents, expiring tokens, three seconds for the answer
// to an interaction) and rude on request (Fail, FailEvents, Chaos): answers
// that are lost after the post was accepted, events that come twice, late or
// in another order, sockets that are cut.
//
//	server.go                 the server, how it is set up, its routes
//	world.go state.go         what there is, and the state behind one lock; objects.go is its JSON
//	call.go                   the way of a call, its errors and rate limits; messages.go, threads.go, channels.go,
//	                          commands.go and callback.go are what it does
//	content.go components.go  messages, checked as Discord checks them
//	events.go                 events and interactions on their way to the app
//	socket.go session.go      the gateway
//	people.go interact.go slash.go  what people do
//	look.go                   what people see
//
// What it shares with slacktest is in adapters/platformtest.
//
// What does not live here: anything that knows Deckhand or a Discord library.
// The package is ordinary code without package testing, since the demo runs it.
package discordtest
