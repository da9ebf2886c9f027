package ingest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

func newIntake(names agent.Names) *Intake[string] {
	in := &Intake[string]{}
	w := NewWatermarks(names, seenHere, hashed)
	w.SetCaughtUp(true)
	in.Init(w, func(context.Context) (int64, error) { return 99, nil }, slog.New(slog.DiscardHandler))
	return in
}

// session records what happens in it.
func session(in *Intake[string], heard func(string)) (s Session[string], order *[]string) {
	var mu sync.Mutex
	order = &[]string{}
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		*order = append(*order, what)
	}
	return Session[string]{
		Name:      "Test",
		Receive:   func(_ context.Context, e string) error { heard(e); return nil },
		Connect:   func(ctx context.Context) error { <-ctx.Done(); note("cut"); return nil },
		CatchUp:   CatchUp{Read: func(context.Context, context.Context) error { note("read"); return nil }},
		SaveEvery: time.Hour,
		Beside:    []func(context.Context){func(ctx context.Context) { <-ctx.Done(); in.Go(func() { note("answered") }) }},
		Connected: in.Listening,
	}, order
}

func TestListeningEndsWhenEverythingIsDealtWith(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names := newFakeNames()
		in := newIntake(names)
		in.Missed.NoteGap()
		var heard []string
		s, order := session(in, func(e string) { heard = append(heard, e) })
		if err := in.Take("early"); !errors.Is(err, ErrNotListening) {
			t.Errorf("before: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- in.Listen(ctx, s) }()
		synctest.Wait()
		if err := in.Listen(ctx, s); err == nil {
			t.Error("two listen at once")
		}
		if err := in.Take("an event"); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
		if err := in.Take("late"); !errors.Is(err, ErrNotListening) {
			t.Errorf("after: %v", err)
		}
		if want := []string{"read", "answered", "cut"}; !slices.Equal(*order, want) || names.values[seenHere] != "#99" || !slices.Equal(heard, []string{"an event"}) {
			t.Errorf("%v, heard %v", *order, heard)
		}
	})
}

func TestAConnectionThatGivesUpEndsIt(t *testing.T) {
	t.Parallel()
	in := newIntake(NoNames{})
	s, _ := session(in, func(string) {})
	s.Connect = func(context.Context) error { return io.ErrClosedPipe }
	if err := in.Listen(t.Context(), s); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("ended with %v", err)
	}
}

func TestWhatCannotBeHeardHoldsItsWatermarkBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newIntake(NoNames{})
		in.Missed.Release()
		var results []error
		for _, err := range []error{io.EOF, nil} {
			if err := in.Hear(t.Context(), Mark{"a", 10, "k"}, []string{"k"}, func(context.Context, error) error { return err }, func(err error) { results = append(results, err) }); err != nil {
				t.Fatal(err)
			}
			in.Wait()
			if in.Marks.AllHeard() == (err != nil) {
				t.Errorf("after %v all is heard: %v", err, in.Marks.AllHeard())
			}
		}
		if !slices.Equal(results, []error{io.EOF, nil}) {
			t.Errorf("told %v", results)
		}
	})
}

func TestTooManyAreReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newIntake(NoNames{})
		in.queue = NewKeyedQueue(1, 1)
		in.Missed.Release()
		stuck := make(chan struct{})
		hear := func(at int64) error {
			return in.Hear(t.Context(), Mark{"a", at, "k"}, []string{"k"}, func(context.Context, error) error { <-stuck; return nil }, func(error) {})
		}
		if err := hear(10); err != nil {
			t.Error(err)
		}
		if err := hear(20); !errors.Is(err, ErrCrowded) || in.Marks.AllHeard() {
			t.Errorf("%v, all is heard: %v", err, in.Marks.AllHeard())
		}
		close(stuck)
		in.Wait()
		if got := in.Marks.Unheard()["a"]; got != 19 {
			t.Errorf("read again after %d", got)
		}
	})
}

func TestTokensAreRechecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var early Token
		if early.Note(io.EOF) || early.Refused() == nil {
			t.Error("an alarm at the start")
		}
		in := newIntake(NoNames{})
		tries, accepted := 0, 0
		ctx, cancel := context.WithCancel(t.Context())
		var over sync.WaitGroup
		over.Go(func() {
			in.Token.Recheck(ctx, NewBackoff(time.Second, time.Minute, func(error) time.Duration { return 0 }), func(context.Context) error {
				if tries++; tries%3 != 0 {
					return io.EOF
				}
				in.Token.Note(nil)
				return nil
			}, func() { accepted++ })
		})
		for n := 1; n <= 2; n++ {
			if !in.Token.Note(io.EOF) || in.Token.Note(io.EOF) || in.Token.Refused() == nil {
				t.Error("an alarm is missing, or one too many")
			}
			<-time.After(time.Minute)
			synctest.Wait()
			if in.Token.Refused() != nil || tries != 3*n || accepted != n {
				t.Errorf("%v after %d tries, accepted %d times", in.Token.Refused(), tries, accepted)
			}
		}
		cancel()
		over.Wait()
	})
}

func TestReplayHearsInBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var happened []string
		slow, broken, away := "", "", ""
		r := Replay[string, string]{
			Read: func(part string) (found, more []string, err error) {
				if part == slow {
					<-time.After(batchFor + time.Second)
				}
				if part == broken {
					return nil, nil, io.EOF
				}
				if part == "long" {
					more = []string{"rest"}
				}
				return []string{part + "2", part + "1"}, more, nil
			},
			Order: func(found []string) []string { slices.Sort(found); return found },
			Hear: func(message string) error {
				happened = append(happened, message)
				switch message {
				case away:
					return ErrAway
				case "a1":
					return io.ErrClosedPipe // its own trouble
				}
				return nil
			},
			Done: func(part string) { happened = append(happened, "done "+part) },
		}
		for _, c := range []struct {
			parts              []string
			slow, broken, away string
			want               []string
			err                error
		}{
			{[]string{"a", "b"}, "", "", "", []string{"a1", "a2", "b1", "b2", "done a", "done b"}, nil},
			{[]string{"a", "b"}, "a", "", "", []string{"a1", "a2", "done a", "b1", "b2", "done b"}, nil},
			{[]string{"a", "b"}, "a", "b", "", []string{"a1", "a2", "done a"}, io.EOF},
			{[]string{"a", "b"}, "", "b", "", nil, io.EOF},
			{[]string{"a", "b"}, "", "", "a2", []string{"a1", "a2"}, ErrAway},
			{[]string{"long", "z"}, "long", "", "", []string{"long1", "long2", "done long", "rest1", "rest2", "z1", "z2", "done rest", "done z"}, nil},
		} {
			happened, slow, broken, away = nil, c.slow, c.broken, c.away
			if err := r.All(t.Context(), c.parts); !errors.Is(err, c.err) || !slices.Equal(happened, c.want) {
				t.Errorf("%q slow, %q broken: %v, %v; want %v", c.slow, c.broken, happened, err, c.want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.All(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("at the end: %v", err)
		}
	})
}

// However much there is, the oldest are held, and those that are dropped are
// known to be missing.
func TestTheOldestAreHeld(t *testing.T) {
	t.Parallel()
	o := Oldest[int64]{At: func(at int64) int64 { return at }}
	const all = 5*MaxFound + 7
	for at := int64(all); at > 0; at-- {
		o.Keep(at)
	}
	list, upTo := o.Found()
	if int64(len(list)) != upTo || upTo < MaxFound || len(list) > 2*MaxFound || slices.Max(list) != upTo || slices.Min(list) != 1 {
		t.Errorf("held %d of %d, up to %d", len(list), all, upTo)
	}
	if o.Full(upTo) || !o.Full(upTo+1) {
		t.Error("it does not know what it drops")
	}
	few := Oldest[int64]{At: o.At}
	few.Keep(3)
	if list, upTo := few.Found(); len(list) != 1 || upTo != 0 || few.Full(9) {
		t.Errorf("held %v, up to %d", list, upTo)
	}
}

func TestCachesForgetInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewCache[int](time.Minute, 2)
		for i, key := range []string{"a", "b", "a", "c"} { // a was put first, and again
			c.Put(key, i)
			<-time.After(time.Second)
		}
		if _, _, known := c.Get("b"); known {
			t.Error("b is known, and was put before a")
		}
		<-time.After(58500 * time.Millisecond)
		if v, fresh, known := c.Get("a"); v != 2 || fresh || !known {
			t.Errorf("a is %d, fresh %v, known %v", v, fresh, known)
		}
		if v, fresh, _ := c.Get("c"); v != 3 || !fresh {
			t.Errorf("c is %d, fresh %v", v, fresh)
		}
	})
}
