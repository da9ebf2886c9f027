// Package recall is what Deckhand remembers, found again: records in a store,
// with an index of them in this process.
//
//	recall.go  Memory: search, and the index brought up to date before each
//	write.go   records written, corrected, pinned and forgotten
//	embed.go   vectors, where an endpoint gives some
//
// The index is made when it is first asked, and costs nothing before. What
// others write to the store is in it at the next question.
package recall
