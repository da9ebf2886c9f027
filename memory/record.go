package memory

// What can be a record.

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
)

// The bounds of a record. A write of many is one step of the store, so its sum
// is bounded, too.
const (
	MaxRecordID    = 512      // bytes
	MaxRecord      = 4 << 20  // bytes
	MaxRecordWrite = 64 << 20 // bytes of one write together
)

// ErrRecord is a record that no store takes.
var ErrRecord = errors.New("not a record")

// CheckRecords returns ErrRecord, wrapped, for writes that no store takes: an
// id that is empty, too long or no UTF-8, one that is written twice, too much data.
func CheckRecords(writes []agent.RecordWrite) error {
	sum, seen := 0, make(map[string]bool, len(writes))
	for _, w := range writes {
		switch {
		case w.ID == "" || len(w.ID) > MaxRecordID || !utf8.ValidString(w.ID):
			return fmt.Errorf("%w: the id %.40q has %d bytes, 1 to %d of UTF-8 are possible", ErrRecord, w.ID, len(w.ID), MaxRecordID)
		case seen[w.ID]:
			return fmt.Errorf("%w: %q is written twice in one step", ErrRecord, w.ID)
		case len(w.Data) > MaxRecord:
			return fmt.Errorf("%w: %q has %d bytes, at most %d are possible", ErrRecord, w.ID, len(w.Data), MaxRecord)
		}
		seen[w.ID] = true
		if sum += len(w.ID) + len(w.Data); sum > MaxRecordWrite {
			return fmt.Errorf("%w: one step writes at most %d bytes", ErrRecord, MaxRecordWrite)
		}
	}
	return nil
}
