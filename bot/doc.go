// Package bot is the contract between chat platforms and everything that
// deals with people: what a platform can do (platform.go), what it shows
// (card.go), what people do there (inbound.go), and places (address.go). It is
// all that the adapters import. Behind it, each above the one before, stand text,
// authority, runs, card, digest, recurring, posting and intake.
//
// What does not live here: chat platforms and the terminal (adapters), working
// on runs (agent/loop), and deciding what to do next (agent).
package bot
