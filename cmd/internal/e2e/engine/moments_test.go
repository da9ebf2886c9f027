package engine

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
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// moments keeps runs going, one after the other on a few lanes, while workers
// and the store are struck at random moments.
type moments struct {
	*env
	workers []*crash.Child
	over    chan struct{} // closed when no more runs are started
	f       *figures

	mu   sync.Mutex
	runs []agent.RunID
}

// lanes are the goals of the runs that go on at the same time.
var lanes = []string{shortGoal, shortGoal, longGoal}

const (
	strandsAtOnce = 4
	runPatience   = 90 * time.Second // of one run
)

// unruly is a receiver that answers late, loses answers, or does not hear, when
// it is asked for the first time; a second attempt finds it in order.
func unruly(p parcel, nth int) treatment {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.key())) // a hash's Write never fails
	if nth > 1 {
		return treatment{}
	}
	switch h.Sum32() % 8 {
	case 0:
		return treatment{late: patience + 100*time.Millisecond}
	case 1:
		return treatment{hold: 2 * patience}
	case 2:
		return treatment{lose: true}
	case 3:
		return treatment{deaf: true}
	case 4:
		return treatment{late: patience / 2, lose: true}
	}
	return treatment{late: 10 * time.Millisecond}
}

// startMoments starts the workers.
func startMoments(t *testing.T, k crash.Kind, workers int, server ...string) *moments {
	t.Helper()
	s := &moments{env: build(t, k, openOutside(t, unruly), 600*time.Millisecond, 1500*time.Millisecond, server...),
		over: make(chan struct{}), f: &figures{}}
	for range workers {
		if err := s.join(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// join adds a worker.
func (s *moments) join() error {
	c, err := s.spawn("", crash.Boundary{}, strandsAtOnce)
	if err != nil {
		return err
	}
	s.workers = append(s.workers, c)
	return c.Open()
}

// lane starts runs, one after the other, until it is over.
func (s *moments) lane(ctx context.Context, goal string) error {
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

func (s *moments) whole(ctx context.Context, run agent.RunID, goal string) error {
	ctx, cancel := context.WithTimeout(ctx, runPatience)
	defer cancel()
	if err := s.start(ctx, run, goal); err != nil {
		return err
	}
	return s.follow(ctx, run)
}

// strikeAtRandom strikes so often, lets every run end, and looks at all of them.
func (s *moments) strikeAtRandom(t *testing.T, strikes int, strike func() error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for _, goal := range lanes {
		group.Go(func() error { return s.lane(ctx, goal) })
	}
	var struck error
	for range strikes {
		crash.Pause(ctx, 50*time.Millisecond, 900*time.Millisecond)
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
	t.Logf("%d strikes on %d runs; %d second outcomes, of no effect; %d snapshots", strikes, len(s.runs), s.f.Seconds, s.f.snapshots)
}

// crew is how many workers a store has: one works on the embedded store.
func crew(k crash.Kind) int {
	if k == crash.SQLite {
		return 1
	}
	return 2
}

func TestDeathAtRandomMoments(t *testing.T) {
	t.Parallel()
	for _, k := range crash.Kinds() {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := startMoments(t, k, crew(k))
			s.strikeAtRandom(t, crash.Often(8, 100), func() error {
				i := rand.IntN(len(s.workers))
				s.workers[i].Kill()
				s.f.Add(crash.Tally{Kills: 1})
				s.workers = append(s.workers[:i], s.workers[i+1:]...)
				return s.join()
			})
			s.f.Row(t, "engine, workers at random", k)
		})
	}
}

// A worker that slept longer than its lease finds out before it acts again. On
// the embedded store nobody can take over meanwhile but the sleeper itself.
func TestSleepBeyondTheLease(t *testing.T) {
	t.Parallel()
	for _, k := range crash.Kinds() {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := startMoments(t, k, crew(k))
			s.strikeAtRandom(t, crash.Often(4, 40), func() error {
				c := s.workers[rand.IntN(len(s.workers))]
				c.Signal(syscall.SIGSTOP)
				crash.Pause(t.Context(), 3*s.Lease/2, 4*s.Lease)
				c.Signal(syscall.SIGCONT)
				s.f.Add(crash.Tally{Strikes: 1})
				select {
				case <-c.Done:
					return errors.New("a worker died when it woke up")
				default:
					return nil
				}
			})
			s.f.Row(t, "engine, workers frozen", k)
		})
	}
}

// With everysec Redis acknowledges what it has not even handed to the kernel
// while a sync to the disk is under way (for at most 2 s): a kill in such a
// moment loses it, whatever the store does. So the server dies there in the
// moments between two syncs, and with always in any. Where a replica has what is
// acknowledged, a master dies in any moment with either.
func TestDeathOfTheServer(t *testing.T) {
	t.Parallel()
	type servers struct {
		kind   crash.Kind
		policy string
	}
	all := []servers{{crash.Redis, "everysec"}, {crash.Redis, "always"}}
	if crash.Soak() {
		all = append(all, servers{crash.Sentinel, "everysec"}, servers{crash.Cluster, "everysec"})
	}
	for _, tt := range all {
		t.Run(string(tt.kind)+" "+tt.policy, func(t *testing.T) {
			t.Parallel()
			s := startMoments(t, tt.kind, 2, "--appendfsync", tt.policy)
			struck := map[string]int{}
			s.strikeAtRandom(t, crash.Often(3, 20), func() error {
				if s.Server() != nil && tt.policy == "everysec" {
					if err := written(t.Context(), s.Server()); err != nil {
						return err
					}
				}
				strike := s.Strike(t.Context(), 3*s.Lease)
				struck[strike.What]++
				if strike.Killed {
					s.f.Add(crash.Tally{Kills: 1})
				} else {
					s.f.Add(crash.Tally{Strikes: 1})
				}
				return nil
			})
			t.Logf("%v", struck)
			s.f.Row(t, "engine, servers, "+tt.policy, tt.kind)
		})
	}
}

// written returns when the server has nothing that the kernel has not, and lets it
// write nothing more: under everysec a server whose disk is slow acknowledges what
// only its own memory has, for up to two seconds.
func written(ctx context.Context, server *redistest.Server) error {
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr})
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, runPatience)
	defer cancel()
	if err := client.Do(ctx, "client", "pause", runPatience.Milliseconds(), "write").Err(); err != nil {
		return err
	}
	for {
		info, err := client.Info(ctx, "persistence").Result()
		if err != nil {
			return err
		}
		if strings.Contains(info, "aof_pending_bio_fsync:0") && strings.Contains(info, "aof_buffer_length:0") {
			return nil
		}
	}
}
