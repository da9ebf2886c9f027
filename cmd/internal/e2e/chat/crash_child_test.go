package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// TestMain makes a child of this binary a Deckhand whose platform refuses it.
func TestMain(m *testing.M) {
	Child(Adapter{Open: func(context.Context, string, Wiring) (bot.Platform, error) { return nil, bot.ErrRefused }})
	goleak.VerifyTestMain(m)
}

// TestConnect lets a child wait as long as the platform asks for: one that
// knocked twenty times at once and left was a run that nobody worked on.
func TestConnect(t *testing.T) {
	t.Parallel()
	busy := fmt.Errorf("who am I: %w", &bot.BusyError{After: 3 * time.Second})
	lost := fmt.Errorf("who am I: %w", bot.ErrLost)
	for name, tt := range map[string]struct {
		says  []error
		calls int
		took  time.Duration
		want  error
	}{
		"at once":        {calls: 1},
		"busy":           {says: []error{busy, busy}, calls: 3, took: 6 * time.Second},
		"lost":           {says: []error{lost, lost, lost}, calls: 4, took: 350 * time.Millisecond},
		"refused":        {says: []error{busy, bot.ErrRefused}, calls: 2, took: 3 * time.Second, want: bot.ErrRefused},
		"busy for ever":  {says: always(busy), calls: 11, took: 30 * time.Second, want: busy},
		"never answered": {says: always(lost), calls: 34, took: 29550 * time.Millisecond, want: lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls, began := 0, time.Now()
				a := Adapter{Open: func(context.Context, string, Wiring) (bot.Platform, error) {
					calls++
					if calls > len(tt.says) {
						return nil, nil //nolint:nilnil // nobody uses it
					}
					return nil, tt.says[calls-1]
				}}
				_, err := connect(t.Context(), a, orders{}, Wiring{Log: slog.New(slog.DiscardHandler)})
				if !errors.Is(err, tt.want) {
					t.Errorf("connect: %v, want %v", err, tt.want)
				}
				if took := time.Since(began); calls != tt.calls || took != tt.took {
					t.Errorf("%d attempts in %s, want %d in %s", calls, took, tt.calls, tt.took)
				}
			})
		})
	}
}

// always is more of one error than anybody waits for.
func always(err error) []error {
	list := make([]error, 100)
	for i := range list {
		list[i] = err
	}
	return list
}

// TestFallen tells a child that ends by itself from one that is killed.
func TestFallen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ end func(*crash.Child) error }{
		"refused": {(*crash.Child).Open},
		"killed":  {func(c *crash.Child) error { c.Kill(); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fell error
			c, err := crash.Start(orders{Dir: t.TempDir()}, io.Discard, func(err error) { fell = err })
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.end(c); err != nil {
				t.Fatal(err)
			}
			<-c.Done
			c.Kill()
			if (fell != nil) != (name == "refused") {
				t.Errorf("it is said to have ended by itself: %v", fell)
			}
		})
	}
}
