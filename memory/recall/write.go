package recall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory"
)

// ErrChanged says that somebody else changed the record at the same time.
var ErrChanged = errors.New("somebody else changed it just now: try again")

// Keep implements records.Memory.
func (m *Memory) Keep(ctx context.Context, anew bool, list ...records.Record) error {
	now, err := m.Store.Now(ctx)
	if err != nil {
		return fmt.Errorf("remember: %w", err)
	}
	writes := make([]agent.RecordWrite, 0, len(list))
	for i, r := range list {
		w, err := m.write(r, now, int64(i))
		if err != nil {
			return err
		}
		if !anew {
			w.Seen = 0
		}
		writes = append(writes, w)
	}
	return m.send(ctx, writes)
}

// Import writes records as they were read. Those whose id is there already take
// its place, but stay where they stand in their session. Nothing is written
// where one cannot be.
func (m *Memory) Import(ctx context.Context, list []records.Record) error {
	now, err := m.refresh(ctx)
	if err != nil {
		return err
	}
	writes := make([]agent.RecordWrite, 0, len(list))
	for i, r := range list {
		m.mu.RLock()
		if old, is := m.index.Record(r.Key()); is && r.Order == 0 {
			r.Order = old.Order
		}
		m.mu.RUnlock()
		w, err := m.write(r, now, int64(i))
		if err != nil {
			return err
		}
		writes = append(writes, w)
	}
	return m.send(ctx, writes)
}

// write is a record as it is sent to the store, wherever it stands there.
func (m *Memory) write(r records.Record, now time.Time, place int64) (agent.RecordWrite, error) {
	r = r.Clean()
	if err := r.Check(); err != nil {
		return agent.RecordWrite{}, err
	}
	if r.Written.IsZero() {
		r.Written = now.UTC()
	}
	if r.Order == 0 {
		r.Order = now.UnixMicro()*1000 + place // more than 1000 at once reach into the next microseconds
	}
	data, err := r.Encode()
	return agent.RecordWrite{ID: r.Key(), Data: data, Seen: agent.AnyRecord}, err
}

// send writes in steps that a store takes: one where that is possible.
func (m *Memory) send(ctx context.Context, writes []agent.RecordWrite) error {
	for len(writes) > 0 {
		size, n := 0, 0
		for n < len(writes) && (n == 0 || size+len(writes[n].ID)+len(writes[n].Data) <= memory.MaxRecordWrite) {
			size += len(writes[n].ID) + len(writes[n].Data)
			n++
		}
		if _, err := m.Store.WriteRecords(ctx, writes[:n]); err != nil {
			return fmt.Errorf("remember: %w", err)
		}
		writes = writes[n:]
	}
	return nil
}

// Change has f change the records with the id that the viewer owns, and returns
// them as they are then. A record that f empties is forgotten.
func (m *Memory) change(ctx context.Context, v records.Viewer, id string, f func(r *records.Record) (keep bool)) ([]records.Record, error) {
	list, err := m.Show(ctx, v, id)
	if err != nil {
		return nil, err
	}
	var writes []agent.RecordWrite
	var changed []records.Record
	for _, r := range list {
		if !v.Owns(r) {
			continue
		}
		m.mu.RLock()
		seq := m.rows[r.Key()]
		vector := m.rows[vectorID(r.Key())] > 0
		m.mu.RUnlock()
		w, before := agent.RecordWrite{ID: r.Key(), Seen: seq}, r.Text
		keeps := f(&r)
		if keeps {
			if err := r.Check(); err != nil {
				return nil, err
			}
			if w.Data, err = r.Encode(); err != nil {
				return nil, err
			}
		}
		if vector && (!keeps || r.Text != before) { // it stands for words that are gone
			writes = append(writes, agent.RecordWrite{ID: vectorID(r.Key()), Seen: agent.AnyRecord})
		}
		writes, changed = append(writes, w), append(changed, r)
	}
	if len(changed) == 0 {
		return nil, nil
	}
	applied, err := m.Store.WriteRecords(ctx, writes)
	if err != nil {
		return nil, fmt.Errorf("remember: %w", err)
	}
	for i, did := range applied {
		if !did && records.IsKey(writes[i].ID) {
			return nil, ErrChanged
		}
	}
	_, err = m.refresh(ctx) // this process forgets it at once
	return changed, err
}

// Forget implements records.Memory.
func (m *Memory) Forget(ctx context.Context, v records.Viewer, id string) ([]records.Record, error) {
	return m.change(ctx, v, id, func(*records.Record) bool { return false })
}

// Correct gives a record another text, in the words of whoever corrects it.
func (m *Memory) Correct(ctx context.Context, v records.Viewer, id, text string) ([]records.Record, error) {
	now, err := m.Store.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("correct %s: %w", id, err)
	}
	return m.change(ctx, v, id, func(r *records.Record) bool {
		r.Text, r.Time, r.Trust = text, now.UTC(), agent.Trusted
		if v.Person != "" {
			r.Source.Person = v.Person
		}
		*r = r.Clean()
		return true
	})
}

// Accept says that a person has looked at a record and vouches for it: a skill that
// was proposed, what somebody else said.
func (m *Memory) Accept(ctx context.Context, v records.Viewer, id string) ([]records.Record, error) {
	return m.change(ctx, v, id, func(r *records.Record) bool { r.Trust = agent.Trusted; return true })
}

// Pin keeps a record whatever its age, or no longer.
func (m *Memory) Pin(ctx context.Context, v records.Viewer, id string, pinned bool) ([]records.Record, error) {
	return m.change(ctx, v, id, func(r *records.Record) bool { r.Pinned = pinned; return true })
}

// sweepAtOnce is how many records one step of Sweep removes.
const sweepAtOnce = 500

// Sweep removes from the store what has expired, and what is older than the age of
// its scope and not pinned (0: nothing is too old). It returns how many records it
// removed.
func (m *Memory) Sweep(ctx context.Context, age func(records.Scope) time.Duration) (int, error) {
	now, err := m.Store.Now(ctx)
	if err != nil {
		return 0, fmt.Errorf("remove old records: %w", err)
	}
	writes, err := m.tooOld(ctx, now, age)
	if err != nil {
		return 0, fmt.Errorf("remove old records: %w", err)
	}
	for first := 0; first < len(writes); first += 2 * sweepAtOnce {
		if _, err := m.Store.WriteRecords(ctx, writes[first:min(len(writes), first+2*sweepAtOnce)]); err != nil {
			return 0, fmt.Errorf("remove old records: %w", err)
		}
	}
	return len(writes) / 2, nil
}

// tooOld are the writes that remove what Sweep is to remove, two a record.
func (m *Memory) tooOld(ctx context.Context, now time.Time, age func(records.Scope) time.Duration) (writes []agent.RecordWrite, err error) {
	after := uint64(0)
	for {
		rows, _, err := m.Store.ReadRecords(ctx, after, readAtOne)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row.Seq
			if !records.IsKey(row.ID) || len(row.Data) == 0 {
				continue
			}
			r, err := records.Decode(row.Data)
			if err != nil {
				continue // of a newer build, perhaps
			}
			most := age(r.Scope)
			old := most > 0 && !r.Pinned && !r.Written.IsZero() && now.Sub(r.Written) > most
			if old || !r.Live(now) {
				writes = append(writes, agent.RecordWrite{ID: row.ID, Seen: row.Seq}, agent.RecordWrite{ID: vectorID(row.ID), Seen: agent.AnyRecord})
			}
		}
		if len(rows) < readAtOne {
			return writes, nil
		}
	}
}
