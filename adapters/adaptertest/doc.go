// Package adaptertest is the suite that every chat adapter passes: the same
// scenarios with the same assertions, over a local server that speaks the
// platform's own protocol. Run plays people against a whole Deckhand (a real
// store, the real loop, the real desk, a scripted model); Crash plays them
// against Deckhand as a child process that is killed at every boundary.
//
// A platform's test implements Far, the other side: the server with the people
// in it. Nothing in the suite knows which platform it is: what one does not have by
// its nature is an Ability that its test says it lacks, with the reason.
//
// What does not live here: the servers (slacktest, discordtest), and what only
// one platform promises (its own tests).
package adaptertest
