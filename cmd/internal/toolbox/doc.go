// Package toolbox holds the commands about tools: `deckhand tools`. None of them
// needs a model.
//
//	toolbox.go  list, show and call, for people
//	batch.go    search and check, for people and in batches: a line in, a line out
//
// What does not live here: what is found and what is wrong (tools, tools/find),
// and which tools there are (cmd/internal/app).
package toolbox
