// Package demo is what `deckhand demo` shows: one goal, asked of a scripted
// model, on real files.
//
//	rehearsal.go  the goal, the script of the model (survey.yaml) and the configuration
//	thread.go     the goal in a thread: what Ann says and clicks, and what she sees
//	slack.go      the thread on slacktest
//	discord.go    the thread on discordtest
//	moments.go    every moment that a person can meet, printed: the list is bot/moments,
//	              the stages are moments_slack.go and moments_discord.go
//
// Everything but the people, the model and the chat platform is Deckhand as it
// ships (package app). The commands and what they print around the demo are in
// cmd/deckhand.
package demo
