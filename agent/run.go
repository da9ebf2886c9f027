package agent

// Run is what is true of a run: the fold of its journal.
type Run struct {
	ID  RunID
	Seq uint64
}
