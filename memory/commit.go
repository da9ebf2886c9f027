package memory

// What a well-formed commit is, and the names of artifacts and counters.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
)

// ErrMalformed is a commit that no store takes, whatever its state: a mistake
// of the program that sent it.
var ErrMalformed = fmt.Errorf("malformed commit: %w", agent.ErrPermanent)

// Check returns ErrMalformed, wrapped, for a commit without an attempt id, for
// one with events, wake-ups, a lease or an end but no run, for a lease of
// another run, for an event without strand or body, and for what CheckName
// refuses.
func Check(c agent.Commit) error {
	switch {
	case c.ID == "":
		return fmt.Errorf("%w: no attempt id: set ID to agent.NewID()", ErrMalformed)
	case c.Run == "" && (len(c.Events) > 0 || len(c.Wake) > 0 || c.Lease != nil || c.Ends):
		return fmt.Errorf("%w %s: it names no run", ErrMalformed, c.ID)
	case c.Lease != nil && c.Lease.Run != c.Run:
		return fmt.Errorf("%w %s: run %s under a lease of run %s", ErrMalformed, c.ID, c.Run, c.Lease.Run)
	}
	for i, e := range c.Events {
		if e.Strand == "" || e.Body == nil {
			return fmt.Errorf("%w %s: event %d of %d has no strand or no body", ErrMalformed, c.ID, i+1, len(c.Events))
		}
	}
	if _, nameless := c.Wake[""]; nameless {
		return fmt.Errorf("%w %s: it wakes a strand without a name", ErrMalformed, c.ID)
	}
	for name, value := range c.Set {
		if err := CheckName(name, value); err != nil {
			return fmt.Errorf("%w %s: %w", ErrMalformed, c.ID, err)
		}
	}
	return nil
}

// Starts says whether a commit may be the first of its run: only one whose
// first event is run.started. Anything else that comes to an empty journal (it
// expired, or a failover lost it) is refused with agent.ErrNoRun: a run without
// a beginning could be neither cancelled nor ended.
func Starts(c agent.Commit) bool {
	return len(c.Events) > 0 && c.Events[0].Body != nil && c.Events[0].Body.Kind() == agent.RunStarted{}.Kind()
}

// BlobHash is the name of an artifact: the SHA-256 of its bytes, in lower-case hex.
func BlobHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// RunCounters is the beginning of the names of a run's own counters
// ("run/RUN/"): those that Archive.Expire removes together with the run.
func RunCounters(run agent.RunID) string { return agent.CounterOf(agent.RunCounter(run), "") }
