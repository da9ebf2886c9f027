package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent/wait"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		start := time.Now()
		for _, c := range []struct {
			d, passed time.Duration
			full      bool
		}{
			{time.Minute, time.Minute, true},
			{0, time.Minute, true},
			{-time.Hour, time.Minute, true},
			{time.Minute, 90 * time.Second, false},
			{0, 90 * time.Second, false},
		} {
			if full := wait.Sleep(ctx, c.d); full != c.full || time.Since(start) != c.passed {
				t.Errorf("Sleep(%s) = %t after %s, want %t after %s", c.d, full, time.Since(start), c.full, c.passed)
			}
		}
	})
}

func TestBackoffGrows(t *testing.T) {
	b := wait.Backoff{First: time.Second, Longest: 10 * time.Second}
	for range 2 {
		for _, want := range []time.Duration{1e9, 2e9, 4e9, 8e9, 10e9, 10e9} {
			if got := b.Next(); got < want-want/4 || got > want+want/4 {
				t.Errorf("a pause of %s, want %s give or take a quarter", got, want)
			}
		}
		b.Reset()
	}
}

func TestBackoffSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		b := wait.Backoff{First: time.Second, Longest: time.Hour}
		attempts := 0
		for b.Sleep(ctx) {
			attempts++
		}
		if attempts < 4 || attempts > 6 || time.Since(start) != time.Minute {
			t.Errorf("%d attempts in %s", attempts, time.Since(start))
		}
	})
}

func TestOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		late, release := wait.Outlive(ctx, time.Minute)
		defer release()
		early, done := wait.Outlive(ctx, time.Minute)
		done()
		if early.Err() == nil {
			t.Error("a released context goes on")
		}
		start := time.Now()
		cancel()
		if <-late.Done(); time.Since(start) != time.Minute {
			t.Errorf("it went on for %s after the end, want a minute", time.Since(start))
		}
	})
}
