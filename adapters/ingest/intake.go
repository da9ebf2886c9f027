package ingest

// This file holds the session of listening that the chat adapters share: it
// starts and stops what takes events in, queues them by thread, and waits at
// the end until everything that came in is dealt with.

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

const (
	parallel   = 64              // threads that are heard, and answers that are given, side by side
	maxWaiting = 4096            // events that wait for their turn
	grace      = 3 * time.Second // for what is under way when the end comes
)

var (
	// ErrNotListening says that an event came while nobody listened.
	ErrNotListening = errors.New("the process is starting or ending")
	// ErrCrowded says that an event came while too many others waited.
	ErrCrowded = errors.New("too many events wait already")
)

// Intake is what a platform takes events in with, whatever an event E is on its
// wire: they come in while somebody listens, those of a thread are heard in
// their order, and what is not yet written down holds a watermark back.
type Intake[E any] struct {
	Marks  *Watermarks
	Missed *Backlog
	Token  Token
	Log    LogLimiter

	log    *slog.Logger
	now    func(ctx context.Context) (int64, error)
	tries  tries
	queue  *KeyedQueue
	beside chan struct{} // slots of Later
	jobs   sync.WaitGroup

	mu      sync.Mutex
	receive func(E) error // nil while nobody listens
}

// Init makes the intake ready for its first event. Now is the position of this
// moment among those of the watermarks, by the clock that all processes share.
func (in *Intake[E]) Init(marks *Watermarks, now func(ctx context.Context) (int64, error), log *slog.Logger) {
	in.Marks, in.Missed = marks, NewBacklog(marks)
	in.now, in.log = now, log
	in.queue = NewKeyedQueue(parallel, maxWaiting)
	in.beside = make(chan struct{}, parallel)
	in.Token.revoked = make(chan struct{}, 1)
}

// Session is how a platform listens.
type Session[E any] struct {
	Name string // of the platform, as people write it
	// Receive takes an event in. Its context outlives that of Listen a little.
	Receive func(ctx context.Context, e E) error
	// Connect keeps a connection until ctx ends; nil: events come another way. It
	// goes on until everything that it brought is dealt with.
	Connect func(ctx context.Context) error
	// Connected reports whether events come in.
	Connected func() bool
	// CatchUp is how what was missed is read back; without its Read nothing can
	// be.
	CatchUp
	SaveEvery time.Duration // between two notes of what was heard
	// Beside is what else goes on until ctx ends.
	Beside []func(ctx context.Context)
}

// Listen takes events in until ctx ends or Connect gives up, and returns once
// everything that came in is dealt with.
func (in *Intake[E]) Listen(ctx context.Context, s Session[E]) error {
	late, release := wait.Outlive(ctx, grace)
	defer release()
	if !in.open(func(e E) error { return s.Receive(late, e) }) {
		return errors.New("the " + s.Name + " platform is listening already")
	}
	links, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var connection, readers sync.WaitGroup
	broken := make(chan error, 1)
	if s.Connect != nil {
		connection.Go(func() { broken <- guard.Keep(links, in.log, "a connection", s.Connect) })
	}
	if s.Read != nil {
		s.Saved, s.Log = func() { in.SaveMarks(inner, s.Connected()) }, in.log
		readers.Go(func() { in.Missed.Run(inner, late, s.CatchUp) })
		readers.Go(func() { in.keepMarks(inner, s) })
	}
	for _, beside := range s.Beside {
		readers.Go(func() {
			_ = guard.Keep(inner, in.log, "the listening", func(ctx context.Context) error { beside(ctx); return nil }) // it has no error
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-broken:
	}
	connected := s.Connected()
	cancel()
	in.open(nil)
	readers.Wait() // what they heard last is answered by the jobs
	in.jobs.Wait()
	if s.Read != nil {
		in.SaveMarks(late, connected)
	}
	cut()
	connection.Wait()
	return err
}

func (in *Intake[E]) keepMarks(ctx context.Context, s Session[E]) {
	for wait.Sleep(ctx, s.SaveEvery) {
		guard.Run(in.log, "the saving of how far was read", func() { in.SaveMarks(ctx, s.Connected()) })
	}
}

// SaveMarks writes down how far was heard and, while events come in, that all
// was well until now.
func (in *Intake[E]) SaveMarks(ctx context.Context, connected bool) {
	online := int64(0)
	var err error
	if connected {
		online, err = in.now(ctx)
	}
	if err = errors.Join(err, in.Marks.Save(ctx, online)); err != nil {
		in.Log.Warn(in.log, "how far was read could not be saved", "error", err)
	}
}

// open gives events to receive, or with nil takes none in any more. It reports
// false where somebody receives them already.
func (in *Intake[E]) open(receive func(E) error) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if receive != nil && in.receive != nil {
		return false
	}
	in.receive = receive
	return true
}

// Listening reports whether events are taken in.
func (in *Intake[E]) Listening() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.receive != nil
}

// Take gives an event to whoever listens. The platform has proved before that
// it is its own.
func (in *Intake[E]) Take(e E) error {
	in.mu.Lock()
	receive := in.receive
	if receive != nil {
		in.jobs.Add(1)
	}
	in.mu.Unlock()
	if receive == nil {
		return ErrNotListening
	}
	defer in.jobs.Done()
	return guard.Do(in.log, "an event", func() error { return receive(e) })
}

// Go runs a job that an event began: Listen waits for it. A panic costs this job.
func (in *Intake[E]) Go(job func()) {
	in.jobs.Go(func() { guard.Run(in.log, "an event", job) })
}

// Wait waits for every job that was begun.
func (in *Intake[E]) Wait() { in.jobs.Wait() }

// Later runs something beside the events for at most so long, and at most so
// many at once.
func (in *Intake[E]) Later(ctx context.Context, within time.Duration, do func(context.Context)) {
	in.Go(func() {
		select {
		case in.beside <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-in.beside }()
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		do(ctx)
	})
}

// Enqueue runs a job when every earlier one of its keys is over. It reports
// false when too many wait.
func (in *Intake[E]) Enqueue(keys []string, job func()) bool { return in.queue.Add(keys, in.Go, job) }

// Mark is where a message stands on its platform: what a watermark counts.
// Zero: it cannot be read back.
type Mark struct {
	Place string
	At    int64
	Lane  string // what it stays in order with: its thread
}

// Hear has a message heard when its turn has come and what was missed before it
// went first; then is told what came of it. A message that could not be heard
// holds its watermark and its lane back and is read again later. Hear returns ErrCrowded, and nothing is heard now, when too many
// wait.
func (in *Intake[E]) Hear(ctx context.Context, m Mark, keys []string, hear Hearing, then func(error)) error {
	in.Marks.Begin(m.Place, m.At)
	queued := in.Enqueue(keys, func() {
		in.Missed.Wait(ctx)
		err := in.attempt(ctx, m, hear)
		in.Marks.End(m.Place, m.At, err == nil)
		if err != nil {
			in.Missed.NoteFailure()
		}
		then(err)
	})
	if !queued {
		in.Marks.Settle(m, false)
		in.Marks.End(m.Place, m.At, false)
		in.Missed.NoteFailure()
		return ErrCrowded
	}
	return nil
}

// HearMissed is Hear for a message that was read back: its turn has come.
func (in *Intake[E]) HearMissed(ctx context.Context, m Mark, hear Hearing) error {
	return in.attempt(ctx, m, hear)
}
