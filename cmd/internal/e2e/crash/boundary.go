package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// Boundary is a point of the work at which a child dies: before, during or after
// the N-th thing of a kind (a commit, an effect, a post) that it counts. N counts
// from 1 in each child; 0 is no boundary.
type Boundary struct {
	What, When string
	N          int
}

func (b Boundary) String() string { return fmt.Sprintf("%s %s %d", b.When, b.What, b.N) }

// soakVar asks for the long form, and may name the file for the table's rows.
const soakVar = "DECKHAND_SOAK"

// Soak says whether the long form of the suites is wanted.
func Soak() bool { return os.Getenv(soakVar) != "" }

// Often is how often something is done in the short and in the long form.
func Often(short, long int) int {
	if Soak() {
		return long
	}
	return short
}

// Pause waits for a random time, or until ctx ends.
func Pause(ctx context.Context, least, most time.Duration) {
	select {
	case <-time.After(least + rand.N(most-least)):
	case <-ctx.Done():
	}
}
