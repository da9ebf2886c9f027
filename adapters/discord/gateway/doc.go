// Package gateway keeps one connection to Discord's gateway: it greets, beats,
// resumes, and connects again after a pause that Discord may ask for.
//
//	gateway.go     Run: one connection after the other, until the context ends
//	connection.go  one connection: greeting, heartbeats, frames, its end
//
// The library's own gateway is not used: it waits for HELLO for ever, panics at
// the frame "null", hides why it was closed, and its pauses take no notice of a
// context.
//
// What an event means lives elsewhere (discord): it gets each by its name, with
// the payload as it came.
package gateway
