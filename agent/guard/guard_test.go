package guard_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deckhand-bot/deckhand/agent/guard"
)

func TestAPanicIsAnErrorWithItsStackInTheLog(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	before := guard.Caught()
	err := guard.Do(log, "a message", func() error { panic("poison") }, "where", "here")
	if !guard.Is(err) || err.Error() != "an internal error: poison" || guard.Caught() <= before {
		t.Errorf("%v, %d caught", err, guard.Caught()-before)
	}
	for _, part := range []string{"poison", "guard_test.go", `unit="a message"`, "where=here"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the log misses %q: %s", part, out.String())
		}
	}
	if err := guard.Do(log, "a message", func() error { return io.EOF }); !errors.Is(err, io.EOF) || guard.Is(err) {
		t.Errorf("an error of its own became %v", err)
	}
}

func TestAPartGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, times := slog.New(slog.DiscardHandler), 0
		err := guard.Keep(t.Context(), log, "a part", func(context.Context) error {
			if times++; times < 3 {
				panic(times)
			}
			return io.EOF
		})
		if times != 3 || !errors.Is(err, io.EOF) {
			t.Errorf("ran %d times, %v", times, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = guard.Keep(ctx, log, "a part", func(context.Context) error { cancel(); panic("last") })
		if !guard.Is(err) {
			t.Errorf("at the end: %v", err)
		}
	})
}
