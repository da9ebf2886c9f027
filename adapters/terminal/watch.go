package terminal

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Runs is what the person at the terminal does to a run.
type Runs interface {
	Control(ctx context.Context, run agent.RunID, by bot.Person, c agent.RunControlled) error
	Say(ctx context.Context, run agent.RunID, by bot.Person, text string, once ...string) error
	Decide(ctx context.Context, by bot.Person, d agent.CheckpointDecided) error
}

// Journal is what a run's events are read from. Await returns once there is one
// after the given entry.
type Journal interface {
	Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error)
	Await(ctx context.Context, run agent.RunID, after uint64) error
}

// Config says which run is shown, and where.
type Config struct {
	Runs    Runs
	Journal Journal
	Telling bot.Telling
	// Answer reads a line as the answer to the question that the run asks now; its
	// error wraps bot.ErrNotAnAnswer. Hint reads one as a word to a run that is stuck.
	Answer func(r agent.Run, line, by string) (agent.CheckpointDecided, error)
	Hint   func(c agent.Checkpoint, line, by string) (agent.CheckpointDecided, error)
	Run    agent.RunID
	// After is the last entry of the journal that was shown before, 0 for a
	// new run. What came up to it is summed up, and not printed as JSON; a
	// resumption is committed before Watch, so that it comes after it.
	After uint64
	In    io.Reader // nil: there is nobody
	Out   io.Writer // stdout
	Err   io.Writer // stderr
	// JSON prints each event as one line on Out, and nothing else there.
	JSON bool
	// TTY says that In and Out are a terminal: a live view is drawn on Out.
	TTY bool
	// Color allows ANSI colours in the live view (NO_COLOR unset).
	Color bool
	// Width is the terminal's width in columns; nil or 0: 80.
	Width func() int
	// Height is the terminal's height in rows; nil: asked from Out, 0: 24.
	Height func() int
	// Editor lets the person edit a text; nil: they type JSON on one line.
	Editor func(ctx context.Context, text string) (string, error)
	By     string // the principal who types
	// Leave notes the end of the input in the run, so that nobody is waited for
	// where the engine can come to an honest end instead.
	Leave bool
}

// End says why watching ended.
type End struct {
	Run     agent.Run
	Waiting bool   // the input ended with a checkpoint open
	Refused string // the model refused the configuration: why
	Paused  bool
}

// Watch shows the run until it ended, until it is paused, until the model
// refused the configuration, or until the input is over and the run waits for
// an answer. It returns the error of ctx as soon as that ends; interrupts are
// the caller's.
//
// A goroutine that reads In outlives Watch while its Read blocks; it takes at
// most one more read and drops it. For the standard input of a process that
// ends this does not matter.
func Watch(ctx context.Context, c Config) (End, error) {
	w := &watcher{Config: c, keys: newKeyboard(c.In), settled: make(chan struct{})}
	w.face = w.choose()
	var group sync.WaitGroup
	inner, stop := context.WithCancel(ctx)
	defer group.Wait()
	defer stop()
	defer close(w.settled)
	defer func() { w.restore() }()
	batches := make(chan batch)
	group.Go(func() { follow(inner, c.Journal, c.Run, batches) })
	w.keys.start(w.settled)
	w.quiet()
	end, err := w.loop(ctx, batches)
	w.face.close(w.run)
	return end, err
}

// watcher is one Watch under way. Only its loop touches it.
type watcher struct {
	Config

	run     agent.Run
	began   bool
	face    face
	keys    *keyboard
	typing  typing
	restore func()
	settled chan struct{}

	queue     []entered // lines that were not looked at yet
	over      bool      // the input has ended
	left      bool      // and the run was told
	departing bool      // and the journal does not show it yet
	talk      dialogue  // what the person is in the middle of
	paused    time.Time // since when the run is paused, here
}

// face is how a run is shown.
type face interface {
	begin(r agent.Run)
	event(before, after agent.Run, e agent.Event)
	// notice tells the person about what they typed, or about the store.
	notice(text string)
	// show prints what the person asked for.
	show(rows []row)
	// typed tells that a line was entered where the terminal echoes.
	typed(line string)
	// refresh redraws what changed, and returns when it wants to be called
	// again, 0 for not before something happens.
	refresh(r agent.Run, d dialogue, now time.Time) time.Duration
	// suspend takes the live view away until the next refresh.
	suspend()
	close(r agent.Run)
}

func (w *watcher) choose() face {
	switch {
	case w.JSON:
		return &stream{out: w.Out, err: w.Err}
	case w.TTY:
		return newLive(w.Config)
	}
	return &plainFace{out: w.Out, err: w.Err, telling: w.Telling}
}

// pauseGrace is how long a paused run may say nothing before an effect that it
// began is taken for one that nobody works on any more.
const pauseGrace = 30 * time.Second

func (w *watcher) loop(ctx context.Context, batches <-chan batch) (End, error) {
	for ctx.Err() == nil {
		w.work(ctx)
		pause := w.face.refresh(w.run, w.talk, time.Now())
		if end, over := w.end(); over {
			return end, nil
		}
		if len(w.queue) == 0 && !w.over {
			w.keys.want()
		}
		if !w.paused.IsZero() && pause == 0 {
			pause = time.Second
		}
		var tick <-chan time.Time
		if pause > 0 {
			tick = time.After(pause)
		}
		select {
		case <-ctx.Done():
		case b := <-batches:
			if err := w.take(b); err != nil {
				return End{Run: w.run}, err
			}
		case read := <-w.keys.reads:
			w.read(read)
		case <-tick:
		}
	}
	return End{Run: w.run}, ctx.Err()
}

// take folds new events and shows them.
func (w *watcher) take(b batch) error {
	if b.trouble != "" {
		w.face.notice(b.trouble)
	}
	i := 0
	for ; i < len(b.events) && b.events[i].Seq <= w.After; i++ {
		w.run = w.run.Apply(b.events[i])
	}
	if !w.began && len(b.events) > 0 {
		w.began = true
		if w.After > 0 {
			w.face.begin(w.run)
		}
	}
	for _, e := range b.events[i:] {
		before := w.run
		w.run = w.run.Apply(e)
		w.face.event(before, w.run, e)
	}
	w.talk.follow(w.run)
	w.departing = w.departing && !w.run.Alone
	if w.paused = w.pausedSince(len(b.events) > 0); b.err != nil {
		return b.err
	}
	return nil
}

func (w *watcher) pausedSince(fresh bool) time.Time {
	switch {
	case w.run.Paused == "":
		return time.Time{}
	case fresh || w.paused.IsZero():
		return time.Now()
	}
	return w.paused
}

// end reports whether there is nothing more to watch, and why.
func (w *watcher) end() (End, bool) {
	r := w.run
	switch {
	case !w.began:
		return End{}, false
	case r.Ended != nil:
		return End{Run: r}, true
	case r.Refused != "":
		return End{Run: r, Refused: r.Refused}, true
	case r.Paused != "" && (!executes(r) || time.Since(w.paused) > pauseGrace):
		return End{Run: r, Paused: true}, true
	case w.over && len(w.queue) == 0 && !w.departing && w.talk.sent == "" && r.State() == agent.RunWaiting:
		return End{Run: r, Waiting: true}, true
	}
	return End{}, false
}
