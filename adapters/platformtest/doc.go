// Package platformtest is what the test servers of the platforms share
// (slack/slacktest and discord/discordtest): a server on loopback whose state is
// guarded by one lock, and on which everything may go wrong on request.
//
//	core.go    the server's life, its lock, waiting for a change, time
//	faults.go  planned and random faults of calls and events; events held back
//	calls.go   how often what was called, refused, and not known
//	socket.go  one WebSocket connection
//	text.go    words that the servers show to people
//
// What does not live here: anything of one platform, and anything that knows
// Deckhand. The package is ordinary code without package testing, since the demo
// runs the servers.
package platformtest
