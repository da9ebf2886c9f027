package watchdog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/fold"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// AlertKind says what is wrong with a run that nothing comes of.
type AlertKind string

// The kinds of alerts.
const (
	AlertAbandoned  AlertKind = "abandoned"  // it is due, and no worker takes it
	AlertLost       AlertKind = "lost"       // it has something to do, and nobody will wake it
	AlertStalled    AlertKind = "stalled"    // it is worked, and nothing is journalled
	AlertIdle       AlertKind = "idle"       // it has nothing to do and waits for nobody
	AlertUnreadable AlertKind = "unreadable" // its journal cannot be read
	AlertUnsaid     AlertKind = "unsaid"     // people were not shown what they should see
	AlertCheckIn    AlertKind = "check-in"   // a check-in did not happen
)

// AlertKinds lists them all.
func AlertKinds() []AlertKind {
	return []AlertKind{AlertAbandoned, AlertLost, AlertStalled, AlertIdle, AlertUnreadable, AlertUnsaid, AlertCheckIn}
}

// Alert is something that an administrator should look at.
type Alert struct {
	ID    string      // the same for the same trouble, in every replica
	Run   agent.RunID // empty: it is about More runs that are only logged
	Kind  AlertKind
	Since time.Time
	Text  string // what happened, to what, what to do next
	More  int
}

// Alarm takes alerts to people. Where it fails, it is called with the same
// alert again after the next look, as long as the process lives.
type Alarm func(ctx context.Context, a Alert) error

// Config bounds and wires a Watchdog. Zero fields take defaults.
type Config struct {
	Store   agent.Store
	Archive agent.Archive
	Log     *slog.Logger
	Alarm   Alarm // nil: alerts are only logged

	After    time.Duration // without progress; 1 h
	Every    time.Duration // between two looks; a twelfth of After
	CheckIns time.Duration // how often the clock calls check-ins; 0: they are not watched
}

// Watchdog looks over all runs of a store, whoever works them, for those that
// nothing comes of. It tells people and wakes what can be woken. Any number of
// replicas may watch one store: an alert is raised once, by the store's
// once-keys (an alert of a process that dies right then is only raised again
// when the run has moved and stopped once more). It is not safe for concurrent
// use.
type Watchdog struct {
	Config
	folds *fold.Cache[*progress]
	met   *progress // of the run that was folded last
	seen  map[agent.RunID]*health
	owed  []Alert // that Alarm did not take
}

// progress is what a journal says about waking: the newest event that is no
// wake-up, and whether a wake-up is the newest of all.
type progress struct {
	seq   uint64
	woken bool
}

// Apply notes one event.
func (p *progress) Apply(e agent.Event) {
	c, is := e.Body.(agent.RunControlled)
	if p.woken = is && c.Word == agent.WordWake; !p.woken {
		p.seq = e.Seq
	}
}

// New checks the configuration.
func New(c Config) (*Watchdog, error) {
	if c.Store == nil || c.Archive == nil || c.Log == nil {
		return nil, errors.New("watch: Store, Archive and Log are all needed")
	}
	if c.After <= 0 {
		c.After = time.Hour
	}
	if c.Every <= 0 {
		c.Every = c.After / 12
	}
	w := &Watchdog{Config: c, seen: map[agent.RunID]*health{}}
	w.folds = fold.New(fold.Config{Journals: c.Store, Snapshots: c.Archive, Log: c.Log}, func() *progress {
		w.met = &progress{}
		return w.met
	})
	return w, nil
}

// Run looks over the runs until ctx ends. The first look comes after a while:
// what was due while no process was up is worked by then.
func (w *Watchdog) Run(ctx context.Context) {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := guard.Do(w.Log, "the look over the runs", func() error {
			now, err := w.Store.Now(ctx)
			if err != nil {
				return err
			}
			return w.look(ctx, now)
		})
		if err != nil && ctx.Err() == nil {
			w.Log.Error("cannot look over the runs for those that nothing comes of; trying again", "pause", w.Every, "err", err)
		}
	}
}

// look sweeps if no other replica does so in the same interval. The one whose
// tick comes first in it goes on doing so for as long as it lives, and so knows
// for how long something has been wrong.
func (w *Watchdog) look(ctx context.Context, now time.Time) error {
	_, err := w.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Once: []string{"watch-look/" + strconv.FormatInt(now.UnixNano()/int64(w.Every), 36)}})
	if errors.Is(err, agent.ErrSeen) {
		w.deliver(ctx, nil) // what is still owed
		return nil
	}
	if err != nil {
		return fmt.Errorf("take the turn to look: %w", err)
	}
	return w.Sweep(ctx, now)
}

// Sweep looks over the runs once. A run is folded when it may be late, and
// again only after its journal has grown.
func (w *Watchdog) Sweep(ctx context.Context, now time.Time) error {
	infos, err := w.Archive.Runs(ctx, agent.RunFilter{EndedAfter: now.Add(-w.After - reportWait)})
	if err != nil {
		return err
	}
	seen := make(map[agent.RunID]*health, len(w.seen))
	var raised []Alert
	for _, info := range infos {
		if !w.concerns(info, now) {
			continue
		}
		h, won, err := w.check(ctx, info, now)
		raised = append(raised, won...)
		if err != nil {
			w.deliver(ctx, raised)
			return err
		}
		if h != nil {
			seen[info.Run] = h
		}
	}
	w.seen = seen
	w.deliver(ctx, raised)
	return nil
}

// check looks at one run and raises its alerts. No health: the run is not late for
// anything now.
func (w *Watchdog) check(ctx context.Context, info agent.RunInfo, now time.Time) (h *health, won []Alert, err error) {
	h, err = w.assess(ctx, info, now)
	if h == nil || err != nil {
		return nil, nil, err
	}
	for _, a := range h.alerts(info, now, w.limits()) {
		first, err := w.raise(ctx, info, h, a, now)
		if first {
			won = append(won, a)
		}
		if err != nil {
			return h, won, err
		}
	}
	return h, won, nil
}

// reportWait is how long after a run's end its report is missed.
const reportWait = 24 * time.Hour

// concerns reports whether the run can be late for anything.
func (w *Watchdog) concerns(info agent.RunInfo, now time.Time) bool {
	if !info.Ended.IsZero() {
		return w.quiet(info, now) && now.Sub(info.Ended) < w.After+reportWait
	}
	return w.quiet(info, now) || w.CheckIns > 0 && !info.Due.IsZero() && now.Sub(info.Started) > missedCheckIns*w.CheckIns
}

func (w *Watchdog) quiet(info agent.RunInfo, now time.Time) bool { return now.Sub(info.Last) > w.After }

// assess returns what the run's fold says, from an earlier look where the
// journal has not grown since; nil for a run that has moved or gone meanwhile.
func (w *Watchdog) assess(ctx context.Context, info agent.RunInfo, now time.Time) (*health, error) {
	old := w.seen[info.Run]
	if old != nil && old.length == info.Length {
		return old, nil
	}
	var run agent.Run
	var h *health
	err := guard.Do(w.Log, "the look at a run", func() (err error) {
		if run, err = w.folds.Peek(ctx, info.Run); err == nil {
			h = assess(run)
		}
		return err
	}, "run", info.Run)
	var entry *agent.EntryError
	switch {
	case guard.Is(err):
		return &health{length: info.Length, unreadable: err, told: map[AlertKind]string{}}, nil
	case errors.As(err, &entry):
		return &health{length: info.Length, unreadable: entry, told: map[AlertKind]string{}}, nil
	case errors.Is(err, agent.ErrNoRun):
		return nil, nil //nolint:nilnil // it expired: nothing to see is no error
	case err != nil:
		return nil, fmt.Errorf("look at run %s: %w", info.Run, err)
	case run.Seq != info.Length && w.quiet(info, now):
		return nil, nil //nolint:nilnil // it has moved
	}
	h.length, h.progress = info.Length, *w.met
	h.carryOver(old, now)
	return h, nil
}

// raise takes the alert for this process: one of all that watch the store gets
// it, by a commit that is none of the run's, which may be damaged. A run that
// only needs waking is woken.
func (w *Watchdog) raise(ctx context.Context, info agent.RunInfo, h *health, a Alert, now time.Time) (won bool, err error) {
	if h.told[a.Kind] != a.ID {
		_, err := w.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Once: []string{"watch/" + a.ID}, Anchor: string(a.Run)})
		if err != nil && !errors.Is(err, agent.ErrSeen) {
			return false, fmt.Errorf("raise the alert that run %s is %s: %w", a.Run, a.Kind, err)
		}
		won = err == nil
		h.told[a.Kind] = a.ID
	}
	if a.Kind == AlertLost || a.Kind == AlertIdle {
		return won, w.wake(ctx, info, h, a, now)
	}
	return won, nil
}

// How often a run is woken at most, and one that waking did not help.
const (
	wakeEvery  = time.Hour
	wakeInVain = 24 * time.Hour
)

// wake makes every strand look again, if nothing has happened since the listing.
func (w *Watchdog) wake(ctx context.Context, info agent.RunInfo, h *health, a Alert, now time.Time) error {
	every := wakeEvery
	if h.progress.woken && a.Kind == AlertIdle {
		every = wakeInVain
		if now.Sub(info.Last) < every {
			return nil
		}
	}
	wakes := make(map[agent.StrandID]time.Time, len(h.wakeful))
	for _, id := range h.wakeful {
		wakes[id] = agent.AtOnce
	}
	_, err := w.Store.Commit(ctx, agent.Commit{
		ID: agent.NewID(), Run: info.Run, Seen: info.Length, Strict: true, Wake: wakes,
		Once:   []string{"wake/" + string(info.Run) + "/" + strconv.FormatInt(now.Unix()/int64(every/time.Second), 10)},
		Anchor: string(info.Run),
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunControlled{
			Word: agent.WordWake, By: agent.Deckhand, Reason: "nothing happened since " + stampOf(a.Since),
		}}},
	})
	if err == nil || errors.Is(err, agent.ErrSeen) || errors.Is(err, agent.ErrStale) {
		return nil
	}
	return fmt.Errorf("wake run %s: %w", info.Run, err)
}

// maxSingle is how many alerts of one look are told one by one.
const maxSingle = 20

// deliver logs every alert and takes them to people; of very many alerts, most
// as one a kind.
func (w *Watchdog) deliver(ctx context.Context, raised []Alert) {
	for _, a := range raised {
		w.Log.Error("a run needs attention", "run", a.Run, "kind", a.Kind, "since", a.Since, "what", a.Text)
	}
	if w.Alarm == nil {
		return
	}
	list := slices.Concat(w.owed, summarised(raised))
	w.owed = nil
	for _, a := range list {
		if err := guard.Do(w.Log, "an alert", func() error { return w.Alarm(ctx, a) }, "run", a.Run); err != nil {
			w.Log.Error("nobody could be told of an alert; trying again", "run", a.Run, "kind", a.Kind, "pause", w.Every, "err", err)
			w.owed = append(w.owed, a)
		}
	}
}

// summarised keeps some alerts as they are and makes one a kind of the others.
func summarised(raised []Alert) []Alert {
	if len(raised) <= maxSingle {
		return raised
	}
	list := raised[:maxSingle:maxSingle]
	for _, kind := range AlertKinds() {
		sum := Alert{Kind: kind}
		for _, a := range raised[maxSingle:] {
			if a.Kind != kind {
				continue
			}
			sum.More++
			if sum.Since.IsZero() || a.Since.Before(sum.Since) {
				sum.Since = a.Since
			}
		}
		if sum.More > 0 {
			sum.ID = string(kind) + "/" + raised[maxSingle].ID
			sum.Text = fmt.Sprintf("%d more runs are %s, the first since %s. That many at once have one cause: look whether the workers, "+
				"the store and the model are well. The log names each run.", sum.More, kind, stampOf(sum.Since))
			list = append(list, sum)
		}
	}
	return list
}

func stampOf(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
