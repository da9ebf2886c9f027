// Package reach knows what the bot cannot reach for a while: who is told, and
// which runs go on when it can.
//
//	reach.go   Places that take no posts, and those that are gone
//	model_outage.go  Models that give no answers
//
// That a place takes nothing is found out by bot/posting, that it does again or
// is gone by bot/intake, from events of the platform. What a run does about it
// is agent's.
package reach
