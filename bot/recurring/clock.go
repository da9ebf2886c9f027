package recurring

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The loop over all schedules: which turn is due, and who is told when one
// does not get served.

// Bounds of the clock.
const (
	clockLook  = 5 * time.Second // how often new schedules are looked for
	clockGrace = 2 * time.Minute // a turn that is served later counts as missed
	clockAlarm = 5 * time.Minute // overdue by this, the administrators are told
	maxTold    = 10              // missed turns that a report lists
	maxWhens   = 1000            // schedules whose turns are remembered
)

// ClockConfig is what a Clock is made of.
type ClockConfig struct {
	Reporter  Reporter
	Recurring Schedules
	// Brief is what is decided about a run of a place before it starts, as in ChatConfig.
	Brief func(place string) (agent.RunStarted, error)
	// Time is what the turns go by: the store's time, which all processes share.
	Time agent.Clock
	// Alarm tells the administrators that something did not happen.
	Alarm func(ctx context.Context, a bot.Alert)
}

// Clock serves the turns of schedules. Every process runs one: a turn is
// written down under a key that can be used once, so it does not matter how
// many there are, or which of them dies.
type Clock struct {
	cfg ClockConfig

	mu     sync.Mutex
	whens  map[string]schedule.When // that were read already, by schedule
	posted postedReports
}

// NewClock makes a Clock.
func NewClock(cfg ClockConfig) *Clock { return &Clock{cfg: cfg, whens: map[string]schedule.When{}} }

// Run serves schedules until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	for pause := time.Duration(0); wait.Sleep(ctx, pause); {
		pause = clockLook
		guard.Run(c.cfg.Reporter.Log, "the look at the schedules", func() {
			now, err := c.cfg.Time.Now(ctx)
			if err != nil {
				if ctx.Err() == nil {
					c.cfg.Reporter.Log.Error("the store does not say what time it is; schedules wait", "err", err)
				}
				return
			}
			pause = min(clockLook, c.Serve(ctx, now).Sub(now))
		})
	}
}

// Serve does what is due at the time, and returns when the next turn is. The
// clocks of several processes go through what falls due together in different
// orders, so that they share the work.
func (c *Clock) Serve(ctx context.Context, now time.Time) (next time.Time) {
	next = now.Add(clockLook)
	list, kept, err := c.cfg.Recurring.look(ctx)
	if err != nil {
		c.cfg.Reporter.Log.Error("not every schedule is served", "err", err)
	}
	l := c.newSweep(now, kept)
	for _, i := range rand.Perm(len(list)) {
		s := list[i]
		if s.Paused != "" {
			continue
		}
		var at time.Time
		err := guard.Do(c.cfg.Reporter.Log, "a schedule", func() (err error) {
			at, err = l.serve(ctx, s)
			return err
		}, "schedule", s.Name)
		if err != nil {
			at = time.Time{} // not again at once
		}
		if err != nil && ctx.Err() == nil {
			c.cfg.Reporter.Log.Error("a schedule could not be served; trying again", "schedule", s.Name, "err", err)
			c.overdue(ctx, s, now, err)
		}
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// serve does one schedule's due turn, if there is one.
func (l *sweep) serve(ctx context.Context, s Schedule) (next time.Time, err error) {
	when, err := l.timing(s)
	if err != nil {
		return next, err
	}
	at, known := l.cursor(s, l.kept[NameServed+s.Name])
	if !known {
		return when.Next(l.now), l.begin(ctx, s)
	}
	due := schedule.Due(when, at.At, l.now, clockGrace, s.Missed)
	if due.Until.IsZero() {
		return when.Next(l.now), nil
	}
	// A look takes a while, and other clocks look too: what one of them served
	// meanwhile need not be worked out here.
	if text, err := l.cfg.Recurring.Store.Value(ctx, NameServed+s.Name); err != nil || text != l.kept[NameServed+s.Name] {
		return l.now, err
	}
	t := tick{sweep: l, s: s, due: due, was: at.At, at: at, zone: when.Zone(), last: when.Once()}
	t.at.At = due.Until
	t.noteMissed()
	switch {
	case due.Tick.IsZero():
		err = t.done(ctx)
	case s.Report != "":
		err = t.report(ctx)
	default:
		err = t.goal(ctx)
	}
	if errors.Is(err, agent.ErrSeen) { // somebody else was faster, with this turn or one before it
		return l.now, t.behind(ctx)
	}
	if errors.Is(err, errWaits) {
		return next, nil
	}
	if err == nil && due.Count > 0 {
		l.cfg.Reporter.Log.Warn("turns of a schedule were missed", "schedule", s.Name, "count", due.Count, "policy", string(s.Missed))
	}
	return when.Next(l.now), err
}

// timing is when the schedule's turns are. Reading that takes longer than
// looking whether one is due.
func (c *Clock) timing(s Schedule) (schedule.When, error) {
	key := s.When + "\n" + s.Zone + "\n" + s.Since.String()
	c.mu.Lock()
	defer c.mu.Unlock()
	if when, known := c.whens[key]; known {
		return when, nil
	}
	when, err := s.Timing()
	if err == nil {
		if len(c.whens) >= maxWhens {
			clear(c.whens)
		}
		c.whens[key] = when
	}
	return when, err
}

// overdue tells the administrators of a turn that does not get served.
func (c *Clock) overdue(ctx context.Context, s Schedule, now time.Time, cause error) {
	at, known, err := c.cfg.Recurring.Served(ctx, s)
	if err != nil || !known || c.cfg.Alarm == nil {
		return
	}
	when, err := c.timing(s)
	if err != nil {
		return
	}
	due := when.Next(at.At)
	if due.IsZero() || now.Sub(due) <= clockAlarm {
		return
	}
	id := "schedule/" + s.Name + "/" + strconv.FormatInt(due.Unix(), 36)
	err = c.cfg.Reporter.Runs.Note(ctx, runs.Dedupe{Once: []string{"overdue/" + id}})
	if err != nil {
		return // told already; or nothing can be told now, and the next look tries again
	}
	c.cfg.Alarm(ctx, bot.Alert{ID: id, Kind: "schedule",
		Text: fmt.Sprintf("`%s` was due on %s, and nothing came of it: %s. I try it again. `report list` and `schedule list` show what is planned.",
			s.Name, text.Day(due), text.Safe(cause.Error()))})
}
