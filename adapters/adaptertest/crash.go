package adaptertest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
)

// soak says whether the long form of the tests is wanted.
func soak() bool { return os.Getenv("DECKHAND_SOAK") != "" }

// crashPatience is how long a run may take while children die around it. A
// child that lives for a second on average gets little done.
const crashPatience = 3 * time.Minute

// Crash plays runs (mention, approval by click, report) against Deckhand as a
// child process, which is killed at the boundaries of commits and posts, and at
// random moments while the far side is rude. Test is the name of a test of the
// same binary that calls Child. DECKHAND_SOAK=1 makes it long: every boundary,
// and 100 random moments.
func Crash(t *testing.T, a Adapter, test string) {
	t.Helper()
	t.Run("boundary", func(t *testing.T) {
		t.Parallel()
		atBoundaries(t, a, test)
	})
	t.Run("moment", func(t *testing.T) {
		t.Parallel()
		atMoments(t, a, test)
	})
}

// chain kills one child after the other, each at the next boundary of a kind:
// First, First + Step, … until a run has none left. Each child finishes what
// the one before it left, and dies in the next run.
type chain struct {
	what, when  string
	first, step int
}

func chains() []chain {
	var all []chain
	for _, when := range []string{"before", "after"} {
		if soak() {
			all = append(all, chain{"commit", when, 1, 2}, chain{"commit", when, 2, 2}, chain{"post", when, 1, 1})
		} else {
			all = append(all, chain{"commit", when, 1 + rand.IntN(6), 6}, chain{"post", when, 1, 1})
		}
	}
	return all
}

func (c chain) at(n int) boundary { return boundary{What: c.what, When: c.when, N: n} }

func atBoundaries(t *testing.T, a Adapter, test string) {
	t.Helper()
	f := &figures{}
	group, ctx := errgroup.WithContext(t.Context())
	for _, c := range chains() {
		s := build(t, a, test)
		group.Go(func() error {
			reached, err := c.work(ctx, s, f)
			if least := c.least(); err == nil && reached < least {
				err = fmt.Errorf("only %d boundaries %s %s, at least %d were expected", reached, c.when, c.what, least)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	f.report(t)
}

// least is how many boundaries a chain must find at least.
func (c chain) least() int {
	if c.what == "post" {
		return 3 // card, question, report
	}
	return 12 / c.step
}

// work goes through the chain and returns how many boundaries there were.
func (c chain) work(ctx context.Context, s *scene, f *figures) (reached int, err error) {
	if err := s.before(ctx); err != nil {
		return 0, fmt.Errorf("before anybody dies: %w", err)
	}
	worker, err := s.spawn(c.at(c.first), 1)
	if err == nil {
		err = worker.open()
	}
	for n := c.first; err == nil; n += c.step {
		var reserve *child
		if reserve, err = s.spawn(c.at(n+c.step), 2); err != nil {
			break
		}
		var st story
		var died bool
		st, died, err = s.survive(ctx, worker, reserve)
		if err == nil {
			err = s.verify(ctx, st)
		}
		if err != nil {
			return reached, fmt.Errorf("death %s: %w", c.at(n), err)
		}
		worker.kill()
		if !died {
			reserve.kill()
			return reached, f.add(s)
		}
		reached++
		worker = reserve
	}
	return reached, err
}

// before is a day without a death: the channel is known, so that what is said
// while nobody works is found afterwards.
func (s *scene) before(ctx context.Context) error {
	worker, err := s.spawn(boundary{}, 1)
	if err != nil {
		return err
	}
	defer worker.kill()
	if err := errors.Join(worker.open(), s.Greet(ctx, 1)); err != nil {
		return err
	}
	st, err := s.bounded(ctx)
	if err != nil {
		return err
	}
	return s.verify(ctx, st)
}

// survive plays one run, and sends the reserve in when the child dies.
func (s *scene) survive(ctx context.Context, worker, reserve *child) (st story, died bool, err error) {
	played := make(chan error, 1)
	go func() {
		var err error
		st, err = s.bounded(ctx)
		played <- err
	}()
	select {
	case <-worker.done:
		err = reserve.open()
		return st, true, errors.Join(err, <-played)
	case err = <-played:
	}
	if err != nil {
		return st, false, err
	}
	select { // it may be about to die after the last commit
	case <-worker.done:
		return st, true, reserve.open()
	case <-time.After(time.Second):
		return st, false, nil
	}
}

// often is how many strikes and runs the short and the long form have.
func often() (strikes, runs int) {
	if soak() {
		return 100, 40
	}
	return 6, 8
}

const lanes = 4

// atMoments kills at random moments while runs go on side by side and the far
// side answers late and loses answers.
func atMoments(t *testing.T, a Adapter, test string) {
	t.Helper()
	s := build(t, a, test)
	strikes, runs := often()
	seed := rand.Uint64()
	t.Logf("the far side's seed is %d", seed)
	if err := s.before(t.Context()); err != nil {
		t.Fatalf("before anybody dies: %v", err)
	}
	worker, err := s.spawn(boundary{}, 1)
	if err == nil {
		err = worker.open()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Unruly(seed)
	group, ctx := errgroup.WithContext(t.Context())
	var mu sync.Mutex
	var played []story
	over := make(chan struct{})
	for range lanes {
		group.Go(func() error {
			for {
				st, err := s.bounded(ctx)
				if err != nil {
					return err
				}
				mu.Lock()
				played = append(played, st)
				enough := len(played) >= runs
				mu.Unlock()
				select {
				case <-over:
					if enough {
						return nil
					}
				default:
				}
			}
		})
	}
	struck := s.strike(ctx, worker, strikes)
	close(over)
	errs := []error{struck, group.Wait()}
	for _, st := range played {
		errs = append(errs, s.verify(t.Context(), st))
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills at random moments, %d runs: each card, question, report and decision once", strikes, len(played))
}

// strike kills the child at a random moment of its life, so often, and lets
// another one take over.
func (s *scene) strike(ctx context.Context, worker *child, times int) error {
	for range times {
		reserve, err := s.spawn(boundary{}, 1)
		if err != nil {
			return err
		}
		select {
		case <-time.After(200*time.Millisecond + rand.N(2300*time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
		worker.kill()
		worker = reserve
		if err := worker.open(); err != nil {
			return err
		}
	}
	return nil
}

// figures are what was measured.
type figures struct {
	mu     sync.Mutex
	deaths map[string]int
	took   []takeover
	runs   int
}

// takeover is how long after a death the run's report was there.
type takeover struct {
	from death
	took time.Duration
}

// add reads the deaths of a scene and how long each run took after that.
func (f *figures) add(s *scene) error {
	data, err := os.ReadFile(s.orders(boundary{}).deaths())
	if err != nil && !errors.Is(err, os.ErrNotExist) { // nobody died
		return err
	}
	posts := s.Posts()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deaths == nil {
		f.deaths = map[string]int{}
	}
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		var d death
		if err := json.Unmarshal(in.Bytes(), &d); err != nil {
			return fmt.Errorf("the record of deaths: %w", err)
		}
		f.deaths[d.Boundary.When+" "+d.Boundary.What]++
		for _, p := range posts {
			if p.Kind == agent.PostReport && p.At.After(d.At) {
				f.took = append(f.took, takeover{d, p.At.Sub(d.At)})
				break
			}
		}
	}
	f.runs += int(s.berth.Load())
	return nil
}

func (f *figures) report(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.took) == 0 {
		t.Error("no death was followed by a report")
		return
	}
	slices.SortFunc(f.took, func(a, b takeover) int { return cmp.Compare(a.took, b.took) })
	last := f.took[len(f.took)-1]
	t.Logf("%d runs, deaths %v; from death to report: p50 %v, max %v (%s, %s)", f.runs, f.deaths,
		f.took[len(f.took)/2].took.Round(time.Millisecond), last.took.Round(time.Millisecond), last.from.Boundary, last.from.About)
}
