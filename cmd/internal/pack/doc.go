// Package pack defines `deckhand pack`: packs added, listed, shown, checked and
// removed.
//
//	command.go  the commands
//	add.go      a pack taken over, and given up again
//	keep.go     the key packs of the configuration file, changed without touching the rest
//
// What does not live here: what a pack is (tools/pack), what of it runs are offered
// (`deckhand tools`).
package pack
