package chat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// crashPatience is how long a run may take while children die around it. A
// child that lives for a second on average gets little done, and nothing where a
// failover goes on meanwhile: a run may wait until the strikes are over.
const crashPatience = 8 * time.Minute

// Crash plays runs (mention, approval by click, report) against Deckhand as a
// child process, which is killed at the boundaries of commits and posts, and at
// random moments while the platform is rude. The test's TestMain calls Child.
// DECKHAND_SOAK=1 makes it long: every boundary, and 100 random moments, shared by
// all stores, whose servers are struck, too.
func Crash(t *testing.T, a Adapter) {
	t.Helper()
	t.Run("boundary", func(t *testing.T) {
		t.Parallel()
		atBoundaries(t, a)
	})
	kinds := []crash.Kind{crash.SQLite}
	if crash.Soak() {
		kinds = crash.Kinds()
	}
	for _, k := range kinds {
		t.Run("moment "+string(k), func(t *testing.T) {
			t.Parallel()
			atMoments(t, a, k)
		})
	}
}

func chains() []crash.Chain {
	var all []crash.Chain
	for _, when := range []string{"before", "after"} {
		all = append(all, crash.Chain{What: "post", When: when, First: 1, Step: 1})
		if crash.Soak() {
			all = append(all, crash.Chain{What: "commit", When: when, First: 1, Step: 2}, crash.Chain{What: "commit", When: when, First: 2, Step: 2})
		} else {
			all = append(all, crash.Chain{What: "commit", When: when, First: 1 + rand.IntN(6), Step: 6})
		}
	}
	return all
}

func atBoundaries(t *testing.T, a Adapter) {
	t.Helper()
	f := &crash.Figures{}
	group, ctx := errgroup.WithContext(t.Context())
	for _, c := range chains() {
		s := build(t, a, crash.SQLite)
		group.Go(func() error {
			if err := s.firstRun(ctx); err != nil {
				return err
			}
			_, err := c.Work(ctx, s, leastBoundaries(c))
			return errors.Join(err, s.measure(f))
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	f.Report(t)
	f.Row(t, platformOf(t)+", at every boundary", crash.SQLite)
}

// platformOf is the platform that a suite is about: its package's last name.
func platformOf(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(dir)
}

// leastBoundaries is how many boundaries a chain must find at least.
func leastBoundaries(c crash.Chain) int {
	if c.What == "post" {
		return 3 // card, question, report
	}
	return 12 / c.Step
}

// effectsOfRun are the effects that a run's verification looks for: a line in a
// file, and a card, a question and a report on the platform.
const effectsOfRun = 4

// lanes is how many runs go on side by side.
const lanes = 4

// atMoments kills at random moments while runs go on side by side and the
// platform answers late and loses answers.
func atMoments(t *testing.T, a Adapter, k crash.Kind) {
	t.Helper()
	s, f := build(t, a, k), &crash.Figures{}
	strikes, runs := crash.Often(6, 25), crash.Often(8, 12)
	seed := rand.Uint64()
	t.Logf("the platform's seed is %d", seed)
	if err := s.firstRun(t.Context()); err != nil {
		t.Fatal(err)
	}
	worker, err := s.Spawn(crash.Boundary{}, 1)
	if err == nil {
		err = worker.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Unruly(seed)
	group, ctx := errgroup.WithContext(t.Context())
	l := lane{runs: runs, over: make(chan struct{})}
	for range lanes {
		group.Go(func() error { return l.work(ctx, s) })
	}
	struck := s.strike(ctx, worker, strikes, f)
	close(l.over)
	errs := []error{struck, group.Wait()}
	for _, st := range l.all {
		errs = append(errs, s.verify(t.Context(), st))
		f.Add(crash.Tally{Runs: 1, Effects: effectsOfRun})
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	f.Row(t, platformOf(t)+", at random", k)
	t.Logf("%d kills at random moments, %d runs: each card, question, report and decision once", strikes, len(l.all))
}

// lane is where runs go on one after the other, side by side with other lanes.
type lane struct {
	runs int           // that there must be in all
	over chan struct{} // closed when nobody dies any more

	mu  sync.Mutex
	all []played
}

// work plays runs until nobody dies any more and there were enough.
func (l *lane) work(ctx context.Context, s *stage) error {
	for {
		st, err := s.bounded(ctx)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.all = append(l.all, st)
		enough := len(l.all) >= l.runs
		l.mu.Unlock()
		select {
		case <-l.over:
			if enough {
				return nil
			}
		default:
		}
	}
}

// strike kills the child at a random moment of its life, so often, and lets
// another one take over.
func (s *stage) strike(ctx context.Context, worker *crash.Child, times int, f *crash.Figures) error {
	for n := range times {
		reserve, err := s.Spawn(crash.Boundary{}, 1)
		if err != nil {
			return err
		}
		crash.Pause(ctx, 200*time.Millisecond, 2500*time.Millisecond)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		worker.Kill()
		f.Add(crash.Tally{Kills: 1})
		if n%serverEvery == serverEvery-1 && s.Replicas > 0 {
			if s.Strike(ctx, lease).Killed {
				f.Add(crash.Tally{Kills: 1})
			} else {
				f.Add(crash.Tally{Strikes: 1})
			}
		}
		worker = reserve
		if err := worker.Open(); err != nil {
			return err
		}
	}
	return nil
}

// serverEvery is how many children die until a server is struck, too, where there
// are replicas.
const serverEvery = 5

// measure reads the deaths of a stage, and how soon a report came after each.
func (s *stage) measure(f *crash.Figures) error {
	entries, err := crash.ReadRecord(s.orders(crash.Boundary{}).record())
	if err != nil && !errors.Is(err, os.ErrNotExist) { // nobody committed anything
		return err
	}
	n := int(s.count.Load())
	f.Add(crash.Tally{Runs: n, Effects: n * effectsOfRun})
	posts := s.Posts()
	for _, e := range entries {
		if e.Died == nil {
			continue
		}
		f.Died(*e.Died)
		for _, p := range posts {
			if p.Kind == agent.PostReport && p.At.After(e.Died.At) {
				f.Took("the next report", *e.Died, p.At.Sub(e.Died.At))
				break
			}
		}
	}
	return nil
}

// CrashHearing says something to a run whose process is killed when the words are in
// the journal and nothing is known of their meaning: before the model was asked,
// and when its answer is not written down yet. The next process understands them
// once and answers once.
func CrashHearing(t *testing.T, a Adapter) {
	t.Helper()
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := build(t, a, crash.SQLite)
			ctx, end := context.WithTimeout(t.Context(), crashPatience)
			defer end()
			run, err := s.hearing(ctx, crash.Boundary{What: "hear", When: when, N: 1})
			if err == nil {
				err = s.heardOnce(ctx, run)
			}
			if err != nil {
				t.Errorf("%v\n%s", err, s.told(ctx, run))
			}
		})
	}
}

// hearing is a run to which a question is put; whoever works it dies at the boundary,
// and the next process ends the run.
func (s *stage) hearing(ctx context.Context, at crash.Boundary) (run agent.RunID, err error) {
	mortal, err := s.Spawn(at, 1)
	if err == nil {
		err = errors.Join(mortal.Open(), s.Greet(ctx, 1))
	}
	if err != nil {
		return "", err
	}
	goal := fmt.Sprintf("Look after berth no. %d", s.count.Add(1))
	s.Mention(Ann, s.Channel(), goal)
	ask, err := s.post(ctx, agent.PostCheckpoint, goal)
	if err != nil {
		return "", err
	}
	if run, err = s.runOf(ctx, goal); err != nil {
		return "", err
	}
	s.Mention(Ann, ask.Thread, uncommon+"?")
	select {
	case <-mortal.Done:
	case <-ctx.Done():
		return run, fmt.Errorf("nobody was killed: %w", ctx.Err())
	}
	if r, err := s.load(ctx, run); err != nil || len(r.Unread) != 1 || len(r.Told) > 0 {
		return run, fmt.Errorf("after the death %d words wait to be understood, %d are (%w)", len(r.Unread), len(r.Told), err)
	}
	return run, s.heardAfter(ctx, run, ask)
}

// heardAfter lets the next process understand what was said, and end the run.
func (s *stage) heardAfter(ctx context.Context, run agent.RunID, ask Post) error {
	next, err := s.Spawn(crash.Boundary{}, 1)
	if err == nil {
		err = errors.Join(next.Open(), s.Greet(ctx, 1))
	}
	if err == nil {
		_, err = s.follow(ctx, run, func(r agent.Run) bool {
			return len(r.Told) > 0 && r.Shown[agent.KeyHeard(r.Told[0].Said)].Message != ""
		})
	}
	if err == nil {
		err = s.approve(ctx, ask)
	}
	if err == nil {
		_, err = s.follow(ctx, run, func(r agent.Run) bool { return r.Ended != nil && r.Shown[agent.KeyReport].Message != "" })
	}
	return err
}

// heardOnce wants the words to be there once, understood once and answered once.
func (s *stage) heardOnce(ctx context.Context, run agent.RunID) error {
	events, err := s.read(ctx, run)
	if err != nil {
		return err
	}
	count := map[agent.Kind]int{}
	for _, e := range events {
		count[e.Body.Kind()]++
	}
	r := agent.Run{}.Fold(events)
	var errs []error
	for _, kind := range []agent.Kind{agent.PersonSaid{}.Kind(), agent.Understood{}.Kind()} {
		if count[kind] != 1 {
			errs = append(errs, fmt.Errorf("%s is there %d times", kind, count[kind]))
		}
	}
	answers := 0
	for _, p := range s.Posts() {
		if p.Kind == agent.PostAnswer {
			answers++
		}
	}
	if answers != 1 || len(r.Said) > 0 || r.Ended.State != agent.RunDone {
		errs = append(errs, fmt.Errorf("%d answers, %d notes, ended %+v", answers, len(r.Said), r.Ended))
	}
	return errors.Join(append(errs, s.postedOnce(r))...)
}
