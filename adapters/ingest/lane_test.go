package ingest

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent/guard"
)

// hearing fails until it is told that it is in vain, and counts.
type hearing struct {
	err        error
	tried      int
	answered   error // what it was in vain for
	unanswered error // why it could not even be answered
}

func (h *hearing) hear(_ context.Context, inVain error) error {
	if inVain != nil {
		h.answered = inVain
		return h.unanswered
	}
	h.tried++
	if errors.Is(h.err, errPoison) {
		panic(h.err)
	}
	return h.err
}

var errPoison = errors.New("poison")

// try has a message heard once more, as reading back does.
func (h *hearing) try(t *testing.T, in *Intake[string], at int64, lane string) error {
	t.Helper()
	return in.HearMissed(t.Context(), Mark{"a", at, lane}, h.hear)
}

func TestAMessageThatCannotBeHeardIsAnsweredInWords(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]error{"an error": io.ErrUnexpectedEOF, "a panic": errPoison} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newIntake(newFakeNames())
			poison, behind, beside := &hearing{err: trouble}, &hearing{}, &hearing{}
			for try := 1; try < maxTries; try++ {
				if err := poison.try(t, in, 10, "thread"); err == nil || poison.answered != nil {
					t.Fatalf("try %d: %v, answered %v", try, err, poison.answered)
				}
				if err := behind.try(t, in, 20, "thread"); !errors.Is(err, ErrBehind) || behind.tried > 0 {
					t.Errorf("what comes after it in its thread: %v", err)
				}
				if err := (&hearing{}).try(t, in, 5, "thread"); err != nil {
					t.Errorf("what came before it, once more: %v", err)
				}
				if err := beside.try(t, in, 15, "other"); err != nil {
					t.Errorf("another thread: %v", err)
				}
				if got := in.Marks.Unheard()["a"]; got != 9 {
					t.Errorf("the mark moved to %d", got)
				}
			}
			if err := poison.try(t, in, 10, "thread"); err != nil || poison.answered == nil || guard.Is(poison.answered) != errors.Is(trouble, errPoison) {
				t.Errorf("at last: %v, answered for %v", err, poison.answered)
			}
			if err := behind.try(t, in, 20, "thread"); err != nil || behind.tried != 1 || !in.Marks.AllHeard() {
				t.Errorf("then its thread goes on: %v", err)
			}
		})
	}
}

// A thread that lost its patience loses it at once the next time, until
// something in it is heard.
func TestTheNextOneInALostThreadIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	in := newIntake(newFakeNames())
	first, second := &hearing{err: io.EOF}, &hearing{err: io.EOF}
	for first.try(t, in, 10, "thread") != nil {
		continue
	}
	again := &hearing{}
	if err := again.try(t, in, 5, "thread"); err != nil { // what came before is read once more
		t.Error(err)
	}
	if err := second.try(t, in, 20, "thread"); err != nil || second.answered == nil || second.tried != 1 {
		t.Errorf("%v after %d tries", err, second.tried)
	}
	second.err, second.answered = nil, nil
	if err := second.try(t, in, 30, "thread"); err != nil || second.answered != nil {
		t.Errorf("%v, answered %v", err, second.answered)
	}
	second.err = io.EOF
	if err := second.try(t, in, 40, "thread"); err == nil || second.answered != nil {
		t.Error("patience does not come back")
	}
}

// While the store is away nothing is given up, however long that takes.
func TestNothingIsGivenUpWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	names := newFakeNames()
	in := newIntake(names)
	h := &hearing{err: io.EOF}
	names.down = io.ErrClosedPipe
	for range 3 * maxTries {
		if err := h.try(t, in, 10, "thread"); !errors.Is(err, ErrAway) {
			t.Fatalf("%v", err)
		}
	}
	names.down = nil
	h.err = nil
	if err := h.try(t, in, 10, "thread"); err != nil || h.answered != nil || !in.Marks.AllHeard() {
		t.Errorf("%v, answered %v", err, h.answered)
	}
	h.err, h.unanswered = io.EOF, io.ErrClosedPipe // it takes no commits
	for range 3 * maxTries {
		if err := h.try(t, in, 20, "thread"); !errors.Is(err, io.EOF) {
			t.Fatalf("%v", err)
		}
	}
	if in.Marks.AllHeard() {
		t.Error("what could not be answered either is lost")
	}
}

// A panic anywhere costs the event that it happened in.
func TestPanicsCostOneEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newIntake(newFakeNames())
		in.Missed.Release()
		ticks := 0
		var heard atomic.Int32 // side by side: what is received, and a job of the queue
		s, _ := session(in, func(e string) {
			if e == "poison" {
				panic(e)
			}
			heard.Add(1)
		})
		s.Read = func(context.Context, context.Context) error {
			if ticks++; ticks == 1 {
				panic("reading back")
			}
			return nil
		}
		s.Backoff = NewBackoff(1, 1, func(error) time.Duration { return 0 })
		connects := 0
		s.Connect = func(ctx context.Context) error {
			if connects++; connects == 1 {
				panic("the connection")
			}
			<-ctx.Done()
			return nil
		}
		besides := 0
		s.Beside = []func(context.Context){func(ctx context.Context) {
			if besides++; besides == 1 {
				panic("beside")
			}
			<-ctx.Done()
		}}
		in.Missed.NoteGap()
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- in.Listen(ctx, s) }()
		synctest.Wait()
		if err := in.Take("poison"); !guard.Is(err) {
			t.Errorf("the poison: %v", err)
		}
		in.Go(func() { panic("an answer") })
		in.Later(t.Context(), time.Second, func(context.Context) { panic("a later answer") })
		if !in.Enqueue([]string{"k"}, func() { panic("a job") }) || !in.Enqueue([]string{"k"}, func() { heard.Add(1) }) {
			t.Error("the queue is full")
		}
		if err := in.Take("fine"); err != nil {
			t.Error(err)
		}
		<-time.After(10 * time.Second)
		synctest.Wait()
		if n := heard.Load(); n != 2 || ticks != 2 || connects != 2 || besides != 2 {
			t.Errorf("heard %d, read back %d, connected %d, beside %d", n, ticks, connects, besides)
		}
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
