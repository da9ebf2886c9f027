// Package posting makes the posts that a run asks for, and keeps the cards that
// were posted up to date. The loop calls a Poster as it calls a tool: with an
// intent in the journal before, and the outcome after.
//
//	post.go      Post: a card, a question, a report; what becomes of a failure
//	find.go      Find: looks for a post whose answer was lost
//	file.go      files that people gave, and artifacts that they get
//	show.go      Show: edits cards as runs go on, no faster than the paces
//	failure.go   what the errors of a platform mean, and pauses
//	outage.go    places that take nothing, until they do again
//	poster.go    Poster: platforms, places, deadlines
//
// What a card says is bot/card's; which posts a run makes is agent's.
package posting
