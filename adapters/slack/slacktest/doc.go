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
// What does not live here: anything that knows Deckhand or a Slack library.
// The package is ordinary code without package testing, since the demo runs it.
package slacktest
