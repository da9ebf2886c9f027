// Package reach knows the places that take nothing of the bot's for a while,
// and those that are gone: who is told, and which runs go on.
//
//	reach.go   Places: Away, Back, Gone
//
// That a place takes nothing is found out by bot/posting, that it does again or
// is gone by bot/intake, from events of the platform. What a run does about it
// is agent's.
package reach
