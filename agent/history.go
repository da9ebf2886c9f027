package agent

import (
	"encoding/json"
	"iter"
	"slices"
)

// chunk is how many entries one piece of a History holds.
const chunk = 32

// History is a list that only grows, as a value: Push copies at most one chunk,
// and the old list stays as it was. As JSON it is a plain list.
type History struct {
	full [][]Entry // chunks that are never written again
	tail []Entry
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
	}
	return h
}

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
