package ingest

import (
	"context"
	"time"
)

// batchFor is how long is read before what was found is heard: within a batch
// messages are heard in the order in which they were said.
const batchFor = 5 * time.Second

// Replay reads places P back, one after the other, and has the messages U heard
// that were missed there.
type Replay[P, U any] struct {
	Read  func(place P) ([]U, error)
	Order func(found []U) []U // as they were said, each once
	Hear  func(message U) error
	Done  func(place P) // everything of it was heard
}

// All reads all places back. What was found in the places before an error was
// heard, except for those of the last batch.
func (r Replay[P, U]) All(ctx context.Context, places []P) error {
	var found []U
	begun, since := 0, time.Now()
	for i, place := range places {
		list, err := r.Read(place)
		if err != nil {
			return err
		}
		found = append(found, list...)
		if i < len(places)-1 && time.Since(since) <= batchFor {
			continue
		}
		if err := r.hear(ctx, found); err != nil {
			return err
		}
		for _, read := range places[begun : i+1] {
			r.Done(read)
		}
		found, begun, since = nil, i+1, time.Now()
	}
	return nil
}

func (r Replay[P, U]) hear(ctx context.Context, found []U) error {
	for _, message := range r.Order(found) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.Hear(message); err != nil {
			return err
		}
	}
	return nil
}
