// Package adaptertest is what the unit tests of a chat platform stand on beside
// the platform's own test server: a Recorder in the place of the bot, which keeps
// what the adapter delivers, a store's names in memory, and a log to read.
//
//	recorder.go  Recorder, Names, Log
//	report.go    LongReport: a card that no platform shows whole
//
// The test servers are adapters/slack/slacktest and adapters/discord/discordtest.
// The suites that play people against a whole Deckhand are in cmd/internal/e2e.
package adaptertest
