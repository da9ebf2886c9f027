package sqlite

// Waiting for a journal to grow.

import (
	"context"
	"slices"
	"sync"

	"github.com/deckhand-bot/deckhand/agent"
)

// watches are the calls of Await that are under way.
type watches struct {
	mu    sync.Mutex
	of    map[agent.RunID][]*watch
	begun chan struct{} // tells the writer that there is somebody to look for
}

type watch struct {
	after uint64
	done  chan error
}

func newWatches() *watches {
	return &watches{of: map[agent.RunID][]*watch{}, begun: make(chan struct{}, 1)}
}

func (w *watches) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of) > 0
}

// runs are the runs that somebody awaits.
func (w *watches) runs() []agent.RunID {
	w.mu.Lock()
	defer w.mu.Unlock()
	runs := make([]agent.RunID, 0, len(w.of))
	for run := range w.of {
		runs = append(runs, run)
	}
	return runs
}

func (w *watches) add(run agent.RunID, after uint64) *watch {
	one := &watch{after: after, done: make(chan error, 1)}
	w.mu.Lock()
	w.of[run] = append(w.of[run], one)
	w.mu.Unlock()
	select {
	case w.begun <- struct{}{}:
	default:
	}
	return one
}

func (w *watches) remove(run agent.RunID, one *watch) {
	w.keep(run, func(other *watch) bool { return other != one })
}

// grown tells those who waited for the run to be longer than it was.
func (w *watches) grown(run agent.RunID, length uint64) {
	w.keep(run, func(one *watch) bool {
		if length <= one.after {
			return true
		}
		one.done <- nil
		return false
	})
}

// fail tells those who wait for the run that it cannot be looked at.
func (w *watches) fail(run agent.RunID, err error) {
	w.keep(run, func(one *watch) bool {
		one.done <- err
		return false
	})
}

func (w *watches) keep(run agent.RunID, good func(*watch) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, awaited := w.of[run]
	if !awaited {
		return
	}
	left := slices.DeleteFunc(all, func(one *watch) bool { return !good(one) })
	if len(left) == 0 {
		delete(w.of, run)
		return
	}
	w.of[run] = left
}

// AwaitWord implements agent.Archive. News of this process cost nothing to notice.
func (s *Store) AwaitWord(ctx context.Context, run agent.RunID, after uint64) error {
	return s.Await(ctx, run, after)
}

// Await returns when the run's journal is longer than after, or with the
// error of ctx. Commits of other processes are noticed within 100 ms.
func (s *Store) Await(ctx context.Context, run agent.RunID, after uint64) error {
	one := s.watches.add(run, after)
	defer s.watches.remove(run, one)
	// Looked at after the watch began, so that nothing is missed in between.
	length, err := s.length(ctx, run)
	if err != nil || length > after {
		return err
	}
	select {
	case err := <-one.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.writer.stopped:
		return ErrClosed
	}
}
