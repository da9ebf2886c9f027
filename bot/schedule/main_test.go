package schedule

import (
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine that tests

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func place(t rapid.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// created is a Saturday, the day before the clocks of Berlin go forward.
func created(t testing.TB) time.Time {
	t.Helper()
	return time.Date(2027, 3, 27, 12, 7, 30, 0, place(t, "Europe/Berlin"))
}

// shown is how a tick is written in tables.
const shown = "Mon 2006-01-02 15:04 MST"
