// Package socket is Slack's Socket Mode: one connection that brings envelopes
// and takes their acknowledgements, opened anew whenever Slack says so or the
// network breaks. The library's own client loses the order of events and fails
// at types that it does not know, so the protocol is spoken here.
//
//	socket.go      Run: a connection at any time, two while Slack exchanges one
//	connection.go  one connection: opened, greeted, read, acknowledged
//
// What lives elsewhere: what an envelope holds (wire), and what becomes of it
// (the adapter).
package socket
