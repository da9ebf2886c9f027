package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/deckhand-bot/deckhand/agent"
)

// Watermarks are how far what people said was heard: in each place up to which
// position. A watermark never passes a message that is still being written down
// or could not be, so that a platform finds after downtime what it has to read.
//
// A position is what a platform orders its messages by, a time or an id: it is
// above zero and grows. A place is whatever one order covers: a channel, a
// server. Both belong to the platform.
type Watermarks struct {
	names     agent.Names
	name      string
	positions Positions

	saving   sync.Mutex // a mark is not saved after a newer one
	mu       sync.Mutex
	places   map[string]*watermark
	caughtUp bool // everything that was missed has been read
	pass     int  // of reading back; what failed before it and is not found again is gone
}

// Positions is how a platform writes positions down.
type Positions struct {
	Write func(position int64) string
	Read  func(text string) int64 // zero for what is no position
}

// watermark is the state of one place, in positions.
type watermark struct {
	newest int64
	open   map[int64]int     // being written down
	failed map[int64]failure // could not be
	bound  int64             // what is read back has not come further; unbound: it has
	saved  int64
}

// unbound is the bound of a place that nothing is read back of.
const unbound = -1

// failure is a message that could not be written down.
type failure struct {
	lane string // what it has to stay in order with
	pass int    // when that was found
}

// NewWatermarks keeps the marks of a platform under a name of the store: the
// name alone is until when all was well, with a place behind it how far that
// was heard.
func NewWatermarks(names agent.Names, name string, positions Positions) *Watermarks {
	return &Watermarks{names: names, name: name, positions: positions, places: map[string]*watermark{}}
}

// Begin notes that a message arrived. What has no place or no position is of
// no concern.
func (w *Watermarks) Begin(place string, at int64) {
	if place == "" || at <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(place).open[at]++
}

// End notes that it is written down, or is not.
func (w *Watermarks) End(place string, at int64, ok bool) {
	if place == "" || at <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.of(place)
	if m.open[at]--; m.open[at] <= 0 {
		delete(m.open, at)
	}
	if !ok {
		m.failed[at] = failure{lane: m.failed[at].lane, pass: w.pass}
		return
	}
	delete(m.failed, at)
	m.newest = max(m.newest, at)
}

// Settle notes whether a message is written down and moves no mark: what was
// said before it may not have been read.
func (w *Watermarks) Settle(m Mark, ok bool) {
	if m.Place == "" || m.At <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if place := w.of(m.Place); ok {
		delete(place.failed, m.At)
	} else {
		place.failed[m.At] = failure{m.Lane, w.pass}
	}
}

// Behind reports whether an earlier message of the lane still has to be written
// down.
func (w *Watermarks) Behind(m Mark) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	place := w.places[m.Place]
	if place == nil {
		return false
	}
	for at, f := range place.failed {
		if f.lane == m.Lane && at < m.At {
			return true
		}
	}
	return false
}

// Stuck are the lanes of a place with messages that could not be written down.
func (w *Watermarks) Stuck(place string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	if m := w.places[place]; m != nil {
		for _, f := range m.failed {
			list = append(list, f.lane)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Answers reports whether the store that keeps the marks answers.
func (w *Watermarks) Answers(ctx context.Context) bool {
	_, err := w.names.Value(ctx, w.name)
	return err == nil
}

// Skip notes that a message arrived that there is nothing to hear in. It says
// nothing about an earlier failure at its position: platforms tell of a message
// again when a link in it unfolds.
func (w *Watermarks) Skip(place string, at int64) {
	if place == "" || at <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.of(place)
	m.newest = max(m.newest, at)
}

// CaughtUp notes that everything of a place up to a position was read and heard,
// but for what failed meanwhile. What had failed before and was not found again
// is gone from the platform, and nobody waits for it any more: it is returned.
// With more, the place is read further.
func (w *Watermarks) CaughtUp(place string, upTo int64, more bool) (gone int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.of(place)
	m.newest = max(m.newest, upTo)
	m.bound = unbound
	if more {
		m.bound = upTo
	}
	before := len(m.failed)
	maps.DeleteFunc(m.failed, func(at int64, f failure) bool { return at <= upTo && f.pass < w.pass })
	return before - len(m.failed)
}

// SetCaughtUp notes whether everything that was missed has been read. From when
// it is not until a place is, what is heard newly there does not move its mark:
// a process that dies meanwhile must not leave out what is still to be read.
func (w *Watermarks) SetCaughtUp(caughtUp bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.caughtUp = caughtUp
	if !caughtUp {
		w.pass++
	}
	for _, m := range w.places {
		if caughtUp {
			m.bound = unbound
		} else {
			m.bound = m.position()
		}
	}
}

// AllHeard reports whether everything that arrived was written down.
func (w *Watermarks) AllHeard() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.caughtUp {
		return false
	}
	for _, m := range w.places {
		if len(m.failed) > 0 {
			return false
		}
	}
	return true
}

// Unheard are the positions right before the first message of each place that
// could not be written down here. Such a place is read from there whatever the
// store says: another process may have heard more and saved it.
func (w *Watermarks) Unheard() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := map[string]int64{}
	for place, m := range w.places {
		if len(m.failed) > 0 {
			list[place] = slices.Min(slices.Collect(maps.Keys(m.failed))) - 1
		}
	}
	return list
}

// Since is from where on the platform's messages were heard, as far as that is
// known.
type Since struct {
	Places  map[string]int64 // as the store has it
	Online  int64            // until when the platform was connected and all was well
	Unheard map[string]int64 // what could not be written down here
}

// Since reads how far was heard. What is beyond the latest position that can be
// was written by a clock that was wrong, and counts as unknown: nothing would be
// read until then.
func (w *Watermarks) Since(ctx context.Context, latest int64) (Since, error) {
	online, err := w.names.Value(ctx, w.name)
	if err != nil {
		return Since{}, fmt.Errorf("when the bot was here last: %w", err)
	}
	saved, err := w.names.Values(ctx, w.name+":")
	if err != nil {
		return Since{}, fmt.Errorf("how far the channels were read: %w", err)
	}
	since := Since{Places: make(map[string]int64, len(saved)), Online: w.positions.Read(online), Unheard: w.Unheard()}
	for name, at := range saved {
		if position := w.positions.Read(at); position <= latest {
			since.Places[strings.TrimPrefix(name, w.name+":")] = position
		}
	}
	if since.Online > latest {
		since.Online = 0
	}
	return since, nil
}

// Nothing reports that nothing is known of earlier times: the first start.
func (s Since) Nothing() bool {
	return s.Online == 0 && len(s.Places) == 0 && len(s.Unheard) == 0
}

// Known are the places of which something is known, sorted.
func (s Since) Known() []string {
	list := slices.AppendSeq(slices.Collect(maps.Keys(s.Places)), maps.Keys(s.Unheard))
	slices.Sort(list)
	return slices.Compact(list)
}

// Of is the position after which a place has to be read; zero or less: nothing
// is known of earlier times. When all was well nothing had failed anywhere here;
// what was being written down just then lies within overlap.
func (s Since) Of(place string, overlap int64) int64 {
	after := max(s.Places[place], s.Online-overlap)
	if at, failed := s.Unheard[place]; failed && (after <= 0 || at < after) {
		after = at // another process read on
	}
	return after
}

// Save writes down the marks that moved, and that all was well at a position, or
// right before what is just being written down; zero: the platform was not
// connected then.
func (w *Watermarks) Save(ctx context.Context, online int64) error {
	w.saving.Lock()
	defer w.saving.Unlock()
	var failed []error
	for place, at := range w.moved() {
		if err := w.names.SetValue(ctx, w.name+":"+place, w.positions.Write(at)); err != nil {
			failed = append(failed, fmt.Errorf("save how far %s was read: %w", place, err))
			continue
		}
		w.saved(place, at)
	}
	if online = w.beforeOpen(online); online > 0 && w.AllHeard() {
		if err := w.names.SetValue(ctx, w.name, w.positions.Write(online)); err != nil {
			failed = append(failed, fmt.Errorf("save the time of the connection: %w", err))
		}
	}
	return errors.Join(failed...)
}

// beforeOpen is the position, or an earlier one where a message is being written
// down.
func (w *Watermarks) beforeOpen(at int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.places {
		for open := range m.open {
			at = min(at, open-1)
		}
	}
	return at
}

// moved are the marks that differ from what is saved.
func (w *Watermarks) moved() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := map[string]int64{}
	for place, m := range w.places {
		if at := m.position(); at > 0 && at != m.saved {
			list[place] = at
		}
	}
	return list
}

func (w *Watermarks) saved(place string, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(place).saved = at
}

// of is the state of a place; the lock is held.
func (w *Watermarks) of(place string) *watermark {
	m := w.places[place]
	if m == nil {
		m = &watermark{open: map[int64]int{}, failed: map[int64]failure{}, bound: unbound}
		if !w.caughtUp {
			m.bound = 0
		}
		w.places[place] = m
	}
	return m
}

// position is how far the place was heard for certain.
func (m *watermark) position() int64 {
	at := m.newest
	if m.bound != unbound {
		at = min(at, m.bound)
	}
	for p := range m.open {
		at = min(at, p-1)
	}
	for p := range m.failed {
		at = min(at, p-1)
	}
	return max(at, 0)
}
