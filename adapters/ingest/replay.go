package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

const (
	// batchFor is how long is read before what was found is heard: within a batch
	// messages are heard in the order in which they were said.
	batchFor = 5 * time.Second
	// MaxFound is how many messages are held at once. A part that has more is read
	// in several steps.
	MaxFound = 2000
)

// Replay reads parts P back, one after the other, and has the messages U heard
// that were missed there.
type Replay[P, U any] struct {
	// Read reads a part, at most about MaxFound messages of it. More are parts
	// that are read next: what is left of this one, or what it led to.
	Read  func(part P) (found []U, more []P, err error)
	Order func(found []U) []U // as they were said, each once
	// Hear is told each message. One that cannot be heard now is noted by whoever
	// hears it and holds back nobody else; only while the store is away nothing
	// goes on (ErrAway).
	Hear func(message U) error
	Done func(part P) // everything found in it was told
}

// All reads all parts back. What was found in the parts before an error was
// heard, except for those of the last batch.
func (r Replay[P, U]) All(ctx context.Context, parts []P) error {
	var found []U
	var read []P
	since := time.Now()
	for len(parts) > 0 {
		part := parts[0]
		list, more, err := r.Read(part)
		if err != nil {
			return err
		}
		parts = append(slices.Clip(more), parts[1:]...)
		found, read = append(found, list...), append(read, part)
		if len(parts) > 0 && time.Since(since) <= batchFor && len(found) < MaxFound {
			continue
		}
		if err := r.hear(ctx, found); err != nil {
			return err
		}
		for _, part := range read {
			r.Done(part)
		}
		found, read, since = nil, nil, time.Now()
	}
	return nil
}

func (r Replay[P, U]) hear(ctx context.Context, found []U) error {
	for _, message := range r.Order(found) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.Hear(message); errors.Is(err, ErrAway) {
			return err
		}
	}
	return nil
}

// Oldest keeps the oldest of many messages, so that a place of any length is
// read within bounded memory: what it drops is read in the next step.
type Oldest[U any] struct {
	At func(message U) int64

	list []U
	cut  int64 // the first position that was dropped, 0: none
}

// Keep keeps a message, unless there are older ones enough.
func (o *Oldest[U]) Keep(message U) {
	if o.cut > 0 && o.At(message) >= o.cut {
		return
	}
	o.list = append(o.list, message)
	if len(o.list) >= 2*MaxFound {
		o.shrink()
	}
}

// shrink drops all but the oldest.
func (o *Oldest[U]) shrink() {
	slices.SortStableFunc(o.list, func(a, b U) int { return cmp.Compare(o.At(a), o.At(b)) })
	o.cut = o.At(o.list[MaxFound])
	first := slices.IndexFunc(o.list, func(m U) bool { return o.At(m) >= o.cut })
	clear(o.list[first:])
	o.list = o.list[:first]
}

// Full reports whether messages from the position on would be dropped.
func (o *Oldest[U]) Full(at int64) bool { return o.cut > 0 && at >= o.cut }

// Found is what was kept, and up to where that is everything: 0, all of it.
func (o *Oldest[U]) Found() (list []U, upTo int64) {
	if o.cut > 0 {
		return o.list, o.cut - 1
	}
	return o.list, 0
}
