package crash

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Chain kills one child after the other, each at the next boundary of a kind:
// First, First + Step, … until a run has none left. Each child finishes what the
// one before it left, and dies in the next run.
type Chain struct {
	What, When  string
	First, Step int
}

// Stage is where the runs of a chain take place, one after the other.
type Stage interface {
	// Spawn starts a child in reserve that dies at the boundary, in the run that
	// is the ahead-th from now or in a later one.
	Spawn(at Boundary, ahead int) (*Child, error)
	// Play starts the next run and returns when it has ended.
	Play(ctx context.Context) error
	// Verify looks for anything of that run that was lost or repeated.
	Verify(ctx context.Context) error
}

func (c Chain) at(n int) Boundary { return Boundary{c.What, c.When, n} }

// Work goes through the chain and returns how many boundaries there were; fewer
// than least are an error.
func (c Chain) Work(ctx context.Context, s Stage, least int) (reached int, err error) {
	worker, err := s.Spawn(c.at(c.First), 1)
	if err == nil {
		err = worker.Open()
	}
	for n := c.First; err == nil; n += c.Step {
		var reserve *Child
		if reserve, err = s.Spawn(c.at(n+c.Step), 2); err != nil {
			break
		}
		var died bool
		died, err = survive(ctx, s, worker, reserve)
		if err == nil {
			err = s.Verify(ctx)
		}
		if err != nil {
			return reached, fmt.Errorf("death %s: %w", c.at(n), err)
		}
		worker.Kill()
		if died {
			reached++
			worker = reserve
			continue
		}
		reserve.Kill()
		if reached < least {
			err = fmt.Errorf("only %d boundaries %s %s, at least %d were expected", reached, c.When, c.What, least)
		}
		return reached, err
	}
	return reached, err
}

// survive plays one run, and sends the reserve in when the child dies.
func survive(ctx context.Context, s Stage, worker, reserve *Child) (died bool, err error) {
	played := make(chan error, 1)
	go func() { played <- s.Play(ctx) }()
	select {
	case <-worker.Done:
		err = reserve.Open()
		return true, errors.Join(err, <-played)
	case err = <-played:
	}
	if err != nil {
		return false, err
	}
	select { // it may be about to die after the last commit
	case <-worker.Done:
		return true, reserve.Open()
	case <-time.After(time.Second):
		return false, nil
	}
}
