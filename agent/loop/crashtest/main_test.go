package crashtest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// ordersVar makes the test binary a worker that follows its orders.
const ordersVar = "DECKHAND_CRASH_ORDERS"

func TestMain(m *testing.M) {
	if text := os.Getenv(ordersVar); text != "" {
		var o orders
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = work(o)
		}
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// soak says whether the long form of the tests is wanted.
func soak() bool { return os.Getenv("DECKHAND_SOAK") != "" }
