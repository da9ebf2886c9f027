// Package audit keeps the decisions of a store in a hash chain: what policies and
// people decided on which calls, how runs and processes began, what was removed.
//
//	entry.go     an entry of the chain, its hash, and the digests of journals
//	decision.go  the decisions that a journal's events hold
//	seal.go      Sealer: journals are sealed into the chain as they grow
//	chain.go     appending to the chain; entries of processes
//	anchor.go    the chain's newest hash, kept outside of the store
//	verify.go    what was changed, removed or cut off
//	cut.go       the chain's beginning, taken out at an anchor
//	export.go    the decisions, one after the other
//
// Journals hold what happened; the chain holds digests of all their entries, and
// the decisions in them in short, which outlive the journals. Commits do not wait
// for it: a process seals what it wrote within a second, and now and then what
// others left unsealed, so that neither the death of a process nor a replica of
// an older build leaves a gap for good. What is changed before it is sealed shows
// nowhere; what is changed after shows in Verify.
//
// Whoever may write the store may compute a whole new chain. What tells it from
// the old one are anchors, which are kept elsewhere.
package audit
