package audit

// Journals are sealed into the chain as they grow.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

const (
	// soon is how long a decision waits to be sealed, later everything else.
	soon  = time.Second
	later = 30 * time.Second
	// sweepEvery is how often it is looked for what others left unsealed.
	sweepEvery = 5 * time.Minute
	// sweepBack is how long ago runs may have ended that are looked at first.
	sweepBack = 24 * time.Hour
	// atOnce is how many runs are sealed in one append, stretch how many entries
	// of a journal one seal covers at most.
	atOnce  = 64
	stretch = 500
	// lastWords bounds the sealing at the end of a process.
	lastWords = time.Second
)

// Sealer seals what its process commits, and what others left. It is safe for
// many goroutines.
type Sealer struct {
	store Store
	log   *slog.Logger

	mu    sync.Mutex
	due   map[agent.RunID]time.Time // when a run has to be sealed
	wake  chan struct{}
	swept time.Time // the store's clock at the last sweep
}

// NewSealer makes a Sealer for the store.
func NewSealer(s Store, log *slog.Logger) *Sealer {
	return &Sealer{store: s, log: log, due: map[agent.RunID]time.Time{}, wake: make(chan struct{}, 1)}
}

// Wrote hears of a commit that was written. It costs a commit well under a
// microsecond.
func (s *Sealer) Wrote(c agent.Commit) {
	if len(c.Events) == 0 {
		return
	}
	wait := later
	for _, e := range c.Events {
		if Decides(e.Body.Kind()) {
			wait = soon
		}
	}
	at := time.Now().Add(wait)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, waits := s.due[c.Run]; waits && !at.Before(old) {
		return
	}
	s.due[c.Run] = at
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run seals until ctx ends, and then what is left.
func (s *Sealer) Run(ctx context.Context) {
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for ctx.Err() == nil {
		next := time.NewTimer(s.next())
		select {
		case <-ctx.Done():
		case <-s.wake:
			next.Stop()
			continue
		case <-sweep.C:
			s.try(ctx, "look for unsealed journals", s.Sweep)
			sweep.Reset(sweepEvery)
		case <-next.C:
			s.try(ctx, "seal journals", func(ctx context.Context) error { return s.Seal(ctx, time.Now()) })
		}
		next.Stop()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	s.try(ctx, "seal journals at the end", func(ctx context.Context) error {
		if s.swept.IsZero() { // it was over before it began
			return s.Sweep(ctx)
		}
		return s.Seal(ctx, time.Now().Add(later))
	})
}

func (s *Sealer) try(ctx context.Context, doing string, do func(ctx context.Context) error) {
	if err := do(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("a part of the audit failed; trying again", "part", doing, "err", err)
	}
}

// next is how long there is nothing to seal.
func (s *Sealer) next() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := time.Now().Add(time.Hour)
	for _, at := range s.due {
		if at.Before(first) {
			first = at
		}
	}
	return time.Until(first)
}

// Seal seals the runs that are due by the time. What could not be sealed is
// tried again.
func (s *Sealer) Seal(ctx context.Context, by time.Time) error {
	for {
		runs := s.take(by)
		if len(runs) == 0 {
			return nil
		}
		if err := s.sealRuns(ctx, runs); err != nil {
			s.again(runs)
			return err
		}
	}
}

// take takes runs that are due.
func (s *Sealer) take(by time.Time) (runs []agent.RunID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run, at := range s.due {
		if !at.After(by) && len(runs) < atOnce {
			runs = append(runs, run)
			delete(s.due, run)
		}
	}
	slices.Sort(runs)
	return runs
}

func (s *Sealer) again(runs []agent.RunID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range runs {
		s.due[run] = time.Now().Add(soon)
	}
}

// Sweep seals what is in journals and not in the chain: of runs that live, or
// ended since the last sweep, on the first one within a day.
func (s *Sealer) Sweep(ctx context.Context) error {
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	since := s.swept.Add(-2 * sweepEvery)
	if s.swept.IsZero() {
		since = now.Add(-sweepBack)
	}
	marks, err := s.store.Values(ctx, markPrefix)
	if err != nil {
		return err
	}
	runs, err := s.store.Runs(ctx, agent.RunFilter{EndedAfter: since})
	if err != nil {
		return err
	}
	s.mu.Lock()
	for _, r := range runs {
		if m := parseMark(marks[markPrefix+string(r.Run)]); m.seq < r.Length {
			if _, waits := s.due[r.Run]; !waits {
				s.due[r.Run] = time.Now()
			}
		}
	}
	s.mu.Unlock()
	s.swept = now
	return s.Seal(ctx, time.Now())
}

// mark is to where a run is sealed, and by which entry of the chain.
type mark struct{ seq, n uint64 }

func (m mark) text(run agent.RunID) string { return fmt.Sprintf("%s/%d/%d", run, m.seq, m.n) }

func parseMark(text string) (m mark) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return mark{}
	}
	seq, seqErr := strconv.ParseUint(parts[1], 10, 64)
	n, nErr := strconv.ParseUint(parts[2], 10, 64)
	if seqErr != nil || nErr != nil {
		return mark{}
	}
	return mark{seq, n}
}

// sealRuns seals what each run's journal has behind its mark.
func (s *Sealer) sealRuns(ctx context.Context, runs []agent.RunID) error {
	var seals []Entry
	last, err := appendTo(ctx, s.store, func(ctx context.Context, at head) (_ []Entry, err error) {
		seals = nil
		for _, run := range runs {
			list, err := s.sealsOf(ctx, run, at)
			if err != nil {
				return nil, err
			}
			seals = append(seals, list...)
		}
		return seals, nil
	})
	if err != nil || len(seals) == 0 {
		return err
	}
	names := map[string]string{headName: last.String()}
	for i, e := range seals { // the last seal of a run stays
		names[markPrefix+string(e.Run)] = mark{e.To, last.n - uint64(len(seals)-1-i)}.text(e.Run)
	}
	return keep(ctx, s.store, names)
}

// sealsOf are the seals that a run lacks. A mark beyond the chain's end is of a
// chain that was longer: all of the run is sealed again.
func (s *Sealer) sealsOf(ctx context.Context, run agent.RunID, at head) (seals []Entry, err error) {
	text, err := s.store.Value(ctx, markPrefix+string(run))
	if err != nil {
		return nil, err
	}
	m := parseMark(text)
	if m.n > at.n {
		m = mark{}
	}
	for after := m.seq; ; {
		kept, err := s.store.ReadKept(ctx, run, after, stretch)
		if errors.Is(err, agent.ErrNoRun) {
			return nil, nil // it was removed
		}
		if err != nil || len(kept) == 0 {
			return seals, err
		}
		seals = append(seals, seal(run, kept))
		if len(kept) < stretch {
			return seals, nil
		}
		after = kept[len(kept)-1].Seq
	}
}
