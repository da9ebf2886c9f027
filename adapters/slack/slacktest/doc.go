// Package slacktest is a Slack workspace on loopback: the Web API over HTTP,
// Socket Mode over WebSocket, signed HTTP deliveries, and the people who use
// it. Tests, crash suites and the demo talk to it as they would to Slack: a
// client points its API URL at URL()+"/api/" and does the rest by itself.
//
// It is strict where Slack is strict (limits of blocks and texts, rate limits,
// scopes, expiring triggers, three seconds for an acknowledgement) and rude on
// request (Fail, FailEvents, Chaos): answers that are lost after the post was
// accepted, events that come twice, late or in another order, sockets that are
// cut.
//
//	server.go config.go       the server and how it is set up
//	world.go workspace.go     what there is, and the state behind one lock
//	call.go methods.go        the way of a call; chat.go, files.go and views.go are what it does
//	blocks.go elements.go     blocks, checked as Slack checks them
//	session.go                agent sessions and assistant threads: status, title, prompts
//	deliver.go                events on their way to the app, over a socket (socket.go) or HTTP
//	people.go click.go modal.go  what people do
//	look.go render.go         what people see
//
// It knows the methods that the adapter calls; any other is unknown_method. What
// it shares with discordtest is in adapters/platformtest.
//
// What does not live here: anything that knows Deckhand or a Slack library.
// The package is ordinary code without package testing, since the demo runs it.
package slacktest
