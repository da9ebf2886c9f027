// Package moments has every moment that a person can meet, as a short scene:
// what happened in a run before, what is posted, what somebody then says or
// presses, and what is answered. Events go through the real fold, texts come
// from bot/card, and what people do goes through bot/intake, so a moment shows
// what a team would see. `deckhand demo slack --moments` prints them all, and
// the golden files of cmd/internal/demo hold them, a file for each.
//
//	moment.go   Moment, its steps, and All: the list
//	scene.go    how a scene is played; store.go is the store behind it
//	people.go   World: who takes part, and where
//	start.go work.go ask.go end.go answer.go recurring.go trouble.go   the moments
//
// A moment more is a function over a scene in one of these files and a line in
// its list. How platforms show the steps is cmd/internal/demo's.
package moments
