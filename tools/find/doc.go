// Package find chooses among many tools: an index over their names,
// descriptions and parameters that answers a request in words with the tools
// that fit best, or says that none does. It needs no model and no network.
//
//	words.go     a text as words: compound names taken apart, stems, no filler words
//	synonyms.go  everyday words of software that mean much the same (synonyms.txt)
//	index.go     the Index: BM25F over the fields of a tool
//	search.go    a request: which words count how much, which tools fit, whether any does
//	near.go      words that no tool has: misspelt, cut short or written together
//	spec.go      a tool's fields for the index
//
// What does not live here: which tools there are (tools/source) and what a task
// is offered of them (agent/loop).
package find
