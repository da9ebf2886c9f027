package agent

// This file holds the lists and maps that a Run is made of. They are values:
// what changes one returns another and leaves the old one as it was, and copies
// little for it, however long the run is and however many tasks it has.

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// with returns a copy of the map that has the entry.
func with[K comparable, V any](m map[K]V, k K, v V) map[K]V {
	if m == nil {
		return map[K]V{k: v}
	}
	c := maps.Clone(m)
	c[k] = v
	return c
}

// push returns the list with one more element, sharing nothing with a sibling
// that was pushed to as well.
func push[T any](list []T, v ...T) []T { return append(slices.Clip(list), v...) }

// chunk is how many entries one piece of a History holds.
const chunk = 32

// History is a list that only grows, as a value: Push copies at most one chunk,
// and the old list stays as it was. As JSON it is a plain list.
type History struct {
	full  [][]Entry // chunks that are never written again
	tail  []Entry
	bytes int // of the entries' texts
}

// Len is the number of entries.
func (h History) Len() int { return len(h.full)*chunk + len(h.tail) }

// At is the entry at the index, from 0.
func (h History) At(i int) Entry {
	if i < len(h.full)*chunk {
		return h.full[i/chunk][i%chunk]
	}
	return h.tail[i-len(h.full)*chunk]
}

// All yields the entries in order.
func (h History) All() iter.Seq2[int, Entry] {
	return func(yield func(int, Entry) bool) {
		for i := range h.Len() {
			if !yield(i, h.At(i)) {
				return
			}
		}
	}
}

// Push returns the list with more entries.
func (h History) Push(entries ...Entry) History {
	for _, e := range entries {
		if len(h.tail) == chunk {
			h.full, h.tail = push(h.full, h.tail), nil
		}
		h.tail = push(h.tail, e)
		h.bytes += e.bytes()
	}
	return h
}

// bytes is about what the entry's texts take in memory.
func (e Entry) bytes() int {
	n := 0
	if e.Answer != nil {
		n += len(e.Answer.Content)
		for _, c := range e.Answer.Calls {
			n += len(c.Arguments) + len(c.Name)
		}
	}
	if e.Reply != nil {
		n += len(e.Reply.Text)
	}
	if e.Note != nil {
		n += len(e.Note.Text)
	}
	return n + entryBytes
}

// entryBytes is what an entry takes beside its texts.
const entryBytes = 256

// MarshalJSON writes the list.
func (h History) MarshalJSON() ([]byte, error) {
	all := make([]Entry, 0, h.Len())
	for _, c := range h.full {
		all = append(all, c...)
	}
	return json.Marshal(append(all, h.tail...))
}

// UnmarshalJSON reads a list.
func (h *History) UnmarshalJSON(b []byte) error {
	var all []Entry
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*h = History{}
	for _, e := range all {
		h.bytes += e.bytes()
	}
	for c := range slices.Chunk(all, chunk) {
		if len(c) == chunk {
			h.full = append(h.full, c)
		} else {
			h.tail = c
		}
	}
	return nil
}

// IsZero reports whether the list is empty.
func (h History) IsZero() bool { return h.Len() == 0 }

// row is how many values one piece of a Table holds.
const row = 16

// Table is a map in the order of its keys, as a value: With copies one row and
// the list of rows, and the keys only where a new one comes. As JSON it is an
// object.
type Table[K ~string, V any] struct {
	keys []K
	rows [][]*V // full but for the last, and never written again
}

// TableOf is the table of a map.
func TableOf[K ~string, V any](m map[K]V) Table[K, V] {
	t := Table[K, V]{keys: slices.Sorted(maps.Keys(m))}
	values := make([]*V, len(t.keys))
	for i, k := range t.keys {
		v := m[k]
		values[i] = &v
	}
	t.rows = slices.Collect(slices.Chunk(values, row))
	return t
}

// Len is the number of keys.
func (t Table[K, V]) Len() int { return len(t.keys) }

// Get is the key's value, and whether there is one.
func (t Table[K, V]) Get(k K) (v V, known bool) {
	if i, known := slices.BinarySearch(t.keys, k); known {
		return *t.rows[i/row][i%row], true
	}
	return v, false
}

// Of is the key's value, zero where there is none.
func (t Table[K, V]) Of(k K) V {
	v, _ := t.Get(k)
	return v
}

// Has reports whether the key has a value.
func (t Table[K, V]) Has(k K) bool {
	_, known := slices.BinarySearch(t.keys, k)
	return known
}

// All yields keys and values in the order of the keys.
func (t Table[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i, k := range t.keys {
			if !yield(k, *t.rows[i/row][i%row]) {
				return
			}
		}
	}
}

// With is the table in which the key has the value.
func (t Table[K, V]) With(k K, v V) Table[K, V] {
	i, known := slices.BinarySearch(t.keys, k)
	if known {
		t.rows = slices.Clone(t.rows)
		t.rows[i/row] = slices.Clone(t.rows[i/row])
		t.rows[i/row][i%row] = &v
		return t
	}
	values := slices.Insert(slices.Concat(t.rows...), i, &v)
	t.keys = slices.Insert(slices.Clone(t.keys), i, k)
	t.rows = slices.Collect(slices.Chunk(values, row))
	return t
}

// IsZero reports whether the table is empty.
func (t Table[K, V]) IsZero() bool { return len(t.keys) == 0 }

// MarshalJSON writes an object.
func (t Table[K, V]) MarshalJSON() ([]byte, error) { return format.JSON(maps.Collect(t.All())) }

// UnmarshalJSON reads an object.
func (t *Table[K, V]) UnmarshalJSON(b []byte) error {
	var m map[K]V
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*t = TableOf(m)
	return nil
}
