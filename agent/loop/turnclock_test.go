package loop

import (
	"testing"
	"time"
)

// A turn of a process that was frozen is corrected by what the store says, and
// never set back.
func TestATurnsClockFollowsTheStore(t *testing.T) {
	store := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	w := &turn{told: store, toldAt: time.Now()}
	w.hear(store.Add(time.Hour))
	if now := w.now(); now.Before(store.Add(time.Hour)) {
		t.Errorf("the clock says %v after the store said %v", now, store.Add(time.Hour))
	}
	w.hear(store)
	if now := w.now(); now.Before(store.Add(time.Hour)) {
		t.Errorf("the clock went back to %v", now)
	}
}
