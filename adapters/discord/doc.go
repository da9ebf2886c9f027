// Package discord connects one bot account to Discord: it takes in what people
// do in its servers and direct messages (the gateway, signed HTTP interactions,
// or both at once) and shows what a run has to say.
//
// Everything from outside goes one way:
//
//	gateway, http.go      receive an event, and prove that it is Discord's
//	parse*.go             turn it into an update: a bot.Inbound with what is still to be asked
//	listen.go, names.go   keep the order of a thread, find out who said what where, have it heard
//	answer.go, suggest.go do what is to be done at once
//
// An interaction has three seconds: whatever is not written down by then is
// deferred first. Beside that catchup.go reads what was said while the bot was
// away, ready.go says whether all is well, history.go reads a thread, and check.go
// and manifest.go help whoever sets the bot up. Below it are
//
//	directory  people, servers, channels and roles
//	commands   what the bot offers, and how it is read
//	interact   how an interaction is answered
//	post       posts, each once: made, edited, found, uploaded
//	draw       what cards, forms and answers look like
//	gateway    the connection
//	api        the calls, their limits and errors
//
// Addresses: the workspace is the server's id ("@me" in direct messages), the
// channel is the parent channel, and the id is the thread's own channel id. A
// thread that begins at a message has the message's id, so an address may name
// a thread before it exists: whoever posts there first opens it. In a direct
// conversation, and in the text of a voice channel, which takes no threads, the
// channel is the thread, so that channel and id are the same. The address of a
// message names the channel that holds it, be it a thread, and the message's id.
//
// A command that begins a run is told to wait before it is heard, in sight of
// all: the run's thread begins at that message. If the process dies between
// the two, the message stays without an answer and nothing was begun; if it dies
// after, the run goes on in its thread and only the line that links to it is
// missing, since an interaction's token is kept nowhere.
//
// What does not live here: what a message means, who may do what, and when
// something is posted (bot).
package discord
