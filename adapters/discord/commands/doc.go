// Package commands says which commands the bot offers in Discord, registers
// them, and reads what was typed into them.
//
//	definition.go  /deckhand with its words, and "Make this a goal"
//	schedule.go    /deckhand report and schedule: options that become one text
//	register.go    bringing the registered commands to what they should be
//	read.go        a command that was given, or is being typed
//
// The types of definitions are our own: the library's write fields that are
// empty, so that the manifest would be hard to read and to compare. What a
// command does is decided in bot, which reads the text that comes out here.
package commands
