package storetest

// The suite: every rule, against one kind of store.

import (
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Store is what a store implements.
type Store interface {
	agent.Store
	agent.Archive
	agent.Records
	agent.Trail
}

// Stores is one set of data, empty at first, and the ways to it. The factory
// closes with t.Cleanup whatever it opened.
type Stores struct {
	// Store may claim.
	Store Store
	// Beside opens one more handle on the same data, as another process would:
	// another replica, or a reader that only appends facts.
	Beside func(t *testing.T) Store
	// Replicas says that what Beside opens may claim too.
	Replicas bool
	// Reopen ends Store as the end of its process would, leases and all, and
	// opens it again with the same lease time.
	Reopen func(t *testing.T) Store
	// Tamper replaces what is stored of one entry of a journal: its kind,
	// its version and the JSON of its body, which may be no JSON at all.
	Tamper func(t *testing.T, run agent.RunID, seq uint64, kind agent.Kind, version int, body string)
	// Needs sets the generation of builds that the run needs, and returns what
	// it was.
	Needs func(t *testing.T, run agent.RunID, generation int) (before int)
}

// Factory opens a store on data of its own, whose leases last as long as said.
type Factory func(t *testing.T, lease time.Duration) Stores

const (
	// long is a lease that no test outlives, short one that a test waits for.
	long  = time.Minute
	short = 300 * time.Millisecond
	// soon is how fast a store must notice what happened elsewhere.
	soon = time.Second
	// patience is how long a test waits for what must happen on a busy machine.
	patience = 20 * time.Second
)

// Run runs the suite.
func Run(t *testing.T, open Factory) {
	t.Helper()
	for _, group := range []struct {
		name  string
		lease time.Duration
		tests []test
	}{
		{"journal", long, journalTests},
		{"attempt", long, attemptTests},
		{"refusal", long, refusalTests},
		{"wake", long, wakeTests},
		{"lease", short, leaseTests},
		{"claim", long, claimTests},
		{"end", long, endTests},
		{"archive", long, archiveTests},
		{"runs", long, runsTests},
		{"runs", short, runsLeaseTests},
		{"name", long, nameTests},
		{"trail", long, trailTests},
		{"pace", long, paceTests},
		{"record", long, recordTests},
		{"crowd", long, crowdTests},
		{"random", long, randomTests},
	} {
		for _, tt := range group.tests {
			t.Run(group.name+"/"+tt.name, func(t *testing.T) {
				s := open(t, group.lease)
				tt.run(&bed{T: t, Stores: s, lease: group.lease})
			})
		}
	}
}

type test struct {
	name string
	run  func(b *bed)
}
