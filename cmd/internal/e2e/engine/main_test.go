package engine

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// TestMain makes this binary a worker where it has orders.
func TestMain(m *testing.M) {
	var o orders
	if crash.Orders(&o) {
		crash.Exit(work(o))
	}
	goleak.VerifyTestMain(m)
}
