package crashtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
)

// chain kills one worker after the other, each at the next boundary of a kind:
// First, First + Step, … until the run has none left. Each worker finishes
// what the one before it left, and dies in the next run.
type chain struct {
	what, when  string
	first, step int
}

// chains cover every boundary.
func chains() []chain {
	var all []chain
	for _, when := range []string{"before", "after"} {
		for first := range 2 {
			all = append(all, chain{"commit", when, first + 1, 2})
		}
	}
	for _, when := range []string{"before", "during", "after"} {
		all = append(all, chain{"effect", when, 1, 1})
	}
	return all
}

// Bounds of one boundary: a lease, deadlines, and a busy machine.
const boundaryPatience = 60 * time.Second

func (c chain) at(n int) boundary { return boundary{c.what, c.when, n} }

// work goes through the chain and returns how many boundaries there were.
func (c chain) work(ctx context.Context, s *scene, f *figures) (reached int, err error) {
	next := agent.RunID(agent.NewID())
	worker, err := s.spawn(next, c.at(c.first), 1)
	if err == nil {
		err = worker.open()
	}
	for n := c.first; err == nil; n += c.step {
		run := next
		next = agent.RunID(agent.NewID())
		var reserve *child
		reserve, err = s.spawn(next, c.at(n+c.step), 1)
		if err != nil {
			break
		}
		var died bool
		died, err = s.survive(ctx, run, worker, reserve)
		if err == nil {
			err = s.verify(ctx, run, f)
		}
		if err != nil {
			return reached, fmt.Errorf("death %s: %w", c.at(n), err)
		}
		worker.kill()
		if !died {
			reserve.kill()
			return reached, nil
		}
		reached++
		worker = reserve
	}
	return reached, err
}

// survive starts the run, sends the reserve in when the worker dies, and
// returns at the run's end.
func (s *scene) survive(ctx context.Context, run agent.RunID, worker, reserve *child) (died bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, boundaryPatience)
	defer cancel()
	if err := s.start(ctx, run, shortGoal); err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.follow(ctx, run) }()
	select {
	case <-worker.done:
		if err := reserve.open(); err != nil {
			return true, errors.Join(err, <-ended)
		}
		return true, <-ended
	case err := <-ended:
		if err != nil {
			return false, err
		}
	}
	select { // it may be about to die after the last commit
	case <-worker.done:
		return true, reserve.open()
	case <-time.After(time.Second):
		return false, nil
	}
}

// orderly is a far end that takes a moment.
func orderly(parcel, int) manner { return manner{late: 20 * time.Millisecond} }

func TestDeathAtEveryBoundary(t *testing.T) {
	t.Parallel()
	lease, deadline := 600*time.Millisecond, 1500*time.Millisecond
	if soak() {
		lease, deadline = 3*time.Second, 4*time.Second
	}
	for _, k := range []kind{embedded, distributed} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			far := startFarEnd(t, orderly)
			f := &figures{}
			group, ctx := errgroup.WithContext(t.Context())
			for _, c := range chains() {
				s := build(t, k, far, lease, deadline)
				group.Go(func() error {
					reached, err := c.work(ctx, s, f)
					if least := leastBoundaries(c); err == nil && reached < least {
						err = fmt.Errorf("only %d boundaries %s %s, at least %d were expected", reached, c.when, c.what, least)
					}
					return errors.Join(err, s.measure(ctx, f))
				})
			}
			if err := group.Wait(); err != nil {
				t.Error(err)
			}
			f.report(t, slow(4*time.Second), slow(time.Second))
		})
	}
}

// slow is a bound of the soak, which runs alone, on a machine that is busy with
// other tests: late is not stuck.
func slow(bound time.Duration) time.Duration {
	if soak() {
		return bound
	}
	return 20 * bound
}

// leastBoundaries is how many boundaries a chain must find at least.
func leastBoundaries(c chain) int {
	if c.what == "effect" {
		return 8
	}
	return 14
}

// measure looks at every death of the scene.
func (s *scene) measure(ctx context.Context, f *figures) error {
	all, err := readRecord(s.witness())
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.Died == nil {
			continue
		}
		events, err := s.store.Read(ctx, l.Died.Run, 0)
		if err != nil {
			return err
		}
		f.measure(*l.Died, s.lease, events)
	}
	return nil
}
