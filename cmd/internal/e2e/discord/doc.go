// Package discord is the whole house on a Discord server: every scenario of
// e2e/chat over the gateway and over signed HTTP interactions, and its crash
// suite.
//
//	discord_test.go  the ways in, and how Deckhand connects
//	guild_test.go    the people of the suite in adapters/discord/discordtest
//	command_test.go  what they say as commands with options
//	read_test.go     what people can read of a message
//	crash_test.go    Deckhand is killed while it talks to Discord
//
// What only Discord promises is tested beside the adapter, in adapters/discord.
package discord
