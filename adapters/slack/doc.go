// Package slack connects one bot account to one Slack workspace: it takes in
// what people do there (Socket Mode, signed HTTP requests, or both at once) and
// shows what a run has to say.
//
// Everything from outside goes one way: socket.go or http.go receives and
// proves, parse_*.go turns the payload into a bot.Inbound, ingest keeps the
// order of a thread, hear writes it down, and only then it is acknowledged;
// answer.go does what is to be done at once. Slack's own types end here.
//
// What does not live here: what a message means, who may do what, and when
// something is posted (bot).
package slack
