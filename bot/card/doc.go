// Package card words a run for people. Everything in it is a pure function of a
// run's fold and the time: the live card, the questions, the report, the answers
// to commands, the bot's own page.
package card
