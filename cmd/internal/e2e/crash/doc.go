// Package crash kills Deckhand. A test binary starts itself again as a child
// process that does Deckhand's work; the child dies of SIGKILL at a boundary that
// it was given, so that nothing is flushed, closed, released or said, and another
// one takes its work over. The suites of a store (e2e/engine) and of a platform
// (e2e/chat) look afterwards whether anything was lost or done twice.
//
//	boundary.go  where a child dies
//	killer.go    counts what the child does, and kills it at its boundary
//	backend.go   the stores, and what happens to their servers
//	store.go     a store at whose commits the child may die
//	record.go    what survives the child: its death, and what was acknowledged
//	child.go     the child process, in reserve until it is opened
//	chain.go     one child after the other, each at the next boundary
//	figures.go   how many died, and how soon somebody went on
//	table.go     these figures as a row of one table for all suites
//
// DECKHAND_SOAK=1 asks the suites for their long form; where it is a file's whole
// name, rows of figures are added to that file. What a run consists of,
// and what must hold after it, is told in the suites.
package crash
