package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// chains cover every boundary. In the short form the stores share the commits
// out: one has the odd ones and the other the even ones.
func chains(share int) []crash.Chain {
	var all []crash.Chain
	for _, when := range []string{"before", "after"} {
		for first := range 2 {
			if first != share && !crash.Soak() {
				continue
			}
			all = append(all, crash.Chain{What: "commit", When: when, First: first + 1, Step: 2})
		}
	}
	for _, when := range []string{"before", "during", "after"} {
		all = append(all, crash.Chain{What: "effect", When: when, First: 1, Step: 1})
	}
	return all
}

// boundaryPatience bounds one run: a lease, deadlines, and a busy machine.
const boundaryPatience = 60 * time.Second

// stage is an env as a chain plays in it: each run has an id before it starts,
// so that its worker can be told which one to die in.
type stage struct {
	*env
	f    *figures
	runs []agent.RunID // of which played were started
	next int
}

// run is the id of the run that is the ahead-th from now.
func (s *stage) run(ahead int) agent.RunID {
	for len(s.runs) < s.next+ahead {
		s.runs = append(s.runs, agent.RunID(agent.NewID()))
	}
	return s.runs[s.next+ahead-1]
}

// Spawn starts a worker in reserve.
func (s *stage) Spawn(at crash.Boundary, ahead int) (*crash.Child, error) {
	return s.spawn(s.run(ahead), at, 1)
}

// Play starts the next run, and returns at its end.
func (s *stage) Play(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, boundaryPatience)
	defer cancel()
	run := s.run(1)
	s.next++
	if err := s.start(ctx, run, shortGoal); err != nil {
		return err
	}
	return s.follow(ctx, run)
}

// Verify looks at the run that was played last.
func (s *stage) Verify(ctx context.Context) error { return s.verify(ctx, s.run(0), s.f) }

// orderly is a receiver that takes a moment.
func orderly(parcel, int) treatment { return treatment{late: 20 * time.Millisecond} }

func TestDeathAtEveryBoundary(t *testing.T) {
	t.Parallel()
	lease, deadline := 600*time.Millisecond, 1500*time.Millisecond
	if crash.Soak() {
		lease, deadline = 3*time.Second, 4*time.Second
	}
	chance := rand.IntN(2)
	for i, k := range crash.Kinds() {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			out := openOutside(t, orderly)
			f := &figures{}
			group, ctx := errgroup.WithContext(t.Context())
			for _, c := range chains((i + chance) % 2) {
				s := build(t, k, out, lease, deadline)
				group.Go(func() error {
					_, err := c.Work(ctx, &stage{env: s, f: f}, leastBoundaries(c))
					return errors.Join(err, s.measure(ctx, f))
				})
			}
			if err := group.Wait(); err != nil {
				t.Error(err)
			}
			f.Report(t)
			f.Within(t, goneOn, slow(4*time.Second))
			f.Within(t, sentOn, slow(time.Second))
			f.Row(t, "engine, at every boundary", k)
		})
	}
}

// slow is a bound of the soak, which runs alone, on a machine that is busy with
// other tests: late is not stuck.
func slow(bound time.Duration) time.Duration {
	if crash.Soak() {
		return bound
	}
	return 20 * bound
}

// leastBoundaries is how many boundaries a chain must find at least.
func leastBoundaries(c crash.Chain) int {
	if c.What == "effect" {
		return 8
	}
	return 14
}

// measure looks at every death of the env.
func (s *env) measure(ctx context.Context, f *figures) error {
	all, err := crash.ReadRecord(s.record())
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Died == nil {
			continue
		}
		events, err := s.store.Read(ctx, e.Died.Run, 0)
		if err != nil {
			return err
		}
		f.measure(*e.Died, s.Lease, events)
	}
	return nil
}
