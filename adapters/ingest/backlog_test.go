package ingest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errReading = errors.New("the platform is out of order")

// reader works on a backlog until the test ends, and counts.
func reader(t *testing.T, b *Backlog, resent bool, fails ...error) (reads, saves *atomic.Int32) {
	t.Helper()
	reads, saves = &atomic.Int32{}, &atomic.Int32{}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		b.Run(ctx, ctx, CatchUp{
			Read: func(context.Context, context.Context) error {
				reads.Add(1)
				if len(fails) == 0 {
					return nil
				}
				err := fails[0]
				fails = fails[1:]
				return err
			},
			Saved:   func() { saves.Add(1) },
			Backoff: NewBackoff(time.Second, time.Minute, func(error) time.Duration { return 0 }),
			Failed:  10 * time.Second, Resent: resent, Log: slog.New(slog.DiscardHandler),
		})
	}()
	t.Cleanup(func() { cancel(); <-over })
	return reads, saves
}

func TestWhatIsOwedIsReadUntilThatGoesWell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := NewWatermarks(NoNames{}, seenHere, hashed)
		b := NewBacklog(w)
		reads, saves := reader(t, b, false, errReading, errReading)
		b.NoteGap()
		b.NoteGap() // at once with the first
		<-time.After(time.Minute)
		synctest.Wait()
		if n := reads.Load(); n < 3 || n > 4 || saves.Load() < 1 || !w.AllHeard() {
			t.Errorf("read %d times, saved %d times, sound is %v", n, saves.Load(), w.AllHeard())
		}
	})
}

func TestAFailureIsReadBackUnlessItCameAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resent, again bool
		reads         int32
	}{
		"sent again in time":        {true, true, 0},
		"not sent again":            {true, false, 1},
		"never sent again":          {false, false, 1},
		"read although it is sound": {false, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := NewWatermarks(NoNames{}, seenHere, hashed)
				w.SetCaughtUp(true)
				b := NewBacklog(w)
				reads, _ := reader(t, b, c.resent)
				w.Begin("a", 10)
				w.End("a", 10, false)
				b.NoteFailure()
				if c.again {
					heardAt(w, "a", 10)
				}
				<-time.After(9 * time.Second)
				synctest.Wait()
				if n := reads.Load(); n != 0 {
					t.Errorf("read %d times: the platform had no time", n)
				}
				<-time.After(2 * time.Second)
				synctest.Wait()
				if n := reads.Load(); n != c.reads {
					t.Errorf("read %d times, want %d", n, c.reads)
				}
			})
		})
	}
}

func TestEventsWaitAtTheGate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(b *Backlog)
		waits  time.Duration
	}{
		"at the start":    {func(*Backlog) {}, gateFor},
		"open":            {func(b *Backlog) { b.Release(); b.Release() }, 0},
		"shut again":      {func(b *Backlog) { b.Release(); b.Hold(); b.Hold() }, gateFor},
		"opened meantime": {func(b *Backlog) { time.AfterFunc(gateFor/2, b.Release) }, gateFor / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := NewBacklog(NewWatermarks(NoNames{}, seenHere, hashed))
				c.before(b)
				began := time.Now()
				b.Wait(t.Context())
				if got := time.Since(began); got != c.waits {
					t.Errorf("waited %s, want %s", got, c.waits)
				}
			})
		})
	}
}

func TestPausesGrow(t *testing.T) {
	t.Parallel()
	p := NewBackoff(time.Second, 4*time.Second, func(err error) time.Duration {
		if err != nil {
			return time.Minute
		}
		return 0
	})
	for n, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
		if got := p.After(nil); got < want*3/4 || got > want*5/4 {
			t.Errorf("pause %d is %s, want about %s", n, got, want)
		}
	}
	if got := p.After(errReading); got != time.Minute {
		t.Errorf("waits %s, and was asked for a minute", got)
	}
	p.Reset()
	if got := p.After(nil); got > 2*time.Second {
		t.Errorf("begins again with %s", got)
	}
}

func TestTheSameIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log, q := slog.New(slog.NewTextHandler(&out, nil)), &LogLimiter{}
		for range 3 {
			q.Warn(log, "knock")
		}
		q.Warn(log, "ring")
		<-time.After(time.Minute)
		q.Warn(log, "knock")
		got := out.String()
		if strings.Count(got, "knock") != 2 || strings.Count(got, "ring") != 1 || !strings.Contains(got, "knock not_logged=2") {
			t.Errorf("logged %s", got)
		}
	})
}
