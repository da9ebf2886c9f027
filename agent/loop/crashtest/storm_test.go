package crashtest

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
)

// storm keeps runs going, one after the other on a few lanes, while workers
// and the store are struck at random moments.
type storm struct {
	*scene
	workers []*child
	over    chan struct{} // closed when no more runs are started
	f       *figures

	mu   sync.Mutex
	runs []agent.RunID
}

// lanes are the goals of the runs that go on at the same time.
var lanes = []string{shortGoal, shortGoal, longGoal}

const (
	strandsAtOnce = 4
	stormPatience = 90 * time.Second // of one run
)

// unruly is a far end that answers late, loses answers, or does not hear, when
// it is asked for the first time; a second attempt finds it in order.
func unruly(p parcel, nth int) manner {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.key())) // a hash's Write never fails
	if nth > 1 {
		return manner{}
	}
	switch h.Sum32() % 8 {
	case 0:
		return manner{late: patience + 100*time.Millisecond}
	case 1:
		return manner{hold: 2 * patience}
	case 2:
		return manner{lose: true}
	case 3:
		return manner{deaf: true}
	case 4:
		return manner{late: patience / 2, lose: true}
	}
	return manner{late: 10 * time.Millisecond}
}

// raise starts the workers.
func raise(t *testing.T, k kind, workers int, server ...string) *storm {
	t.Helper()
	s := &storm{scene: build(t, k, startFarEnd(t, unruly), 600*time.Millisecond, 1500*time.Millisecond, server...),
		over: make(chan struct{}), f: &figures{}}
	for range workers {
		if err := s.join(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// join adds a worker.
func (s *storm) join() error {
	c, err := s.spawn("", boundary{}, strandsAtOnce)
	if err != nil {
		return err
	}
	s.workers = append(s.workers, c)
	return c.open()
}

// lane starts runs, one after the other, until the storm is over.
func (s *storm) lane(ctx context.Context, goal string) error {
	for {
		select {
		case <-s.over:
			return nil
		default:
		}
		run := agent.RunID(agent.NewID())
		s.mu.Lock()
		s.runs = append(s.runs, run)
		s.mu.Unlock()
		if err := s.whole(ctx, run, goal); err != nil {
			return err
		}
	}
}

func (s *storm) whole(ctx context.Context, run agent.RunID, goal string) error {
	ctx, cancel := context.WithTimeout(ctx, stormPatience)
	defer cancel()
	if err := s.start(ctx, run, goal); err != nil {
		return err
	}
	return s.follow(ctx, run)
}

// blow strikes so often, lets every run end, and looks at all of them.
func (s *storm) blow(t *testing.T, strikes int, strike func() error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for _, goal := range lanes {
		group.Go(func() error { return s.lane(ctx, goal) })
	}
	var struck error
	for range strikes {
		calm(ctx, 50*time.Millisecond, 900*time.Millisecond)
		if struck = errors.Join(ctx.Err(), strike()); struck != nil {
			break
		}
	}
	close(s.over)
	errs := []error{struck, group.Wait()}
	for _, run := range s.runs {
		errs = append(errs, s.verify(t.Context(), run, s.f))
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	t.Logf("%d strikes on %d runs; %d second outcomes, of no effect; %d snapshots", strikes, len(s.runs), s.f.repeated, s.f.snapshots)
}

// calm waits for a random time.
func calm(ctx context.Context, least, most time.Duration) {
	select {
	case <-time.After(least + rand.N(most-least)):
	case <-ctx.Done():
	}
}

// often is how many strikes the short and the long form have.
func often(short, long int) int {
	if soak() {
		return long
	}
	return short
}

func TestDeathAtRandomMoments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind    kind
		workers int
	}{{embedded, 1}, {distributed, 2}} {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Parallel()
			s := raise(t, tt.kind, tt.workers)
			s.blow(t, often(8, 100), func() error {
				i := rand.IntN(len(s.workers))
				s.workers[i].kill()
				s.workers = append(s.workers[:i], s.workers[i+1:]...)
				return s.join()
			})
		})
	}
}

// A worker that slept longer than its lease finds out before it acts again. On
// the embedded store nobody can take over meanwhile but the sleeper itself.
func TestSleepBeyondTheLease(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind    kind
		workers int
	}{{embedded, 1}, {distributed, 2}} {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Parallel()
			s := raise(t, tt.kind, tt.workers)
			s.blow(t, often(4, 40), func() error {
				c := s.workers[rand.IntN(len(s.workers))]
				c.signal(syscall.SIGSTOP)
				calm(t.Context(), 3*s.lease/2, 4*s.lease)
				c.signal(syscall.SIGCONT)
				select {
				case <-c.done:
					return errors.New("a worker died when it woke up")
				default:
					return nil
				}
			})
		})
	}
}

// With everysec Redis acknowledges what it has not even handed to the kernel
// while a sync to the disk is under way (for at most 2 s): a kill in such a
// moment loses it, whatever the store does. So the server dies there in the
// moments between two syncs, and with always in any.
func TestDeathOfTheServer(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"everysec", "always"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			s := raise(t, distributed, 2, "--appendfsync", policy)
			client := goredis.NewClient(&goredis.Options{Addr: s.server.Addr})
			defer func() { _ = client.Close() }()
			s.blow(t, often(3, 25), func() error {
				if policy == "everysec" {
					if err := written(t.Context(), client); err != nil {
						return err
					}
				}
				s.server.Kill()
				calm(t.Context(), 0, 3*s.lease)
				s.server.Restart()
				return nil
			})
		})
	}
}

// written returns when the server has nothing that the kernel has not.
func written(ctx context.Context, c *goredis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, stormPatience)
	defer cancel()
	for {
		info, err := c.Info(ctx, "persistence").Result()
		if err != nil {
			return err
		}
		if strings.Contains(info, "aof_pending_bio_fsync:0") && strings.Contains(info, "aof_buffer_length:0") {
			return nil
		}
	}
}
